/** A target that bans a key which goes on over its limit, on the run's own clock. */
import type { Key } from '../../../profile/key.ts';
import type { Permission } from '../../../profile/permissions.ts';
import { payer, type TestRun, testKey } from '../../../run/testing/test-run.ts';
import { type Arrival, type LimitedTarget, limitedRun } from '../../minute/testing/limited-target.ts';
import { exchangeAt, PER_MINUTE, type Told } from '../../minute/testing/measured.ts';
import { outcomeOf, played } from '../../testing/judged.ts';
import { type BanMeasurement, type BanReading, readBan } from '../reading.ts';
import { ban } from '../scenes.ts';

export const banKeyForTests = testKey({
  name: 'free-ban',
  roles: ['ban'],
  limits: { perMinute: PER_MINUTE, perDay: 1000 },
});
export const proKey = testKey({ name: 'pro-1', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } });

export interface BanRules {
  /** With which request over the limit the ban begins; by default never. */
  readonly after?: number;
  /** How long it lasts. */
  readonly seconds?: number;
  /** What a banned key is told; the seconds that are left to wait are put in where they are asked for. */
  readonly tells?: (left: number) => Told;
  /** Whether each request during the ban begins it anew. */
  readonly prolongs?: boolean;
  /** Which keys are banned with the one that earned it. */
  readonly bans?: (key: string | null) => boolean;
  /** What is answered otherwise, whatever the limit and the ban say. */
  readonly otherwise?: LimitedTarget['tells'];
}

/** 403, and the time that is left. */
export const forbidden = (left: number): Told => ({
  status: 403,
  code: 'banned',
  remaining: 0,
  retryAfter: Math.ceil(left),
});

function banning(rules: BanRules) {
  const { after = Number.POSITIVE_INFINITY, seconds: length = 20, tells = forbidden } = rules;
  const isBanned = rules.bans ?? ((key) => key === banKeyForTests.name);
  let over = 0;
  let until = 0;
  return (arrival: Arrival) => {
    const said = rules.otherwise?.(arrival);
    if (said !== undefined) return said;
    const { request, seconds, admitted } = arrival;
    const key = payer(request);
    if (key === banKeyForTests.name) {
      if (seconds >= until && !admitted) over += 1;
      if (over >= after && (seconds < until || !admitted)) {
        if (until === 0 || rules.prolongs === true) until = seconds + length;
      }
    }
    return seconds < until && isBanned(key) ? tells(until - seconds) : undefined;
  };
}

/** A run against such a target; one animal can be retrieved. */
export async function banningRun(
  rules: BanRules,
  target: LimitedTarget = {},
  permissions: readonly Permission[] = ['ban'],
): Promise<TestRun> {
  const test = limitedRun({
    keys: [banKeyForTests, proKey],
    tells: banning(rules),
    ...target,
    options: { permissions: new Set(permissions), ...target.options },
  });
  await played(test.run, 'store-sample', undefined);
  await played(test.run, 'retrievals', {
    done: [{ exchange: exchangeAt('retrieved', 0, { status: 200 }), known: { id: 7n } }],
    unsettled: [],
  });
  return test;
}

/** The ban of the key, as a scene. */
export const banScene = (key: Key = banKeyForTests) => ban.on(key, [key]);

/** Provokes the ban and waits it out; what that shows. */
export async function bannedFor(
  rules: BanRules,
  target: LimitedTarget = {},
  permissions: readonly Permission[] = ['ban'],
): Promise<TestRun & { readonly measured: BanReading; readonly later: BanMeasurement['later'] }> {
  const test = await banningRun(rules, target, permissions);
  const measurement = await outcomeOf(test.run, banScene(target.keys?.[0]));
  return { ...test, measured: readBan(measurement, test.run.trace), later: measurement.later };
}

/** Provokes the ban; what that shows, and what was sent with the key until then. */
export async function provoked(
  rules: BanRules = {},
  target: LimitedTarget = {},
  permissions: readonly Permission[] = ['ban'],
) {
  const { measured, later, ...test } = await bannedFor(rules, target, permissions);
  const ofKey = test.sent.filter((request) => payer(request) === banKeyForTests.name);
  const own = ofKey.slice(0, ofKey.length - later.length);
  return { ...test, provocation: measured, own, waits: test.waits() };
}
