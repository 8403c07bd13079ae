/** A target with an empty store whose limits are models, checked on the run's own clock. */

import type { Permission } from '../../../../spec/permissions.ts';
import { fixedWindow, type SimulatedLimit } from '../../../limits/testing/simulated-limits.ts';
import { DAY, SECOND } from '../../../limits/time.ts';
import type { Key } from '../../../profile/key.ts';
import type { Finding } from '../../../run/findings.ts';
import { playRun } from '../../../run/play.ts';
import type { RunOptions } from '../../../run/run.ts';
import { NOON, payer, type TestRun, testRun } from '../../../run/testing/test-run.ts';
import type { ClientRequest } from '../../../wire/client.ts';
import type { FailureOutcome } from '../../../wire/exchange.ts';
import { quotaChecks } from '../../all-checks.ts';
import { exhaustKey, type Told, telling } from './measured.ts';

/** A request as it comes to the limit. */
export interface Arrival {
  readonly request: ClientRequest;
  readonly key: string;
  /** Of all requests of the run, from 1. */
  readonly number: number;
  /** Since noon. */
  readonly seconds: number;
  readonly admitted: boolean;
  readonly remaining: number;
  /** Whether the key is banned. */
  readonly banned: boolean;
  /** Whether its day is spent. */
  readonly ofDay: boolean;
}

export interface LimitedTarget {
  readonly keys?: readonly Key[];
  readonly permissions?: readonly Permission[];
  readonly limit?: SimulatedLimit;
  /** How many requests a minute admits; by default the plan's number. */
  readonly admits?: number | undefined;
  /** Whether each key pays for all. */
  readonly shared?: boolean;
  /** How many requests of its day a key has left; by default the plan's number. */
  readonly day?: number | undefined;
  /** With so many refusals in a row a key is banned, for so many seconds. */
  readonly ban?: { readonly refusals: number; readonly seconds: number };
  /** What is answered otherwise than the limits would have it; nothing leaves it as it is. */
  readonly tells?: (arrival: Arrival) => Told | FailureOutcome | undefined;
  /** What tells a request without a valid key of the limits, so many seconds after noon. */
  readonly keyless?: (seconds: number) => Told;
  /** Milliseconds that pass before the request arrives. */
  readonly takes?: (number: number) => number;
  /** Whether somebody else makes a request on the key right before this one. */
  readonly neighbour?: (number: number) => boolean;
  /** Seconds by which Retry-After is later than the reset. */
  readonly later?: number;
  /** How many of the unit of Retry-After a second has. */
  readonly unit?: number;
  /** How far the target's clock is ahead of the run's, in seconds; none shows no Date. */
  readonly clockAhead?: number | 'none';
  readonly options?: Partial<RunOptions>;
}

/** Nothing came back. */
export const reset: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'connection reset' };

const whole = (time: number) => Math.ceil((time - NOON) / SECOND);

/** The limits of one key. */
function account(key: Key, { limit = fixedWindow, admits, day, ban }: LimitedTarget) {
  const minute = limit(admits ?? key.limits.perMinute);
  let left = day ?? key.limits.perDay;
  let refusals = 0;
  let bannedUntil = 0;
  return (now: number) => {
    if (now < bannedUntil)
      return { admitted: false, remaining: 0, reset: bannedUntil, banned: true, ofDay: false };
    if (left === 0)
      return { admitted: false, remaining: 0, reset: NOON + DAY / 2, banned: false, ofDay: true };
    const said = minute(now);
    if (said.admitted) left -= 1;
    refusals = said.admitted ? 0 : refusals + 1;
    if (ban !== undefined && refusals >= ban.refusals) bannedUntil = now + ban.seconds * SECOND;
    return { ...said, banned: false, ofDay: false };
  };
}

/** A run that nothing was played of. */
export function limitedRun(target: LimitedTarget = {}): TestRun {
  const { keys = [exhaustKey()], permissions = ['exhaust'], takes, tells, neighbour, keyless } = target;
  const { clockAhead = 0, later = 0, unit = 1 } = target;
  const [ofAll] = keys.map((key) => account(key, target));
  const accounts = new Map(
    keys.map((key) => [key.name, target.shared === true ? ofAll : account(key, target)]),
  );
  const ahead = clockAhead === 'none' ? 0 : clockAhead;
  const test: TestRun = testRun(
    (request, number) => {
      test.clock.pass(takes?.(number) ?? 0);
      const now = test.clock.now();
      const key = keys.find(({ name }) => name === payer(request));
      const spend = accounts.get(key?.name ?? '');
      const seconds = (now - NOON) / SECOND;
      if (key === undefined || spend === undefined)
        return telling({ status: 401, limit: undefined, ...keyless?.(seconds) });
      if (neighbour?.(number) === true) spend(now);
      const { admitted, remaining, reset: resetsAt, banned, ofDay } = spend(now);
      const otherwise = tells?.({
        request,
        key: key.name,
        number,
        seconds,
        admitted,
        remaining,
        banned,
        ofDay,
      });
      if (otherwise !== undefined && 'kind' in otherwise) return otherwise;
      return telling({
        status: admitted ? (request.operation === 'getPet' ? 404 : 200) : banned ? 403 : 429,
        code: banned ? 'banned' : 'rate_limited',
        limit: ofDay ? key.limits.perDay : key.limits.perMinute,
        remaining,
        reset: whole(resetsAt) + ahead,
        retryAfter: admitted ? undefined : (whole(resetsAt) + later - Math.floor(seconds)) * unit,
        date: clockAhead === 'none' ? undefined : Math.floor(seconds) + ahead,
        ...otherwise,
      });
    },
    {
      keys,
      permissions: new Set(permissions),
      sampleCategoryId: 1n,
      checks: quotaChecks,
      ...target.options,
    },
  );
  return test;
}

/** What is said of each requirement of quotas after the whole run. */
export async function verdictsOn(
  target: LimitedTarget,
  { run }: TestRun = limitedRun(target),
): Promise<ReadonlyMap<string, Finding>> {
  const { requirements } = await playRun(run, {
    checks: quotaChecks,
    gapObservers: [],
  });
  return requirements;
}
