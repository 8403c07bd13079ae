/** What a target does after it refused a key for its minute, at the moments that it named itself. */
import { contract } from '../../../spec/contract.ts';
import type { WindowCount } from '../../limits/window-count.ts';
import { unanswered } from '../../run/interference.ts';
import { type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted, isAdmittedStatus } from './admitted.ts';
import { toldTime, toldWait } from './told-time.ts';

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

/**
 * Waits as told after a refusal and asks again, at the two moments that the target named.
 *
 * @param refusals every refusal of requests that were in flight together: each may lengthen the wait, or earn a ban
 */
export async function afterRefusal(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  refusals: readonly AnsweredExchange[],
) {
  const admitted: RateReading[] = [];
  const ask = async (): Promise<Retry> => {
    // The list in which an addition that was refused would show.
    const exchange = await probe.attempt(listPets({ limit: contract.limit.maximum, status: 'sold' }), key);
    if (!isAnswered(exchange)) throw unanswered(exchange);
    if (isAdmitted(exchange)) admitted.push(rateReading(exchange));
    return { exchange, admitted: isAdmitted(exchange) };
  };
  const { retryAt, ...retries } = await askAsTold(probe, key, refusal, refusals, ask);
  const [first] = admitted;
  const shown = windowShown(probe, key, rateReading(refusal), first);
  const refilling = await isRefilling(probe, key, shown, first, ask);
  if (refilling === true && first !== undefined) {
    // Much less than a bucket would hold, and long before a minute is over: a moment later a window that looks back for
    // less than a minute has given back too much.
    const waited = first.sentAt - refusal.receivedAt;
    const held = (first.remaining ?? 0) + admitted.length;
    const isEarly = waited > 5 * SECOND && waited < MINUTE - 10 * SECOND;
    if (isEarly && held < (waited * key.limits.perMinute) / MINUTE - 2) {
      await probe.waitUntil(probe.now() + 5 * SECOND, `quota that key ${key.name} may be given back`);
      await ask();
    }
  }
  return {
    ...retries,
    admitted,
    edge: retryAt === undefined ? undefined : retryAt + SECOND,
    fresh: shown.fresh,
    shortWindow: shown.shortWindow,
    refilling,
  };
}

/** When Retry-After of a refusal asks to come back, by our clock; undefined where it tells no time, or none to wait. */
function toldRetry(probe: Probe, key: Key, refusal: AnsweredExchange): number | undefined {
  const told = toldWait(refusal, key.limits);
  return told.kind === 'delay' && told.milliseconds <= 0
    ? undefined
    : toldTime(probe, told, refusal.receivedAt);
}

function latestFirst<T>(all: readonly T[], at: (one: T) => number | undefined): T[] {
  const time = (one: T) => at(one) ?? 0;
  return all.toSorted((a, b) => time(b) - time(a));
}

/** Asks at the moments that Retry-After and X-RateLimit-Reset name, where they can be waited for. */
async function askAsTold(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  refusals: readonly AnsweredExchange[],
  ask: () => Promise<Retry>,
) {
  const [asksForMost = refusal] = latestFirst(refusals, (refused) => toldRetry(probe, key, refused));
  const retryAt = toldRetry(probe, key, asksForMost);
  // Who is asked to wait longer than the first refusal said may be banned: that outlasts the limit, whose end Reset names.
  const firstRetryAt = toldRetry(probe, key, refusal);
  const isProlonged =
    retryAt !== undefined && firstRetryAt !== undefined && retryAt > firstRetryAt + 2 * SECOND;
  const [limitResetAt] = latestFirst(
    refusals.map((refused) => {
      const { limit, reset } = rateReading(refused);
      // Whole seconds may be rounded down: the limit has reset when the second that Reset names is over.
      return reset !== undefined && limit === key.limits.perMinute
        ? probe.targetClock.reached(reset + SECOND)
        : undefined;
    }),
    (at) => at,
  );
  const resetAt = limitResetAt === undefined || !isProlonged ? limitResetAt : Math.max(limitResetAt, retryAt);
  const longest = refusal.receivedAt + 2 * MINUTE;
  const isWaitable = (at: number, from = refusal.receivedAt) => at > from && at <= longest;
  // A date may be over when a slow answer arrives, though it lay ahead when that was made: it is asked for at once.
  const waitableRetryAt =
    retryAt !== undefined && isWaitable(retryAt, asksForMost.sentAt) ? retryAt : undefined;
  const askAtReset = async (at: number) => {
    await probe.waitUntil(at, `X-RateLimit-Reset of key ${key.name}`);
    return askPatiently(probe, key, refusal, ask);
  };

  let afterRetryAfter: Retry | undefined;
  let afterReset: Retry | undefined;
  // The document itself calls Reset the time at which the limit resets: where it comes first, by more than the clocks of
  // several machines behind one address differ, it is taken at its word.
  if (
    resetAt !== undefined &&
    isWaitable(resetAt) &&
    (retryAt === undefined || resetAt < retryAt - 2 * SECOND)
  )
    afterReset = await askAtReset(resetAt);
  if (waitableRetryAt !== undefined) {
    await probe.waitUntil(waitableRetryAt, `Retry-After of key ${key.name}`);
    afterRetryAfter = await askPatiently(probe, key, refusal, ask);
  }
  if (afterReset === undefined && resetAt !== undefined && resetAt <= longest) {
    // One that was admitted in the very second that Reset names may have taken all that was given back.
    const isAtReset =
      afterRetryAfter?.admitted === true && afterRetryAfter.exchange.sentAt >= resetAt - 2 * SECOND;
    afterReset = isAtReset ? afterRetryAfter : await askAtReset(resetAt);
  }
  return {
    told: toldWait(asksForMost, key.limits),
    retryAt: waitableRetryAt,
    afterRetryAfter,
    afterReset,
  };
}

/**
 * Asks again where the first answer is no more than bad luck. What is given back bit by bit may be taken by somebody
 * else, or by another check, right before this request. Its refusal then names a later reset: it is waited for once
 * more. A window that is full again at once cannot be emptied so: there the first answer stands.
 */
async function askPatiently(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  ask: () => Promise<Retry>,
): Promise<Retry> {
  const { perMinute } = key.limits;
  const refused = rateReading(refusal);
  const first = await ask();
  let retry = first;
  for (let turn = 0; turn < 3 && !retry.admitted; turn += 1) {
    const { exchange } = retry;
    const { reset } = rateReading(exchange);
    if (exchange.outcome.status !== 429 || refused.limit !== perMinute) return first;
    if (refused.reset === undefined || reset === undefined || reset <= refused.reset) return first;
    const at = toldRetry(probe, key, exchange);
    if (at === undefined || at <= exchange.receivedAt || at > exchange.receivedAt + MINUTE) return first;
    await probe.waitUntil(at, `Retry-After of key ${key.name}`);
    retry = await ask();
  }
  if (!retry.admitted) return first;
  const ownBetween = probe
    .readingsOf(key, refusal.receivedAt)
    .some(({ id, status }) => id !== retry.exchange.id && isAdmittedStatus(status));
  const { limit, remaining } = rateReading(retry.exchange);
  const fresh = limit === perMinute && remaining !== undefined && remaining >= limit - FRESH_MARGIN;
  return ownBetween || !fresh ? retry : first;
}

/** What the headers of a refusal, and of the first request that was admitted after it, show of the window. */
interface WindowShown {
  /** Whether the whole quota was there again; undefined where the headers do not describe the minute. */
  readonly fresh: boolean | undefined;
  /** By how many milliseconds Reset moved on. */
  readonly resetMoved: number | undefined;
  readonly shortWindow: number | undefined;
}

function windowShown(
  probe: Probe,
  key: Key,
  refused: RateReading,
  first: RateReading | undefined,
): WindowShown {
  const { perMinute } = key.limits;
  if (first === undefined || first.limit !== perMinute || refused.limit !== perMinute)
    return { fresh: undefined, resetMoved: undefined, shortWindow: undefined };
  const resetMoved =
    first.reset === undefined || refused.reset === undefined ? undefined : first.reset - refused.reset;
  const fresh = first.remaining === undefined ? undefined : first.remaining >= perMinute - FRESH_MARGIN;
  // A whole quota with a reset well ahead that has moved by less than a minute: the window is shorter than that.
  const now = probe.targetClock.at(first.receivedAt)?.earliest ?? first.receivedAt;
  const isShort =
    fresh === true &&
    resetMoved !== undefined &&
    resetMoved > 5 * SECOND &&
    resetMoved <= MINUTE - 2 * SECOND &&
    (first.reset ?? now) - now > 5 * SECOND;
  return { fresh, resetMoved, shortWindow: isShort ? resetMoved : undefined };
}

/** Whether quota is given back bit by bit; undefined where the headers do not tell. */
async function isRefilling(
  probe: Probe,
  key: Key,
  { fresh, resetMoved }: WindowShown,
  first: RateReading | undefined,
  ask: () => Promise<Retry>,
): Promise<boolean | undefined> {
  if (fresh !== false || first?.remaining === undefined) return fresh === undefined ? undefined : false;
  // A new window has a reset of its own, most of a window later; what is given back bit by bit moves on bit by bit.
  if ((resetMoved ?? 0) < MINUTE / 4) return true;
  // A bucket may name its next token where it refuses, and the time it is full where it admits: that Reset tells
  // nothing, but Remaining rises without a request.
  await probe.waitUntil(
    probe.now() + Math.max(2 * SECOND, (4 * MINUTE) / key.limits.perMinute),
    `quota that key ${key.name} may be given back`,
  );
  const later = await ask();
  const { remaining } = rateReading(later.exchange);
  return later.admitted && remaining !== undefined && remaining > first.remaining;
}
