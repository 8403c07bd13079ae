/** A key's day as it is spent on a target with a minute and a day. */

import { fixedWindow } from '../../../limits/testing/simulated-limits.ts';
import { DAY, SECOND } from '../../../limits/time.ts';
import type { Key } from '../../../profile/key.ts';
import { NOON, testRun } from '../../../run/testing/test-run.ts';
import { listPets } from '../../../wire/requests.ts';
import type { AnswerParts } from '../../../wire/testing/answered.ts';
import { exhaustKey, telling } from '../../minute/testing/measured.ts';
import { toldEnd } from '../../minute/told-time.ts';
import { outcomeOf } from '../../testing/judged.ts';
import { countAdmitted, isDays } from '../reading.ts';
import { day } from '../scenes.ts';

/** A day of twenty requests, six a minute. */
export const PER_DAY = 20;
export const free = exhaustKey({ limits: { perMinute: 6, perDay: PER_DAY } });
export const HOURS = 3600;
/** Midnight. */
export const END = NOON + 12 * HOURS * SECOND;

/** A target with minutes of six and a day of so many requests, on the run's clock. */
export async function spendDay(
  admits: number,
  given: {
    readonly key?: Key;
    /** What a refusal for the day asks to wait, in seconds. */
    readonly wait?: (now: number) => number | undefined;
    readonly others?: (number: number) => AnswerParts | undefined;
    readonly earlier?: number;
    readonly perMinute?: number;
    /** When a new day begins: by default at midnight. */
    readonly dayEnds?: number;
  } = {},
) {
  const key = given.key ?? free;
  const minute = fixedWindow(given.perMinute ?? 6);
  let count = 0;
  let dayEnds = given.dayEnds ?? END;
  const answer = (number: number, now: number): AnswerParts => {
    const otherwise = given.others?.(number);
    if (otherwise !== undefined) return otherwise;
    if (now >= dayEnds) [count, dayEnds] = [0, dayEnds + DAY];
    if (count >= admits) {
      const wait = given.wait === undefined ? (dayEnds - now) / SECOND : given.wait(now);
      return telling({
        limit: PER_DAY,
        reset: Math.ceil((dayEnds - NOON) / SECOND),
        retryAfter: wait === undefined ? undefined : Math.ceil(wait),
      });
    }
    const { admitted, remaining, reset } = minute(now);
    if (admitted) count += 1;
    const told = {
      remaining,
      reset: Math.ceil((reset - NOON) / SECOND),
      date: Math.floor((now - NOON) / SECOND),
    };
    return admitted
      ? telling({ status: 200, ...told })
      : telling({ ...told, retryAfter: Math.ceil((reset - now) / SECOND) });
  };
  let refused = 0;
  const test = testRun(
    (_request, number) => {
      const answered = answer(number, test.clock.now());
      if (answered.status === 429) refused += 1;
      return answered;
    },
    { keys: [key], permissions: new Set(['day'] as const) },
  );
  const probe = test.run.probe('earlier');
  for (let sent = 0; sent < (given.earlier ?? 0); sent += 1) await probe.attempt(listPets(), key);
  const measured = await outcomeOf(test.run, day.on(key, [key]));
  const { refusal } = measured;
  return {
    ...test,
    measured: {
      ...measured,
      admitted: countAdmitted(measured.admitted),
      isDays: refusal !== undefined && isDays(measured, refusal, test.run.trace),
      toldEnd: refusal === undefined ? undefined : toldEnd(test.run.trace, refusal),
    },
    refused,
  };
}
