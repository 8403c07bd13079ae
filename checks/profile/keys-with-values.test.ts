import t from 'tap';
import { contract } from '../../spec/contract.ts';
import { profileKeys } from './keys-with-values.ts';
import type { TargetProfile } from './target-profile.ts';

const PROFILE: TargetProfile = {
  target: undefined,
  keys: [
    { name: 'pro-1', plan: 'pro', roles: ['functional', 'ban'], env: 'PRO_KEY', unusedToday: true },
    { name: 'big-1', plan: 'enterprise', roles: ['exhaust'], env: 'BIG_KEY', unusedToday: false },
  ],
  plans: { enterprise: { perMinute: 700, perDay: 7000 } },
  permit: [],
  load: { allowed: false },
  gaps: {},
  clock: { speed: 1 },
  samples: {},
};

t.test('a key has its value, its plan’s numbers, and what the profile says of it', async (t) => {
  const values = new Map([
    ['big-1', 'value of big-1'],
    ['pro-1', 'value of pro-1'],
  ]);
  t.strictSame(profileKeys(PROFILE, values), [
    { ...PROFILE.keys[0], value: 'value of pro-1', limits: contract.plans.pro },
    { ...PROFILE.keys[1], value: 'value of big-1', limits: { perMinute: 700, perDay: 7000 } },
  ]);
});

t.test('a key without a value is left out', async (t) => {
  const keys = profileKeys(PROFILE, new Map([['big-1', 'value of big-1']]));
  t.strictSame(
    keys.map(({ name }) => name),
    ['big-1'],
  );
});

t.test('an Enterprise key without numbers is never used as if it had any', async (t) => {
  const values = new Map([['big-1', 'value of big-1']]);
  t.throws(() => profileKeys({ ...PROFILE, plans: {} }, values), /plans\.enterprise/);
});
