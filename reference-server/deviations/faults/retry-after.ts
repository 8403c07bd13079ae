import { httpDate } from '../../headers.ts';
import { type Personality, together } from '../personality.ts';
import { addedHeader, header, type When } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

const PRESENT = 'retry-after-present';
const READABLE = 'retry-after-readable';
const HONEST = 'retry-after-honest';

const byMinute: When = (answer, call) => answer.status === 429 && call.refusedBy === 'minute';
const retryAfter = (
  change: (seconds: number, now: number) => string | null,
  when: When = byMinute,
): Personality => header('Retry-After', when, (value, call) => change(Number(value), call.now));

/** From a key's second refusal in a row on. */
function fromSecondRefusal(change: (seconds: number) => string | null): Personality {
  return {
    behaviour(usual, parts, recipe) {
      const refusals = new Map<string, number>();
      const again: When = (answer, call) => {
        const name = call.key?.name ?? '';
        if (call.refusedBy === null) refusals.delete(name);
        if (!byMinute(answer, call)) return false;
        refusals.set(name, (refusals.get(name) ?? 0) + 1);
        return (refusals.get(name) ?? 0) > 1;
      };
      return retryAfter(change, again).behaviour?.(usual, parts, recipe) ?? {};
    },
  };
}

const onAdd: When = (answer, call) => byMinute(answer, call) && call.route.operation === 'createPet';
const onFree: When = (answer, call) => byMinute(answer, call) && call.key?.plan === 'free';

/** Sections 7 and 8: the time to wait. */
export const RETRY_AFTER_FAULTS: readonly Fault[] = [
  fault(
    'retry-after-absent',
    PRESENT,
    'A 429 has no Retry-After.',
    retryAfter(() => null),
  ),
  fault(
    'retry-after-absent-on-add',
    PRESENT,
    'An addition refused with 429 has no Retry-After.',
    retryAfter(() => null, onAdd),
  ),
  fault(
    'retry-after-absent-from-second',
    PRESENT,
    'From the second refusal in a row on there is no Retry-After.',
    fromSecondRefusal(() => null),
  ),
  fault(
    'retry-after-under-other-name',
    PRESENT,
    'The time to wait comes in X-Retry-After.',
    together(
      retryAfter(() => null),
      addedHeader('X-Retry-After', '30', byMinute),
    ),
  ),

  fault(
    'retry-after-soon',
    READABLE,
    'Retry-After is "soon".',
    retryAfter(() => 'soon'),
  ),
  fault(
    'retry-after-with-unit',
    READABLE,
    'Retry-After has its unit in words.',
    retryAfter((seconds) => `${seconds} seconds`),
  ),
  fault(
    'retry-after-negative',
    READABLE,
    'Retry-After is negative.',
    retryAfter((seconds) => `-${seconds}`),
  ),
  fault(
    'retry-after-zero',
    READABLE,
    'Retry-After is 0.',
    retryAfter(() => '0'),
  ),
  fault(
    'retry-after-empty',
    READABLE,
    'Retry-After is empty.',
    retryAfter(() => ''),
  ),
  fault(
    'retry-after-past-date',
    READABLE,
    'Retry-After is a date that has passed.',
    retryAfter((seconds, now) => httpDate(now - seconds * 1000 - 60_000)),
  ),
  fault(
    'retry-after-a-year',
    READABLE,
    'Retry-After is a year.',
    retryAfter(() => '31536000'),
  ),
  fault(
    'retry-after-not-a-number',
    READABLE,
    'Retry-After is NaN.',
    retryAfter(() => 'NaN'),
  ),
  fault(
    'retry-after-zero-from-second',
    READABLE,
    'From the second refusal in a row on Retry-After is 0.',
    fromSecondRefusal(() => '0'),
  ),

  fault(
    'retry-after-one-second',
    HONEST,
    'Retry-After is always 1.',
    retryAfter(() => '1'),
  ),
  fault(
    'retry-after-half',
    HONEST,
    'Retry-After is half of the time to wait.',
    retryAfter((seconds) => String(Math.max(1, Math.floor(seconds / 2)))),
  ),
  fault(
    'retry-after-five-short',
    HONEST,
    'Retry-After is five seconds too short.',
    retryAfter((seconds) => String(Math.max(1, seconds - 5))),
  ),
  fault(
    'retry-after-date-too-early',
    HONEST,
    'Retry-After is a date a third of the way to the end of the window.',
    retryAfter((seconds, now) => httpDate(now + 1000 + seconds * 333)),
  ),
  fault(
    'retry-after-short-for-free',
    HONEST,
    'Retry-After of Free keys is ten seconds, however long is left.',
    retryAfter((seconds) => String(Math.min(seconds, 10)), onFree),
  ),
];
