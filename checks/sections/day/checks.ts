/** Section 8: requests per day, spent at the plan's own pace. */

import type { PlanName } from '../../profile/target-profile.ts';
import { type Check, type Judge, type Scene, Unsettled } from '../../run/check.ts';
import { unanswered } from '../../run/interference.ts';
import { DAY, type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { type AnsweredExchange, header, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { RATE_HEADER_NAMES, type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted, isAdmittedStatus } from '../minute/admitted.ts';
import { withoutNumbers } from '../minute/custom-plan.ts';
import { exhaustKeys } from '../minute/scenes.ts';
import { tellsDay, toldEnd } from '../minute/told-time.ts';

const IN_FLIGHT = 4;
/** A refusal that asks for more than a minute and its rounding is not the minute's. */
const BEYOND_A_MINUTE = MINUTE + 2 * SECOND;
/** How far beyond the quota the run goes on before it says that nothing stops it. */
const BEYOND_QUOTA = 20;
/** Waits as told in a row that were refused all the same: further ones would be in vain too. */
const WAITS_IN_VAIN = 3;

interface DayMeasurement {
  readonly key: Key;
  /** Every admitted request of the run on the key. */
  readonly admitted: readonly RateReading[];
  /** The refusal that was the day's, as far as can be told; undefined where none came. */
  readonly refusal: AnsweredExchange | undefined;
  /** Whether it certainly was the day's: a minute that somebody else empties again and again is refused as well. */
  readonly isDays: boolean;
  /** When the refusal said that requests are admitted again, by our clock. */
  readonly toldEnd: number | undefined;
  /** The answer after the day's refusal and the wait that it told: the same once more. */
  readonly refusedAgain: AnsweredExchange | undefined;
}

/** Spends what is left of a key's day, within its minutes, until it is refused for the day. */
export function dayOf(key: Key): Scene<DayMeasurement> {
  const { perMinute, perDay } = key.limits;
  const isDays = (refusal: AnsweredExchange) => tellsDay(refusal, key.limits);
  return {
    id: `day:${key.name}`,
    permit: 'day',
    spends: { requests: perDay + BEYOND_QUOTA },
    async play(probe) {
      const measured = (refusal?: AnsweredExchange, refusedAgain?: AnsweredExchange, isDays = true) => ({
        key,
        admitted: probe.readingsOf(key).filter(({ status }) => isAdmittedStatus(status)),
        refusal,
        isDays,
        toldEnd: refusal === undefined ? undefined : toldEnd(probe, refusal),
        refusedAgain,
      });
      const endOf = (refusal: AnsweredExchange) => toldEnd(probe, refusal) ?? refusal.receivedAt + MINUTE;
      const isLong = (refusal: AnsweredExchange) => endOf(refusal) - refusal.receivedAt > BEYOND_A_MINUTE;
      let count = measured().admitted.length;
      let inVain = 0;
      // A day may begin meanwhile, at midnight of any zone: what nothing stops is more than the quotas of two days.
      while (count < 2 * perDay + BEYOND_QUOTA) {
        await probe.untilQuota(key);
        // Over the quota one by one: nothing is spent beyond the first refusal.
        const batch = Math.max(1, Math.min(probe.quotaLeft(key), perMinute, Math.max(1, perDay - count)));
        const sent = await probe.burst(
          Array.from({ length: batch }, () => listPets({ limit: 1 })),
          key,
          IN_FLIGHT,
          (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
        );
        const broken = sent.find((exchange) => !isAnswered(exchange));
        if (broken !== undefined) throw unanswered(broken);
        const answers = sent.filter(isAnswered);
        const served = answers.filter(isAdmitted).length;
        count += served;
        if (served > 0) inVain = 0;
        probe.progress(key, Math.min(count, perDay), perDay);
        const refusal = answers.find((exchange) => !isAdmitted(exchange));
        if (refusal === undefined) continue;
        if (isLong(refusal))
          return measured(refusal, undefined, refusal.outcome.status === 429 || isDays(refusal));
        // A minute's refusal, or the day's that says so badly: after the wait it shows.
        await probe.waitUntil(endOf(refusal), `Retry-After of key ${key.name}`);
        const again = await probe.attempt(listPets({ limit: 1 }), key, { uniform: true });
        if (!isAnswered(again)) throw unanswered(again);
        if (isAdmitted(again)) {
          // A bucket gave one back.
          if (isDays(refusal) && count >= perDay) return measured(refusal);
          count += 1;
          inVain = 0;
          continue;
        }
        // Somebody else may have emptied the minute once more, or have taken what a bucket gave back: its reset moves on.
        const isSame = rateReading(refusal).reset === rateReading(again).reset;
        if (isDays(refusal) && isDays(again) && isSame) return measured(refusal, again);
        if (isLong(again)) return measured(again, undefined, again.outcome.status === 429 || isDays(again));
        inVain += 1;
        if (inVain >= WAITS_IN_VAIN) return measured(again, undefined, false);
      }
      return measured();
    },
  };
}

/** Judges how many requests the day admitted. */
function judgeDay(
  probe: Probe,
  judge: Judge,
  { key, admitted, refusal, isDays, toldEnd: end }: DayMeasurement,
): void {
  const { perDay } = key.limits;
  const expected = `${perDay} requests admitted in a day with a key of plan ${key.plan}`;
  const first = admitted[0];
  if (refusal === undefined) {
    if ((admitted.at(-1)?.sentAt ?? 0) - (first?.sentAt ?? 0) >= DAY)
      return judge.unsettled(`the quota of key ${key.name} takes longer than a day to spend`);
    return judge.breaks({ expected, actual: `${admitted.length} were, and none was refused for the day` });
  }
  if (!isDays) return judge.unsettled(notSurelyDays(key), refusal);
  // The told end names the day that was spent: what was admitted before it began belongs to another. Told it was as
  // early as the refusal was sent; whole seconds may be rounded up.
  const journey = refusal.receivedAt - refusal.sentAt;
  const begin = end === undefined ? 0 : end - journey - DAY - 2 * SECOND;
  const inDay = admitted.filter(({ receivedAt }) => receivedAt >= begin);
  const elapsed = first === undefined ? 0 : refusal.receivedAt - first.sentAt;
  // A bucket gives back while it is spent, and says so: the next request is not a day away.
  const bitByBit = end !== undefined && refills(refusal, end, perDay);
  const allowed = perDay + (bitByBit ? Math.ceil((perDay * elapsed) / DAY) + 1 : 0);
  // Where the run saw the day begin, what came in the seconds around may belong to either.
  const surely =
    end === undefined || inDay.length === admitted.length
      ? inDay
      : inDay.filter(({ sentAt }) => sentAt >= end - DAY);
  if (surely.length > allowed)
    return judge.breaks({ expected, actual: `${surely.length} were admitted` }, refusal);
  const lost = probe.lostRequests(key);
  if (inDay.length + lost >= perDay) return judge.holds(refusal);
  const shownAtFirst = first !== undefined && first.limit === perDay && first.remaining === perDay - 1;
  const beganWithUs =
    !bitByBit &&
    end !== undefined &&
    first !== undefined &&
    Math.abs(end - DAY - first.receivedAt) < 5 * SECOND;
  if (key.unusedToday || shownAtFirst || beganWithUs)
    return judge.breaks({ expected, actual: `${inDay.length} were admitted` }, refusal);
  judge.unsettled(
    `${inDay.length} of ${perDay} requests were admitted; ${perDay - inDay.length} earlier ones today would explain it (say unusedToday: true for key ${key.name} in the profile where there were none)`,
    refusal,
  );
}

const notSurelyDays = ({ name }: Key) =>
  `key ${name} was refused, not surely for its day: somebody else seems to spend it`;

function dayRow(plan: PlanName): Check {
  return {
    // 8: the plan's requests per day, no fewer, no more.
    id: `rate-day-${plan}`,
    permit: 'day',
    notApplicable: withoutNumbers(plan),
    async run(probe, judge) {
      const key = exhaustKeys(probe).find((candidate) => candidate.plan === plan);
      if (key === undefined) {
        return judge.unsettled(`the profile has no ${plan} key with the role exhaust`);
      }
      judgeDay(probe, judge, await probe.play(dayOf(key)));
    },
  };
}

export const dailyQuotaChecks: readonly Check[] = [
  dayRow('free'),
  dayRow('pro'),
  dayRow('business'),
  dayRow('enterprise'),
  {
    // 7, 8: back off and retry after the time given: for the day's quota, not before the day ends.
    id: 'rate-day-refusal',
    permit: 'day',
    async run(probe, judge) {
      const keys = exhaustKeys(probe);
      if (keys.length === 0) throw new Unsettled('no usable key has the role exhaust');
      for (const key of keys) {
        const { refusal, isDays, toldEnd: end, refusedAgain, admitted } = await probe.play(dayOf(key));
        if (refusal === undefined) judge.unsettled(`key ${key.name} was not refused for its day`);
        else if (!isDays) judge.unsettled(notSurelyDays(key), refusal);
        else if (refusal.outcome.status !== 429)
          judge.breaks(
            { expected: '429 for a request over the day’s quota', actual: described(refusal) },
            refusal,
          );
        else if (refusedAgain !== undefined) {
          judge.breaks(
            {
              expected: 'a Retry-After that reaches to the end of the day',
              actual: `after it, still ${described(refusedAgain)}`,
            },
            refusal,
            refusedAgain,
          );
        } else if (end === undefined)
          judge.breaks(
            { expected: 'a Retry-After that reaches to the end of the day', actual: 'none that can be read' },
            refusal,
          );
        else if (end - refusal.receivedAt > DAY + 2 * SECOND) {
          judge.breaks(
            {
              expected: 'a wait of at most a day',
              actual: `${Math.round((end - refusal.receivedAt) / SECOND).toLocaleString('en')} seconds`,
            },
            refusal,
          );
        } else if (!resetAgrees(probe, refusal, end, key, admitted[0])) {
          judge.breaks(
            {
              expected: 'X-RateLimit-Reset at the end of the day, as Retry-After says',
              actual: `X-RateLimit-Reset: ${header(refusal.outcome.headers, RATE_HEADER_NAMES.reset)}`,
            },
            refusal,
          );
        } else judge.holds(refusal);
      }
    },
  },
];

/** Whether a refusal asks to wait for the next token of a bucket only, and not for the day. */
const refills = (refusal: AnsweredExchange, end: number, perDay: number) =>
  end - refusal.receivedAt <= (2 * DAY) / perDay + MINUTE;

/**
 * Where the refusal's headers describe the day, Reset and Retry-After name the same end. A day that slides is over bit
 * by bit, over as long as its requests took; a bucket's Reset may be when it is full.
 */
function resetAgrees(
  probe: Probe,
  refusal: AnsweredExchange,
  end: number,
  key: Key,
  first: RateReading | undefined,
): boolean {
  const { limit, reset } = rateReading(refusal);
  if (limit !== key.limits.perDay || reset === undefined) return true;
  const at = probe.targetClock.reached(reset);
  const spending = refusal.receivedAt - (first?.sentAt ?? refusal.receivedAt);
  const tooEarly = !refills(refusal, end, key.limits.perDay) && end < at - spending - MINUTE;
  return !tooEarly && at >= end - MINUTE && at <= refusal.receivedAt + DAY + MINUTE;
}
