import type { Call } from '../../call.ts';
import { httpDate } from '../../headers.ts';
import {
  addedHeader,
  answering,
  asksForStatus,
  closing,
  failing,
  ofEachKey,
  queried,
  type When,
  where,
  withBody,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { storedThoughRefused } from './refused-additions.ts';
import { byMinute, everyTime, letThrough, retryAfter, whenOverLimit } from './windows.ts';

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
// biome-ignore format: a table, a line or two for each fault
export const OVER_LIMIT_FAULTS: FaultTable = {
  'rate-refused-429': {
    'ban-sixth-served': ['Every sixth request of a banned key is served.',
      () => letThrough('ban', everyTime(6))],
    'refused-503': ['A request over the limit is refused with 503.', refusedWith(503)],
    'refused-403': ['A request over the limit is refused with 403.', refusedWith(403)],
    'refused-400-on-add': ['An addition over the limit is refused with 400.',
      refusedWith(400, (call) => call.route.operation === 'createPet')],
    'refused-503-on-get': ['A retrieval over the limit is refused with 503.',
      refusedWith(503, (call) => call.route.operation === 'getPet')],
    'refused-get-served': ['A retrieval over the limit is served.',
      letThrough('minute', (call) => call.route.operation === 'getPet')],
    'refused-add-served': ['An addition over the limit is served.',
      letThrough('minute', (call) => call.route.operation === 'createPet')],
    'refused-filtered-list-served': ['A list with a status is served over the limit.',
      letThrough('minute', asksForStatus)],
    'refused-long-list-served': ['A list with limit=100 is served over the limit.',
      letThrough('minute', (call) => queried(call, 'limit=100'))],
    'refused-empty-list': ['A list over the limit is answered with 200 and no animals.',
      answering(where(whenOverLimit, (call) => call.route.operation === 'listPets'),
        (answer) => ({ ...withBody(answer, '[]'), status: 200, headers: [] }))],
    'refused-every-other-served': ['Every third request over the limit is served.',
      () => letThrough('minute', everyTime(3))],
    'refused-connection-closed': ['A request over the limit gets no answer; the connection is closed.',
      closing(whenOverLimit)],
  },
  'rate-refused-adds-nothing': {
    'refused-add-stored': ['An addition that is refused with 429 is stored.',
      storedThoughRefused((answer) => answer.status === 429)],
    'banned-add-stored': ['An addition of a banned key is stored.',
      storedThoughRefused((_answer, call) => call.refusedBy === 'ban')],
  },
  'retry-after-present': {
    'retry-after-absent': ['A 429 has no Retry-After.', retryAfter(() => null)],
    'retry-after-absent-on-add': ['An addition refused with 429 has no Retry-After.',
      retryAfter(() => null, onAdd)],
    'retry-after-absent-from-second': ['From the second refusal in a row on there is no Retry-After.',
      fromSecondRefusal(() => null)],
    'retry-after-under-other-name': ['The time to wait comes in X-Retry-After.',
      retryAfter(() => null), addedHeader('X-Retry-After', '30', byMinute)],
  },
  'retry-after-readable': {
    'retry-after-soon': ['Retry-After is "soon".', retryAfter(() => 'soon')],
    'retry-after-negative': ['Retry-After is negative.', retryAfter((seconds) => `-${seconds}`)],
    'retry-after-zero': ['Retry-After is 0.', retryAfter(() => '0')],
    'retry-after-empty': ['Retry-After is empty.', retryAfter(() => '')],
    'retry-after-past-date': ['Retry-After is a date that has passed.',
      retryAfter((seconds, now) => httpDate(now - seconds * 1000 - 60_000))],
    'retry-after-a-year': ['Retry-After is a year.', retryAfter(() => '31536000')],
    'retry-after-not-a-number': ['Retry-After is NaN.', retryAfter(() => 'NaN')],
    'retry-after-zero-from-second': ['From the second refusal in a row on Retry-After is 0.',
      fromSecondRefusal(() => '0')],
  },
  'retry-after-honest': {
    'retry-after-one-second': ['Retry-After is always 1.', retryAfter(() => '1')],
    'retry-after-half': ['Retry-After is half of the time to wait.',
      retryAfter((seconds) => String(Math.max(1, Math.floor(seconds / 2))))],
    'retry-after-five-short': ['Retry-After is five seconds too short.',
      retryAfter((seconds) => String(Math.max(1, seconds - 5)))],
    'retry-after-date-too-early': ['Retry-After is a date a third of the way to the end of the window.',
      retryAfter((seconds, now) => httpDate(now + 1000 + seconds * 333))],
    'retry-after-short-for-free': ['Retry-After of Free keys is ten seconds, however long is left.',
      retryAfter((seconds) => String(Math.min(seconds, 10)), onFree)],
  },
};
