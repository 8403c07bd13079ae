import { join } from 'node:path';
import t from 'tap';
import { PLANS } from '../../spec/plans.ts';
import { assertAnsweredAsStored } from '../testing/answered-as-stored.ts';
import { accessOf, keyValues, profileKeys } from './environment.ts';
import { PROFILE_DEFAULTS, type ProfileKey } from './target-profile.ts';

const key = (name: string, env: string): ProfileKey => ({
  name,
  env,
  plan: 'free',
  roles: ['functional'],
  unusedToday: false,
});
const profile = {
  ...PROFILE_DEFAULTS,
  target: undefined,
  keys: [key('free-1', 'FREE_KEY'), key('pro-1', 'PRO_KEY')],
};

/** What is wrong with the values in an environment. */
function problems(env: Readonly<Record<string, string | undefined>>): string {
  try {
    keyValues(profile, env);
    return '';
  } catch (error) {
    t.match(error, { name: 'UsageError' });
    return error instanceof Error ? error.message : '';
  }
}

t.test('the values by name of the key, with the numbers of its plan', async (t) => {
  const env = { FREE_KEY: 'free-secret', PRO_KEY: 'pro-secret~+/=', OTHER: 'x' };
  const read = keyValues(profile, env);
  t.strictSame(
    [...read],
    [
      ['free-1', 'free-secret'],
      ['pro-1', 'pro-secret~+/='],
    ],
  );
  const own = { perMinute: 700, perDay: 7000 };
  const big: ProfileKey = { ...key('big-1', 'BIG_KEY'), plan: 'enterprise' };
  const values = new Map([...read, ['big-1', 'big-secret']]);
  t.match(profileKeys({ ...profile, keys: [...profile.keys, big], plans: { enterprise: own } }, values), [
    { name: 'free-1', value: 'free-secret', limits: PLANS.free },
    { name: 'pro-1' },
    { value: 'big-secret', limits: own },
  ]);
  t.equal(profileKeys(profile, new Map([['pro-1', 'x']])).length, 1, 'a key without a value is left out');
  t.throws(() => profileKeys({ ...profile, keys: [big] }, values), /plans\.enterprise/);
});

t.test('a value that cannot be sent, or redacted, is a problem that names the variable only', async (t) => {
  for (const [value, message, remedy = ''] of [
    ['', /is empty/, 'set it: export PRO_KEY=…'],
    ['canary key', /header cannot carry/, 'set it to the value alone'],
    ['canary\r\nX-Evil: 1', /header cannot carry/, 'set it to the value alone'],
    ['canary\u0000', /header cannot carry/, 'set it to the value alone'],
    ['canaryä', /header cannot carry/, 'set it to the value alone'],
    ['k'.repeat(4097), /more than 4,096/, 'set it to the value alone'],
    ['can', /fewer than 4 characters/, 'choose a longer value'],
    ['1234567', /fewer than 8 digits/, 'choose a longer value'],
    ['free-secret', /same key as free-1/, 'name a key once, with all its roles'],
    ['k'.repeat(4096), undefined],
    ['k-12', undefined],
    ['12345678', undefined],
  ] as const) {
    const said = problems({ FREE_KEY: 'free-secret', PRO_KEY: value });
    if (message === undefined) t.equal(said, '');
    else {
      t.match(said, /^PRO_KEY, which holds the key pro-1, /, String(value));
      t.match(said, message);
      t.ok(said.includes(`; ${remedy}`));
      t.notMatch(said, /canary|1234567|free-secret/);
    }
  }
});

t.test('a key need not be there, and is looked at where it is', async (t) => {
  t.equal(problems({ FREE_KEY: 'free-secret' }), '');
  t.match(problems({ FREE_KEY: '', PRO_KEY: 'two words' }), /^FREE_KEY.*\nPRO_KEY.*$/);
});

const ACCESS = join(import.meta.dirname, 'testing', 'access.txt');

t.test('how a target is reached is as stored, by what differs from the usual', async (t) => {
  await assertAnsweredAsStored(t, ACCESS, (asked) => {
    const { target = 'https://staging.example.com:8443/v1', env = {}, ...reached } = JSON.parse(asked);
    const { proxy, ...access } = accessOf({ ...PROFILE_DEFAULTS, ...reached }, target, env);
    return JSON.stringify({ proxy: proxy?.href, ...access });
  });
});
