import { quotaOf } from '../../rate-limiter.ts';
import { slidingLog, windowByClock } from '../meters.ts';
import { admitting } from '../shapes.ts';
import { bucketMinute, countedMinute, headersOfTheDay, slidingMinute } from './limits.ts';
import { type Answer, answer, type Variant, variantsOf } from './variant.ts';

/** Days that are used in part when a server starts: a key's day is spent after a few runs, and then it is spent. */

const utcDay = answer('day-kind', 'utc', { recipe: () => ({ dayMeter: windowByClock }) });
const rollingDay = answer('day-kind', 'rolling', { recipe: () => ({ dayMeter: slidingLog }) });

/** The headers always describe the minute. That the day is spent shows in the code, and in a Retry-After of hours. */
const headersOfTheMinute = answer(
  'rate-headers-window',
  'minute',
  admitting((usual, key, call, { limiter }) => {
    const gate = usual(key, call);
    const { minute } = limiter.metersOf(key);
    return { ...gate, quota: quotaOf(minute, Math.max(0, minute.left(call.now)), call.now) };
  }),
);

/** A share of each key's day was used six hours ago, or at midnight if that is later. */
const dayUsed = (percent: number): Answer =>
  answer('day-used', `${percent}-percent`, {
    recipe: ({ dayMeter }) => ({
      dayMeter(limit, windowMs) {
        const meter = dayMeter(limit, windowMs);
        let toSpend = (limit * percent) / 100;
        return {
          ...meter,
          left(now) {
            const before = Math.max(now - 6 * 3_600_000, now - (now % windowMs));
            for (; toSpend >= 1; toSpend -= 1) meter.spend(before);
            return meter.left(now);
          },
        };
      },
    }),
  });

const KINDS: Readonly<Record<string, readonly Answer[]>> = {
  fixed: [],
  utc: [utcDay],
  rolling: [rollingDay],
  'under-minute-headers': [headersOfTheMinute],
  'under-day-headers': [headersOfTheDay],
  'with-bucket': [bucketMinute, utcDay],
  'with-log': [slidingMinute, rollingDay],
  'with-counter': [countedMinute, utcDay],
};

/**
 * Each kind of day and limiter with each share used. Profiles for them do not say that their keys are unused today. A
 * day of a few minutes is any of them with an Enterprise plan such as 600 a minute and 700 a day.
 */
export const SPENT_DAYS: readonly Variant[] = Object.entries(KINDS).flatMap(([kind, answers]) =>
  [50, 93, 97, 100].flatMap((percent) =>
    variantsOf({ [`day-${kind}-${percent}-used`]: [...answers, dayUsed(percent)] }),
  ),
);
