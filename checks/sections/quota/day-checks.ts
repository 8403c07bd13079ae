/** Section 8: requests per day. */

import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import { PLAN_NAMES } from '../../profile/target-profile.ts';
import { type Check, check, doneOf, type Judge, type Seen } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, header } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { RATE_HEADER_NAMES, rateReading } from '../../wire/rate-headers.ts';
import { admittedOn } from './admitted.ts';
import { countAdmitted, type DayMeasurement, day, isDays, isRefilled } from './day.ts';
import { checkOfPlan, interference } from './measurements.ts';

/** Judges how many requests a day admitted. */
function judgeDay(day: DayMeasurement, judge: Judge, { trace }: Seen): void {
  const { key, admitted, refusal, lost } = day;
  const { perDay } = key.limits;
  const expected = `${perDay} requests admitted in a day with a key of plan ${key.plan}`;
  const begun = admitted[0]?.[0];
  const all = countAdmitted(admitted);
  if (refusal === undefined) {
    if ((admitted.at(-1)?.[0] ?? 0) - (begun ?? 0) >= DAY)
      return judge.inconclusive(`the quota of key ${key.name} takes longer than a day to spend`);
    return judge.breaks({ expected, actual: `${all} were admitted, and none was refused for the day` });
  }
  if (!isDays(day, refusal, trace)) return judge.inconclusive(notSurelyDays(key), refusal);
  const end = toldEnd(trace, refusal);
  // The stated end identifies the day that was spent: requests admitted before that day began belong to another one.
  // The refusal may have been written as early as the request was sent, and whole seconds may be rounded up.
  const journey = refusal.receivedAt - refusal.sentAt;
  const begin = end === undefined ? 0 : end - journey - DAY - 2 * SECOND;
  const inDay = countAdmitted(admitted, (_from, until) => until >= begin);
  // A token bucket is refilled while it is spent, and its refusal says so: the next request is not a day away.
  const bitByBit = end !== undefined && isRefilled(refusal, end, perDay);
  const elapsed = begun === undefined ? 0 : refusal.receivedAt - begun;
  const allowed = perDay + (bitByBit ? Math.ceil((perDay * elapsed) / DAY) + 1 : 0);
  // A wait may be generous: then the first requests of the day seem to belong to the one before.
  if (all + lost >= perDay && all <= allowed) return judge.holds(refusal);
  // Where the run saw the day begin, requests in the seconds around that moment may belong to either day.
  const surely =
    end === undefined || inDay === all ? inDay : countAdmitted(admitted, (from) => from >= end - DAY);
  if (surely > allowed) return judge.breaks({ expected, actual: `${surely} were admitted` }, refusal);
  if (inDay + lost >= perDay) return judge.holds(refusal);
  const [first] = admittedOn(trace, key);
  const shownAtFirst = first?.limit === perDay && first.remaining === perDay - 1;
  const beganWithUs =
    !bitByBit && end !== undefined && begun !== undefined && Math.abs(end - DAY - begun) < 5 * SECOND;
  if (key.unusedToday || shownAtFirst || beganWithUs)
    return judge.breaks({ expected, actual: `${inDay} were admitted` }, refusal);
  const what = `${inDay} of ${perDay} requests were admitted; earlier requests today would explain it (if there were none, set unusedToday: true for key ${key.name} in the profile)`;
  judge.inconclusive({ kind: 'day-spent', key: key.name, what }, refusal);
}

const notSurelyDays = (key: Key) => interference(key, `key ${key.name} was refused, perhaps not for its day`);

/** Judges what the day's refusal states. */
function judgeRefusal(day: DayMeasurement, judge: Judge, trace: Trace): void {
  const { key, refusal, refusedAgain, admitted } = day;
  if (refusal === undefined) return judge.inconclusive(`key ${key.name} was not refused for its day`);
  if (!isDays(day, refusal, trace)) return judge.inconclusive(notSurelyDays(key), refusal);
  const breaks = (expected: string, actual: string, ...evidence: AnsweredExchange[]) =>
    judge.breaks({ expected, actual }, refusal, ...evidence);
  if (refusal.outcome.status !== 429)
    return breaks('429 for a request over the day’s quota', described(refusal));
  const toDaysEnd = 'a Retry-After that reaches the end of the day';
  if (refusedAgain !== undefined)
    return breaks(toDaysEnd, `after it, still ${described(refusedAgain)}`, refusedAgain);
  const end = toldEnd(trace, refusal);
  if (end === undefined) return breaks(toDaysEnd, 'none that can be read');
  const wait = end - refusal.receivedAt;
  if (wait > DAY + 2 * SECOND)
    return breaks('a wait of at most a day', `${Math.round(wait / SECOND).toLocaleString('en')} seconds`);
  if (!resetAgrees(refusal, end, key, admitted[0]?.[0] ?? refusal.receivedAt, trace))
    return breaks(
      'X-RateLimit-Reset at the end of the day, as Retry-After says',
      `X-RateLimit-Reset: ${header(refusal.outcome.headers, RATE_HEADER_NAMES.reset)}`,
    );
  judge.holds(refusal);
}

/**
 * If the refusal's headers describe the day, Reset and Retry-After name the same end. A sliding day ends gradually,
 * over as long as its requests took; the Reset of a token bucket may be when it is full.
 *
 * @param begun when the first request was sent
 */
function resetAgrees(
  refusal: AnsweredExchange,
  end: number,
  { limits: { perDay } }: Key,
  begun: number,
  { targetClock }: Trace,
): boolean {
  const { limit, reset } = rateReading(refusal);
  if (limit !== perDay || reset === undefined) return true;
  // Without any Date nobody knows how far the target's clock is off.
  if (!targetClock.known) return Math.abs(reset - end) < DAY;
  const at = targetClock.reached(reset);
  const spending = refusal.receivedAt - begun;
  const tooEarly = !isRefilled(refusal, end, perDay) && end < at - spending - MINUTE;
  return !tooEarly && at >= end - MINUTE && at <= refusal.receivedAt + DAY + MINUTE;
}

export const dailyQuotaChecks: readonly Check[] = [
  // 8: a key of the plan has its number of requests admitted per day; the next is refused.
  ...PLAN_NAMES.map((plan) => checkOfPlan(`rate-day-${plan}`, plan, day, judgeDay)),
  // 8: a 429 for the day's quota gives, in Retry-After and X-RateLimit-Reset, a time within the day ahead.
  check('rate-day-refusal', { scenes: [day] }, (judge, seen) => {
    for (const measurement of doneOf(seen.on(day), judge)) judgeRefusal(measurement, judge, seen.trace);
  }),
];
