/** What a target does after it refused a key for its minute, at the moments that it named itself. */
import { contract } from '../../spec/contract.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../harness/exchange.ts';
import { type Key, MINUTE, SECOND } from '../harness/key-pool.ts';
import { type Probe, unanswered } from '../harness/probe.ts';
import { type RateReading, rateReading, retryAfter } from '../harness/rate-headers.ts';
import { listPets } from '../harness/requests.ts';
import type { WindowCount } from '../harness/window-count.ts';
import { isAdmitted, isAdmittedStatus } from './admitted.ts';

/** A request that was to be admitted at a certain time, and what came. */
export interface Retry {
  readonly exchange: AnsweredExchange;
  readonly admitted: boolean;
}

/** More quota than a window of a minute gives back in this time. */
export interface OverGiven {
  readonly exchange: Exchange;
  /** Since the refusal. */
  readonly seconds: number;
  readonly given: number;
  readonly most: number;
}

/** When the target's clock has certainly reached a time of it; without a known clock ours stands in. */
const reached = (probe: Probe, time: number) => probe.targetClock.certainlyReached(time) ?? time;

/** A window that has just begun holds the request that asks for it, and one more at most. */
const FRESH_MARGIN = 2;

/**
 * What a window that looks back gave back before its minute was over: a bucket its refill and no more, a sliding one
 * nothing but what was spent before the burst. Somebody else who uses the key leaves less, never more.
 */
export function overGivenOf(
  probe: Probe,
  key: Key,
  { admitted }: WindowCount,
  refusal: AnsweredExchange,
  later: readonly RateReading[],
): OverGiven | undefined {
  const last = admitted.findLast(({ receivedAt }) => receivedAt < refusal.receivedAt);
  if (last === undefined) return undefined;
  for (const { id, limit, remaining, sentAt, receivedAt } of later) {
    if (limit !== key.limits.perMinute || remaining === undefined) continue;
    if (receivedAt > last.sentAt + MINUTE - 2 * SECOND) continue;
    const own = probe
      .readingsOf(key, refusal.receivedAt)
      .filter((other) => other.sentAt <= sentAt && isAdmittedStatus(other.status)).length;
    const left = admitted.filter((spent) => spent.sentAt + MINUTE - 2 * SECOND <= receivedAt).length;
    const refilled = ((receivedAt - refusal.sentAt) * limit) / MINUTE;
    const most = Math.floor(Math.max(refilled, left)) + 2;
    const exchange = probe.find(id);
    if (remaining + own > most && exchange !== undefined)
      return { exchange, seconds: (sentAt - refusal.receivedAt) / SECOND, given: remaining + own, most };
  }
  return undefined;
}

/** Waits as told after a refusal and asks again, at the two moments that the target named. */
export async function afterRefusal(probe: Probe, key: Key, refusal: AnsweredExchange) {
  const told = retryAfter(refusal.outcome.headers, MINUTE / SECOND);
  const reading = rateReading(refusal);
  const describesMinute = reading.limit === key.limits.perMinute;
  const admitted: RateReading[] = [];
  const ask = async (): Promise<Retry> => {
    // The list in which an addition that was refused would show.
    const exchange = await probe.attempt(listPets({ limit: contract.limit.maximum, status: 'sold' }), key);
    if (!isAnswered(exchange)) throw unanswered(exchange);
    if (isAdmitted(exchange)) admitted.push(rateReading(exchange));
    return { exchange, admitted: isAdmitted(exchange) };
  };
  const retryAt =
    told.kind === 'delay' && told.milliseconds > 0
      ? refusal.receivedAt + told.milliseconds
      : told.kind === 'date'
        ? reached(probe, told.time)
        : undefined;
  // What is given back bit by bit may be taken by somebody else, or by another check, right before this request. Its
  // refusal then names a later reset: it is waited for once more. A window that is full again at once cannot be emptied
  // so: there the first answer stands.
  const askPatiently = async (): Promise<Retry> => {
    const first = await ask();
    let retry = first;
    for (let turn = 0; turn < 3 && !retry.admitted; turn += 1) {
      const again = rateReading(retry.exchange).reset;
      const wait = retryAfter(retry.exchange.outcome.headers, MINUTE / SECOND);
      if (retry.exchange.outcome.status !== 429 || !describesMinute) return first;
      if (reading.reset === undefined || again === undefined || again <= reading.reset) return first;
      const at =
        wait.kind === 'delay'
          ? retry.exchange.receivedAt + wait.milliseconds
          : wait.kind === 'date'
            ? reached(probe, wait.time)
            : undefined;
      if (at === undefined || at <= retry.exchange.receivedAt || at > retry.exchange.receivedAt + MINUTE)
        return first;
      await probe.waitUntil(at, `Retry-After of key ${key.name}`);
      retry = await ask();
    }
    if (!retry.admitted) return first;
    const ownBetween = probe
      .readingsOf(key, refusal.receivedAt)
      .some(({ id, status }) => id !== retry.exchange.id && isAdmittedStatus(status));
    const { limit, remaining } = rateReading(retry.exchange);
    const fresh =
      limit === key.limits.perMinute && remaining !== undefined && remaining >= limit - FRESH_MARGIN;
    return ownBetween || !fresh ? retry : first;
  };
  // Whole seconds may be rounded down: the limit has reset when the second that Reset names is over.
  const resetAt =
    reading.reset !== undefined && describesMinute ? reached(probe, reading.reset + SECOND) : undefined;
  const waitable = (at: number | undefined) =>
    at !== undefined && at > refusal.receivedAt && at <= refusal.receivedAt + 2 * MINUTE;

  let afterRetryAfter: Retry | undefined;
  let afterReset: Retry | undefined;
  // The document itself calls Reset the time at which the limit resets: where it comes first, it is taken at its word.
  if (resetAt !== undefined && waitable(resetAt) && (retryAt === undefined || resetAt < retryAt - SECOND)) {
    await probe.waitUntil(resetAt, `X-RateLimit-Reset of key ${key.name}`);
    afterReset = await askPatiently();
  }
  if (retryAt !== undefined && waitable(retryAt)) {
    await probe.waitUntil(retryAt, `Retry-After of key ${key.name}`);
    afterRetryAfter = await askPatiently();
  }
  if (afterReset === undefined && resetAt !== undefined && resetAt <= refusal.receivedAt + 2 * MINUTE) {
    // A request in the very second that Reset names is one at the reset; it may have taken all that was given back.
    if (afterRetryAfter !== undefined && afterRetryAfter.exchange.sentAt >= resetAt - 2 * SECOND)
      afterReset = afterRetryAfter;
    else {
      await probe.waitUntil(resetAt, `X-RateLimit-Reset of key ${key.name}`);
      afterReset = await askPatiently();
    }
  }
  const firstAdmitted = admitted[0];
  const describes = firstAdmitted?.limit === key.limits.perMinute && describesMinute;
  const resetMoved =
    describes && firstAdmitted.reset !== undefined && reading.reset !== undefined
      ? firstAdmitted.reset - reading.reset
      : undefined;
  const fresh =
    describes && firstAdmitted.remaining !== undefined
      ? firstAdmitted.remaining >= key.limits.perMinute - FRESH_MARGIN
      : undefined;
  const edge = retryAt !== undefined && waitable(retryAt) ? retryAt + SECOND : undefined;
  // A new window has a reset of its own, most of a window later; what is given back bit by bit moves on bit by bit.
  // A whole quota with a reset well ahead that has moved by less than a minute: the window is shorter than that.
  const ahead =
    describes && firstAdmitted.reset !== undefined
      ? firstAdmitted.reset -
        (probe.targetClock.at(firstAdmitted.receivedAt)?.earliest ?? firstAdmitted.receivedAt)
      : 0;
  const shortWindow =
    fresh === true &&
    resetMoved !== undefined &&
    resetMoved > 5 * SECOND &&
    resetMoved < MINUTE - 2 * SECOND &&
    ahead > 5 * SECOND
      ? resetMoved
      : undefined;
  let refilling = fresh === undefined ? undefined : !fresh && (resetMoved ?? 0) < MINUTE / 4;
  // A bucket may name its next token where it refuses, and the time it is full where it admits: that Reset tells
  // nothing, but Remaining rises without a request.
  if (fresh === false && refilling === false && firstAdmitted?.remaining !== undefined) {
    await probe.waitUntil(
      probe.now() + Math.max(2 * SECOND, (4 * MINUTE) / key.limits.perMinute),
      `quota that key ${key.name} may be given back`,
    );
    const later = await ask();
    const { remaining } = rateReading(later.exchange);
    refilling = later.admitted && remaining !== undefined && remaining > firstAdmitted.remaining;
  }
  // Much less than a bucket would hold, and long before a minute is over: a moment later a window that looks back for
  // less than a minute has given back too much.
  const waited = firstAdmitted === undefined ? 0 : firstAdmitted.sentAt - refusal.receivedAt;
  if (
    refilling === true &&
    waited > 5 * SECOND &&
    waited < MINUTE - 10 * SECOND &&
    (firstAdmitted?.remaining ?? 0) + admitted.length < (waited * key.limits.perMinute) / MINUTE - 2
  ) {
    await probe.waitUntil(probe.now() + 5 * SECOND, `quota that key ${key.name} may be given back`);
    await ask();
  }
  return { told, afterRetryAfter, afterReset, admitted, edge, fresh, shortWindow, refilling };
}
