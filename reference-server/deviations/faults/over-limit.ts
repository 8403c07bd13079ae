import type { Call } from '../../call.ts';
import { httpDate } from '../../headers.ts';
import { slidingCounter } from '../meters.ts';
import {
  addedHeader,
  answering,
  asksForStatus,
  closing,
  everyTime,
  failing,
  minuteBy,
  ofEachKey,
  queried,
  type When,
  where,
  withBody,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { storedThoughRefused } from './refused-additions.ts';
import { byMinute, letThrough, retryAfter, whenOverLimit } from './windows.ts';

/** Refusals of the limit with another status. */
const refusedWith = (status: number, test: (call: Call) => boolean = () => true) =>
  failing(status, where(whenOverLimit, test));

/** From a key's second refusal in a row on. */
const fromSecondRefusal = (change: (seconds: number) => string | null) => () => {
  const refusals = ofEachKey(() => ({ inRow: 0 }));
  return retryAfter(change, (answer, call) => {
    if (call.key === null) return false;
    const refused = refusals(call.key);
    if (call.refusedBy === null) refused.inRow = 0;
    return byMinute(answer, call) && ++refused.inRow > 1;
  });
};

const onAdd: When = (answer, call) => byMinute(answer, call) && call.route.operation === 'createPet';
const onFree: When = (answer, call) => byMinute(answer, call) && call.key?.plan === 'free';

/** Sections 7 and 8: a request over the limit is refused with 429, has no effect, and is told to wait. */
// biome-ignore format: a table, a line for most faults
export const OVER_LIMIT_FAULTS: FaultTable = {
  'rate-refused-429': {
    'ban-sixth-served': () => letThrough('ban', everyTime(6)),
    'refused-503': refusedWith(503),
    'refused-403': refusedWith(403),
    'refused-400-on-add': refusedWith(400, (call) => call.route.operation === 'createPet'),
    'refused-503-on-get': refusedWith(503, (call) => call.route.operation === 'getPet'),
    'refused-get-served': letThrough('minute', (call) => call.route.operation === 'getPet'),
    'refused-add-served': letThrough('minute', (call) => call.route.operation === 'createPet'),
    'refused-filtered-list-served': letThrough('minute', asksForStatus),
    'refused-long-list-served': letThrough('minute', (call) => queried(call, 'limit=100')),
    'refused-empty-list': answering(where(whenOverLimit, (call) => call.route.operation === 'listPets'),
        (answer) => ({ ...withBody(answer, '[]'), status: 200, headers: [] })),
    'refused-every-other-served': () => letThrough('minute', everyTime(3)),
    'refused-connection-closed': closing(whenOverLimit),
    'refused-connection-closed-by-counter': [minuteBy(slidingCounter), closing(whenOverLimit)],
  },
  'rate-refused-adds-nothing': {
    'refused-add-stored': storedThoughRefused((answer) => answer.status === 429),
    'banned-add-stored': storedThoughRefused((_answer, call) => call.refusedBy === 'ban'),
  },
  'retry-after-present': {
    'retry-after-absent': retryAfter(() => null),
    'retry-after-absent-on-add': retryAfter(() => null, onAdd),
    'retry-after-absent-from-second': fromSecondRefusal(() => null),
    'retry-after-under-other-name': [retryAfter(() => null), addedHeader('X-Retry-After', '30', byMinute)],
  },
  'retry-after-readable': {
    'retry-after-soon': retryAfter(() => 'soon'),
    'retry-after-negative': retryAfter((seconds) => `-${seconds}`),
    'retry-after-zero': retryAfter(() => '0'),
    'retry-after-empty': retryAfter(() => ''),
    'retry-after-past-date': retryAfter((seconds, now) => httpDate(now - seconds * 1000 - 60_000)),
    'retry-after-a-year': retryAfter(() => '31536000'),
    'retry-after-not-a-number': retryAfter(() => 'NaN'),
    'retry-after-zero-from-second': fromSecondRefusal(() => '0'),
  },
  'retry-after-honest': {
    'retry-after-one-second': retryAfter(() => '1'),
    'retry-after-half': retryAfter((seconds) => String(Math.max(1, Math.floor(seconds / 2)))),
    'retry-after-five-short': retryAfter((seconds) => String(Math.max(1, seconds - 5))),
    'retry-after-date-too-early': retryAfter((seconds, now) => httpDate(now + 1000 + seconds * 333)),
    'retry-after-short-for-free': retryAfter((seconds) => String(Math.min(seconds, 10)), onFree),
  },
};
