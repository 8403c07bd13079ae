/** What a target does after it refused a key for its minute, at the moments that it stated itself. */
import { LIMIT } from '../../../spec/operations.ts';
import { isFresh, isRefilling, mayGiveTooMuch, needsLater, type Refill } from '../../limits/refill.ts';
import { CLOCKS_APART } from '../../limits/target-clock.ts';
import { LONGEST_OF_MINUTE, MINUTE, SECOND } from '../../limits/time.ts';
import { toldRetry } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import type { SceneRun } from '../../run/scene.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { admittedOn, isAdmitted } from './key-spending.ts';

/** The requests after a refusal, and their answers. */
export interface AfterRefusal {
  readonly refusal: AnsweredExchange;
  /** Of the refusals of concurrent requests, the one that asks for the longest wait. */
  readonly obeyed: AnsweredExchange;
  /** All requests, in the order of sending. */
  readonly asked: readonly AnsweredExchange[];
  /** How quota came back. */
  readonly refill: Refill;
  /** Sent right after the time in Retry-After; undefined if that was not a time to wait for. */
  readonly afterRetryAfter: AnsweredExchange | undefined;
  /** Sent after X-RateLimit-Reset, by the target's clock. */
  readonly afterReset: AnsweredExchange | undefined;
}

/** By then a window of half a minute has given back everything, and one of a minute only a part. */
const GIVES_BACK_ALL = 40 * SECOND;

/** Sends a request and records its answer. */
type Ask = () => Promise<AnsweredExchange>;

/**
 * Waits after a refusal as told, and tries again at the two moments that the target stated.
 *
 * @param refusals the refusals of concurrent requests: each may lengthen the wait, or cause a ban
 */
export async function afterRefusal(
  run: SceneRun,
  key: Key,
  refusal: AnsweredExchange,
  refusals: readonly AnsweredExchange[],
): Promise<AfterRefusal> {
  const asked: AnsweredExchange[] = [];
  const ask = async () => {
    // This list would show an addition that was refused.
    const exchange = await run.attemptAnswered(listPets({ limit: LIMIT.maximum, status: 'sold' }), key);
    asked.push(exchange);
    return exchange;
  };
  const waitForQuota = (until: number) =>
    run.waitUntil(until, `quota that key ${key.name} may be given back`);

  const moments = await askAsTold(run, key, refusal, refusals, ask);
  const { perMinute } = key.limits;
  const [first] = admittedOn(run.trace, key, refusal.receivedAt);
  let refill: Refill = { perMinute, refused: rateReading(refusal), first };
  if (needsLater(refill)) {
    await waitForQuota(run.now() + Math.max(2 * SECOND, (4 * MINUTE) / perMinute));
    const later = await ask();
    if (isAdmitted(later)) refill = { ...refill, later: rateReading(later) };
  }
  if (isRefilling(refill) === true && mayGiveTooMuch(refill, asked.filter(isAdmitted).length)) {
    await waitForQuota(refusal.receivedAt + GIVES_BACK_ALL);
    await ask();
  }
  return { refusal, asked, refill, ...moments };
}

/** Tries again at the moments in Retry-After and X-RateLimit-Reset, if the run can wait for them. */
async function askAsTold(
  run: SceneRun,
  key: Key,
  refusal: AnsweredExchange,
  refusals: readonly AnsweredExchange[],
  ask: Ask,
): Promise<Pick<AfterRefusal, 'obeyed' | 'afterRetryAfter' | 'afterReset'>> {
  const retryAtOf = (refused: AnsweredExchange) => toldRetry(run.trace, key.limits, refused);
  const [obeyed = refusal] = refusals.toSorted((a, b) => (retryAtOf(b) ?? 0) - (retryAtOf(a) ?? 0));
  const retryAt = retryAtOf(obeyed);
  // A longer wait than in the first refusal may be a ban, which outlasts the limit that Reset describes.
  const firstRetryAt = retryAtOf(refusal);
  const isProlonged =
    retryAt !== undefined && firstRetryAt !== undefined && retryAt > firstRetryAt + 2 * SECOND;
  const resets = refusals
    .map(rateReading)
    .flatMap(({ limit, reset }) => (limit === key.limits.perMinute ? (reset ?? []) : []));
  // Whole seconds may be rounded down: the limit has reset once the second in Reset is over.
  const resetsAt =
    resets.length === 0 ? undefined : run.trace.targetClock.reached(Math.max(...resets) + SECOND);
  const resetAt = resetsAt === undefined || !isProlonged ? resetsAt : Math.max(resetsAt, retryAt);
  // Reset is in whole seconds, and so is Date.
  const longest = refusal.receivedAt + LONGEST_OF_MINUTE + CLOCKS_APART;
  const isWaitable = (at: number, { sentAt }: AnsweredExchange) => at > sentAt && at <= longest;
  const askAt = async (at: number, header: string) => {
    await run.waitUntil(at, `${header} of key ${key.name}`);
    return askPatiently(run, key, refusal, ask);
  };

  let afterRetryAfter: AnsweredExchange | undefined;
  let afterReset: AnsweredExchange | undefined;
  // Either time may have passed when a slow answer arrives; then the retry is sent at once.
  // The document calls Reset the time at which the limit resets. If it comes first, by more than the clocks of several
  // machines behind one address may differ, it is taken at its word.
  const isResetFirst = resetAt !== undefined && (retryAt === undefined || resetAt < retryAt - 2 * SECOND);
  if (isResetFirst && isWaitable(resetAt, refusal)) afterReset = await askAt(resetAt, 'X-RateLimit-Reset');
  if (retryAt !== undefined && isWaitable(retryAt, obeyed))
    afterRetryAfter = await askAt(retryAt, 'Retry-After');
  if (afterReset === undefined && resetAt !== undefined && resetAt <= longest) {
    // A request admitted in the very second of Reset may have taken all that was refilled.
    const isAtReset =
      afterRetryAfter !== undefined &&
      isAdmitted(afterRetryAfter) &&
      afterRetryAfter.sentAt >= resetAt - 2 * SECOND;
    afterReset = isAtReset ? afterRetryAfter : await askAt(resetAt, 'X-RateLimit-Reset');
  }
  return { obeyed, afterRetryAfter, afterReset };
}

/**
 * Tries again if the first answer may be bad luck. Gradually refilled quota may be taken by another client or scene
 * right before this request. The refusal then states a later reset, which is waited for once more. A window that is
 * refilled all at once cannot be emptied like this, so there the first answer stands.
 */
async function askPatiently(
  run: SceneRun,
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
    const at = toldRetry(run.trace, key.limits, answer);
    if (at === undefined || at <= answer.receivedAt || at > answer.receivedAt + MINUTE) return first;
    await run.waitUntil(at, `Retry-After of key ${key.name}`);
    answer = await ask();
  }
  if (!isAdmitted(answer)) return first;
  const ownBetween = admittedOn(run.trace, key, refusal.receivedAt).some(({ id }) => id !== answer.id);
  return ownBetween || isFresh(rateReading(answer), perMinute) !== true ? answer : first;
}
