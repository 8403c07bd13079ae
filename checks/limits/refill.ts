/** What a key's answers after it was refused for its minute show: whether quota comes back at once or bit by bit. */
import type { RateReading } from '../wire/rate-headers.ts';
import { CLOCKS_APART, type TargetClock, wentBack } from './target-clock.ts';
import { givenAtOnce, MINUTE, SECOND } from './time.ts';

/** A refusal for the minute, and what was admitted after it. */
export interface Refill {
  readonly perMinute: number;
  readonly refused: RateReading;
  /** The first request of the key that was admitted again, whichever scene sent it. */
  readonly first: RateReading | undefined;
  /** One a little later, if only that shows how quota comes back. */
  readonly later?: RateReading | undefined;
}

/** A window that has just begun holds the request that asks for it, and one more at most. */
const FRESH_MARGIN = 2;

/** Whether an answer tells that the whole quota of the minute is there; undefined where it does not describe the minute. */
export const isFresh = (
  { limit, remaining }: Pick<RateReading, 'limit' | 'remaining'>,
  perMinute: number,
): boolean | undefined =>
  limit !== perMinute || remaining === undefined ? undefined : remaining >= perMinute - FRESH_MARGIN;

/** More than a minute later what comes back bit by bit is whole as well, or nearly. */
const isLate = ({ refused, first }: Refill): boolean =>
  first !== undefined && first.sentAt - refused.sentAt > MINUTE;

/** Whether the whole quota came back at once; undefined where the headers do not describe the minute, or came late. */
export function cameBackAtOnce(refill: Refill): boolean | undefined {
  const { perMinute, refused, first } = refill;
  if (first === undefined || refused.limit !== perMinute) return undefined;
  const fresh = isFresh(first, perMinute);
  return fresh === true && isLate(refill) ? undefined : fresh;
}

/**
 * How long before the Reset of the refusal the whole quota was there again, in milliseconds; undefined if it was not, as
 * far as any clock tells.
 */
export function resetBefore(refill: Refill, clock: TargetClock): number | undefined {
  const { refused, first } = refill;
  const now = first && clock.at(first.receivedAt)?.latest;
  if (now === undefined || refused.reset === undefined || cameBackAtOnce(refill) !== true) return undefined;
  const early = refused.reset - Math.max(now, first?.receivedAt ?? now) - clock.dispute;
  return early > 2 * CLOCKS_APART && !wentBack(refused, first ?? refused) ? early : undefined;
}

/** By how many milliseconds Reset moved on. */
const resetMoved = ({ refused, first }: Refill): number | undefined =>
  first?.reset === undefined || refused.reset === undefined ? undefined : first.reset - refused.reset;

/**
 * By how many milliseconds Reset moved on from one window to the next, where that is less than a minute: the whole quota
 * is there, with a reset well ahead. Either the window is as short, or one of the two Resets is not true.
 */
export function resetsApart(refill: Refill, clock: TargetClock): number | undefined {
  const { first } = refill;
  const moved = resetMoved(refill);
  if (first?.reset === undefined || moved === undefined || cameBackAtOnce(refill) !== true) return undefined;
  // Where something is still spent, a window that slides tells when that is given back.
  if ((first.remaining ?? 0) < refill.perMinute - 1) return undefined;
  const now = clock.at(first.receivedAt)?.earliest ?? first.receivedAt;
  const isShort = moved > 5 * SECOND && moved <= MINUTE - 2 * SECOND && first.reset - now > 5 * SECOND;
  return isShort ? moved : undefined;
}

/** Whether it was there less than a minute after a request, with a second for the rounding of either. */
export const isWithinMinute = ({ first }: Refill, { sentAt }: Pick<RateReading, 'sentAt'>): boolean =>
  first !== undefined && first.receivedAt - sentAt < MINUTE - 2 * SECOND;

/**
 * Whether only a later answer tells how quota comes back. A new window has a reset of its own, most of a window later;
 * what is given back bit by bit moves on bit by bit. But a bucket's Reset may be its next token on a refusal, and the
 * time when it is full otherwise. Then only Remaining tells, which rises without a request.
 */
export const needsLater = (refill: Refill): boolean =>
  cameBackAtOnce(refill) === false && (resetMoved(refill) ?? 0) >= MINUTE / 4;

/** Whether quota comes back bit by bit, as in a sliding window or a token bucket; undefined where the headers do not tell. */
export function isRefilling(refill: Refill): boolean | undefined {
  const { first, later } = refill;
  const atOnce = cameBackAtOnce(refill);
  if (atOnce !== false) return atOnce === undefined ? undefined : false;
  if (!needsLater(refill)) return true;
  const paid = Math.max(0, (first?.remaining ?? 0) - 1);
  if (later?.remaining !== undefined && later.remaining > paid) return true;
  return isLate(refill) ? undefined : false;
}

/**
 * Whether much less is left than a bucket would hold, long before the minute is over. A sliding window that is shorter
 * than a minute will have given back too much a moment later.
 *
 * @param admitted how many requests were admitted since the refusal
 */
export function mayGiveTooMuch({ perMinute, refused, first }: Refill, admitted: number): boolean {
  if (first === undefined) return false;
  const waited = first.sentAt - refused.receivedAt;
  const held = (first.remaining ?? 0) + admitted;
  const isEarly = waited > 5 * SECOND && waited < MINUTE - 10 * SECOND;
  return isEarly && held < (waited * perMinute) / MINUTE - 2;
}

/**
 * Finds an answer that shows more given back than a minute's limit allows. A bucket gives back its refill, and a sliding
 * window what was spent before the burst. Another client on the key leaves less, never more.
 *
 * @param before what filled the window
 * @param since all that this run was admitted since the refusal
 * @param shown the answers that are judged
 */
export function overGiven(
  { perMinute, refused }: Refill,
  before: readonly RateReading[],
  since: readonly RateReading[],
  shown: readonly RateReading[],
): { readonly id: string; readonly actual: string } | undefined {
  const last = before.findLast(({ receivedAt }) => receivedAt < refused.receivedAt);
  if (last === undefined) return undefined;
  for (const reading of shown) {
    const { id, limit, remaining, sentAt, receivedAt } = reading;
    // By a clock that was set back the window is another one.
    if (limit !== perMinute || remaining === undefined || wentBack(refused, reading)) continue;
    if (receivedAt > last.sentAt + MINUTE - 2 * SECOND) continue;
    const given = remaining + since.filter((own) => own.sentAt <= sentAt).length;
    const left = before.filter((spent) => spent.sentAt + MINUTE - 2 * SECOND <= receivedAt).length;
    const refilled = ((receivedAt - refused.sentAt) * perMinute) / MINUTE;
    const most = Math.floor(Math.max(refilled, left) + givenAtOnce(perMinute)) + 1;
    const seconds = Math.round((sentAt - refused.receivedAt) / SECOND);
    const actual = `${perMinute} were admitted, and ${given} more after ${seconds} seconds, when a one-minute window gives back at most ${most}`;
    if (given > most) return { id, actual };
  }
  return undefined;
}
