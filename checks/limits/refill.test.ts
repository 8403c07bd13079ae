/** What the answers after a refusal for the minute show of how quota comes back. */
import t from 'tap';
import type { RateReading } from '../wire/rate-headers.ts';
import {
  cameBackAtOnce,
  isRefilling,
  mayGiveTooMuch,
  needsLater,
  overGiven,
  type Refill,
  shortWindow,
} from './refill.ts';
import { TargetClock } from './target-clock.ts';
import { reading } from './testing/simulated-limits.ts';
import { SECOND } from './time.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const SIX = 6;

/** An answer so many seconds after noon; Reset in seconds as well. */
const answerAt = (
  seconds: number,
  { reset, ...told }: Partial<RateReading> & { readonly reset?: number | undefined } = {},
): RateReading =>
  reading({
    sentAt: NOON + seconds * SECOND,
    receivedAt: NOON + seconds * SECOND + 10,
    limit: SIX,
    ...told,
    reset: reset === undefined ? undefined : NOON + reset * SECOND,
  });

/** A refusal at noon with this Reset, and the first admission with that. */
const refill = (
  reset: number | undefined,
  first?: Parameters<typeof answerAt>[1],
  seconds = reset ?? 60,
): Refill => ({
  perMinute: SIX,
  refused: answerAt(0, { status: 429, remaining: 0, reset }),
  first: first === undefined ? undefined : answerAt(seconds, first),
});

t.test('all but two requests of the minute are its whole quota', async (t) => {
  t.equal(cameBackAtOnce(refill(60, { remaining: 5, reset: 120 })), true);
  t.equal(cameBackAtOnce(refill(60, { remaining: 4, reset: 120 })), true);
  t.equal(cameBackAtOnce(refill(60, { remaining: 3, reset: 120 })), false);
  t.equal(cameBackAtOnce(refill(60)), undefined, 'nothing was admitted');
  t.equal(cameBackAtOnce(refill(60, { remaining: undefined, reset: 120 })), undefined);
  t.equal(cameBackAtOnce(refill(60, { limit: 1000, remaining: 999, reset: 120 })), undefined, 'the day’s');
  const ofDay = { ...refill(60, { remaining: 5, reset: 120 }), refused: answerAt(0, { limit: 1000 }) };
  t.equal(cameBackAtOnce(ofDay), undefined);
});

t.test('a whole quota with a reset that moved by less than a minute is a shorter window', async (t) => {
  const unknown = new TargetClock();
  const short = (...of: Parameters<typeof refill>) => shortWindow(refill(...of), unknown);
  t.equal(short(30, { remaining: 5, reset: 60 }), 30 * SECOND);
  t.equal(short(30, { remaining: 4, reset: 60 }), 30 * SECOND);
  t.equal(short(30, { remaining: 3, reset: 60 }), undefined, 'not all of it');
  t.equal(short(30, { remaining: 5, reset: 88 }), 58 * SECOND);
  t.equal(short(30, { remaining: 5, reset: 89 }), undefined, 'a minute, and its rounding');
  t.equal(short(30, { remaining: 5, reset: 36 }, 10), 6 * SECOND);
  t.equal(short(30, { remaining: 5, reset: 35 }, 10), undefined);
  t.equal(short(30, { remaining: 5, reset: 36 }), 6 * SECOND);
  t.equal(short(30, { remaining: 5, reset: 36 }, 31), undefined, 'over soon');
  t.equal(short(30, { remaining: 5, reset: undefined }), undefined);
  t.equal(short(undefined, { remaining: 5, reset: 60 }, 30), undefined);
  t.equal(short(30), undefined);
  const ahead = new TargetClock();
  ahead.learn({ date: NOON + 30 * SECOND, sentAt: NOON, receivedAt: NOON });
  t.equal(
    shortWindow(refill(30, { remaining: 5, reset: 60 }), ahead),
    undefined,
    'over soon by the target’s clock',
  );
});

t.test('little quota with a reset that hardly moved comes back bit by bit', async (t) => {
  const kind = (first: Parameters<typeof answerAt>[1], later?: Partial<RateReading>) => {
    const of = refill(60, first);
    return [needsLater(of), isRefilling({ ...of, later: later && answerAt(100, later) })];
  };
  t.strictSame(kind({ remaining: 5, reset: 120 }), [false, false], 'all of it at once');
  t.strictSame(kind({ remaining: 1, reset: 70 }), [false, true]);
  t.strictSame(kind({ remaining: 1, reset: 74 }), [false, true]);
  t.strictSame(kind({ remaining: 1, reset: undefined }), [false, true]);
  t.strictSame(kind({ remaining: 1, reset: 75 }), [true, false]);
  t.strictSame(kind({ remaining: 1, reset: 75 }, { remaining: 2 }), [true, true]);
  t.strictSame(kind({ remaining: 1, reset: 75 }, { remaining: 1 }), [true, false]);
  t.strictSame(kind({ remaining: 1, reset: 75 }, { remaining: undefined }), [true, false]);
  t.strictSame(kind({ limit: 1000, remaining: 1, reset: 75 }), [false, undefined]);
  t.equal(isRefilling(refill(60)), undefined);
});

t.test('much less than a bucket would hold, and early, is looked at once more', async (t) => {
  const early = (seconds: number, remaining: number | undefined, admitted = 1) =>
    mayGiveTooMuch(refill(seconds, { remaining, reset: seconds }), admitted);
  t.equal(early(45, 1), true, 'four and a half tokens less two, where two were there');
  t.equal(early(45, 2), false);
  t.equal(early(45, 1, 2), false);
  t.equal(early(49, 1), true);
  t.equal(early(50.1, 1), false, 'the minute is about to end');
  t.equal(early(20, 0), false);
  t.equal(early(40, undefined), true);
  t.equal(mayGiveTooMuch(refill(30), 0), false);
  const large = (seconds: number) =>
    mayGiveTooMuch({ ...refill(seconds, { remaining: 0, reset: seconds }), perMinute: 60 }, 1);
  t.equal(large(5), false, 'too soon to tell');
  t.equal(large(6), true);
});

/** What filled a window of six before it was refused at 0.9 seconds. */
const filled = [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((seconds) => answerAt(seconds));

/** What is given back too much where a request so many seconds after the refusal was answered so. */
function overGivenAfter(
  seconds: number,
  told: Partial<RateReading>,
  { before = filled, beside = [] }: { before?: readonly RateReading[]; beside?: readonly number[] } = {},
) {
  const refused = answerAt(0.9, { status: 429, remaining: 0 });
  const shown = reading({ ...answerAt(0.91 + seconds), ...told });
  const since = [...beside.map((later) => answerAt(later)), shown];
  return overGiven({ perMinute: SIX, refused, before, since }, [shown]);
}

t.test('a bucket gives back its refill and no more', async (t) => {
  t.match(overGivenAfter(20, { remaining: 4 }), { seconds: 20, given: 5, most: 4 });
  t.equal(overGivenAfter(20, { remaining: 3 }), undefined);
  t.match(overGivenAfter(20, { remaining: 3 }, { beside: [10] }), { given: 5 }, 'what was used meanwhile');
  t.equal(overGivenAfter(20, { remaining: 2 }, { beside: [10] }), undefined);
  t.equal(overGivenAfter(20, { remaining: 3 }, { beside: [30] }), undefined, 'what was used afterwards');
  t.match(overGivenAfter(30, { remaining: 5 }), { given: 6, most: 5 });
  t.equal(overGivenAfter(20, { remaining: 4, limit: 1 }), undefined);
  t.equal(overGivenAfter(20, { remaining: undefined }), undefined);
});

t.test('a window that looks back gives back what was spent a minute before', async (t) => {
  const before = [-40, -40, -40, 0, 0.1, 0.2].map((seconds) => answerAt(seconds));
  t.equal(overGivenAfter(20, { remaining: 4 }, { before }), undefined, 'three of them left the minute');
  t.match(overGivenAfter(20, { remaining: 5 }, { before }), { given: 6, most: 5 });
  t.match(overGivenAfter(15, { remaining: 4 }, { before }), { given: 5, most: 3 }, 'not yet');
});

t.test('after the minute everything is back, and nothing of it too much', async (t) => {
  t.equal(overGivenAfter(60, { remaining: 60 }), undefined);
  t.equal(overGivenAfter(58, { remaining: 60 }), undefined);
  t.match(overGivenAfter(57, { remaining: 60 }), { given: 61 });
  t.equal(overGivenAfter(20, { remaining: 5 }, { before: [] }), undefined);
  const again = [...filled, answerAt(30)];
  t.equal(overGivenAfter(58, { remaining: 60 }, { before: again }), undefined, 'since the last before it');
});
