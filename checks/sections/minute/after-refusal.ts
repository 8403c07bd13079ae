/** What a target does after it refused a key for its minute, at the moments that it named itself. */
import { contract } from '../../../spec/contract.ts';
import { isFresh, isRefilling, mayGiveTooMuch, needsLater, type Refill } from '../../limits/refill.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { unanswered } from '../../run/interference.ts';
import type { Probe } from '../../run/probe.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { admittedOn, isAdmitted } from './admitted.ts';
import { toldRetry } from './told-time.ts';

/** What was asked after a refusal, and what came. */
export interface AfterRefusal {
  readonly refusal: AnsweredExchange;
  /** Of the refusals of requests that were in flight together, the one that asks for the longest wait. */
  readonly obeyed: AnsweredExchange;
  /** Everything that was asked, in that order. */
  readonly asked: readonly AnsweredExchange[];
  /** After exactly the time that Retry-After told; undefined where it told none that can be waited for. */
  readonly afterRetryAfter: AnsweredExchange | undefined;
  /** After X-RateLimit-Reset, by the target's clock. */
  readonly afterReset: AnsweredExchange | undefined;
  /** A little later, where only that tells whether quota comes back bit by bit. */
  readonly later: AnsweredExchange | undefined;
}

/** How quota came back after the refusal, as far as the first admitted request shows it. */
export function refillOf(
  { limits }: Key,
  { refusal, asked }: Pick<AfterRefusal, 'refusal' | 'asked'>,
): Refill {
  const first = asked.find(isAdmitted);
  return {
    perMinute: limits.perMinute,
    refused: rateReading(refusal),
    first: first === undefined ? undefined : rateReading(first),
  };
}

/**
 * Whether the target gives quota back bit by bit, as a sliding window or a token bucket does; undefined where its headers
 * do not describe the minute.
 */
export function refillingOf(key: Key, after: Pick<AfterRefusal, 'refusal' | 'asked' | 'later'>) {
  const { later } = after;
  return isRefilling(
    refillOf(key, after),
    later !== undefined && isAdmitted(later) ? rateReading(later) : undefined,
  );
}

/** Asks for something and counts what came. */
type Ask = () => Promise<AnsweredExchange>;

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
): Promise<AfterRefusal> {
  const asked: AnsweredExchange[] = [];
  const ask = async () => {
    // The list in which an addition that was refused would show.
    const exchange = await probe.attempt(listPets({ limit: contract.limit.maximum, status: 'sold' }), key);
    if (!isAnswered(exchange)) throw unanswered(exchange);
    asked.push(exchange);
    return exchange;
  };
  const waitForQuota = (time: number) =>
    probe.waitUntil(probe.now() + time, `quota that key ${key.name} may be given back`);

  const moments = await askAsTold(probe, key, { refusal, refusals, ask });
  const refill = refillOf(key, { refusal, asked });
  let later: AnsweredExchange | undefined;
  if (needsLater(refill)) {
    await waitForQuota(Math.max(2 * SECOND, (4 * MINUTE) / key.limits.perMinute));
    later = await ask();
  }
  const isGradual = refillingOf(key, { refusal, asked, later }) === true;
  if (isGradual && mayGiveTooMuch(refill, asked.filter(isAdmitted).length)) {
    await waitForQuota(5 * SECOND);
    await ask();
  }
  return { refusal, asked, later, ...moments };
}

const latest = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
};

/** When the limit resets, as these refusals tell it, by our clock; undefined where none describes the minute. */
function limitResetAt(probe: Probe, key: Key, refusals: readonly AnsweredExchange[]): number | undefined {
  return latest(
    refusals.map(rateReading).map(({ limit, reset }) =>
      // Whole seconds may be rounded down: the limit has reset when the second that Reset names is over.
      reset !== undefined && limit === key.limits.perMinute
        ? probe.trace.targetClock.reached(reset + SECOND)
        : undefined,
    ),
  );
}

/** Asks at the moments that Retry-After and X-RateLimit-Reset name, where they can be waited for. */
async function askAsTold(
  probe: Probe,
  key: Key,
  {
    refusal,
    refusals,
    ask,
  }: {
    readonly refusal: AnsweredExchange;
    readonly refusals: readonly AnsweredExchange[];
    readonly ask: Ask;
  },
): Promise<Pick<AfterRefusal, 'obeyed' | 'afterRetryAfter' | 'afterReset'>> {
  const retryAtOf = (refused: AnsweredExchange) => toldRetry(probe.trace, key.limits, refused);
  const [obeyed = refusal] = refusals.toSorted((a, b) => (retryAtOf(b) ?? 0) - (retryAtOf(a) ?? 0));
  const retryAt = retryAtOf(obeyed);
  // Who is asked to wait longer than the first refusal said may be banned: that outlasts the limit, whose end Reset names.
  const firstRetryAt = retryAtOf(refusal);
  const isProlonged =
    retryAt !== undefined && firstRetryAt !== undefined && retryAt > firstRetryAt + 2 * SECOND;
  const resetsAt = limitResetAt(probe, key, refusals);
  const resetAt = resetsAt === undefined || !isProlonged ? resetsAt : Math.max(resetsAt, retryAt);
  const longest = refusal.receivedAt + 2 * MINUTE;
  const isWaitable = (at: number, from = refusal.receivedAt) => at > from && at <= longest;
  const askAt = async (at: number, header: string) => {
    await probe.waitUntil(at, `${header} of key ${key.name}`);
    return askPatiently(probe, key, refusal, ask);
  };

  let afterRetryAfter: AnsweredExchange | undefined;
  let afterReset: AnsweredExchange | undefined;
  // The document itself calls Reset the time at which the limit resets: where it comes first, by more than the clocks of
  // several machines behind one address differ, it is taken at its word.
  const isResetFirst = resetAt !== undefined && (retryAt === undefined || resetAt < retryAt - 2 * SECOND);
  if (isResetFirst && isWaitable(resetAt)) afterReset = await askAt(resetAt, 'X-RateLimit-Reset');
  // A date may be over when a slow answer arrives, though it lay ahead when that was made: it is asked for at once.
  if (retryAt !== undefined && isWaitable(retryAt, obeyed.sentAt))
    afterRetryAfter = await askAt(retryAt, 'Retry-After');
  if (afterReset === undefined && resetAt !== undefined && resetAt <= longest) {
    // One that was admitted in the very second that Reset names may have taken all that was given back.
    const isAtReset =
      afterRetryAfter !== undefined &&
      isAdmitted(afterRetryAfter) &&
      afterRetryAfter.sentAt >= resetAt - 2 * SECOND;
    afterReset = isAtReset ? afterRetryAfter : await askAt(resetAt, 'X-RateLimit-Reset');
  }
  return { obeyed, afterRetryAfter, afterReset };
}

/**
 * Asks again where the first answer is no more than bad luck. What is given back bit by bit may be taken by somebody
 * else, or by another scene, right before this request. Its refusal then names a later reset: it is waited for once
 * more. A window that is full again at once cannot be emptied so: there the first answer stands.
 */
async function askPatiently(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  ask: Ask,
): Promise<AnsweredExchange> {
  const { perMinute } = key.limits;
  const refused = rateReading(refusal);
  const first = await ask();
  let answer = first;
  for (let turn = 0; turn < 3 && !isAdmitted(answer); turn += 1) {
    const { reset } = rateReading(answer);
    if (answer.outcome.status !== 429 || refused.limit !== perMinute) return first;
    if (refused.reset === undefined || reset === undefined || reset <= refused.reset) return first;
    const at = toldRetry(probe.trace, key.limits, answer);
    if (at === undefined || at <= answer.receivedAt || at > answer.receivedAt + MINUTE) return first;
    await probe.waitUntil(at, `Retry-After of key ${key.name}`);
    answer = await ask();
  }
  if (!isAdmitted(answer)) return first;
  const ownBetween = admittedOn(probe.trace, key, refusal.receivedAt).some(({ id }) => id !== answer.id);
  return ownBetween || isFresh(rateReading(answer), perMinute) !== true ? answer : first;
}
