/** What a run has spent on a key, and how the key comes to a state in which its minute can be counted: all is known. */
import { cameBackAtOnce } from '../../limits/refill.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isAdmittedStatus } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { notTold, type Reason } from '../../run/reason.ts';
import type { SceneRun } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, type Exchange, isAnswered, mayHaveArrived } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';

/** Whether the minute admitted a request: its answer is below 400, or an error about the request itself. */
export const isAdmitted = ({ outcome }: AnsweredExchange): boolean => isAdmittedStatus(outcome.status);

/** Why nothing can be told of what follows a refusal: a plan's minute that is too large explains it. */
export const neverRefused = ({ name, plan }: Key): Reason =>
  notTold(`no request of key ${name} was refused`, `rate-minute-${plan}`);

/** Whether a request with a valid key was refused for the key itself, as a banned one is. */
export const refusesKey = ({ outcome }: AnsweredExchange): boolean =>
  outcome.status === 401 || outcome.status === 403;

/** The first of some refusals: answers may overtake each other, and a 429 of the limit precedes a ban with another status. */
export const firstRefusal = (refused: readonly AnsweredExchange[]): AnsweredExchange | undefined =>
  refused.find(({ outcome }) => outcome.status === 429) ?? refused[0];

/** The admitted requests of this run on a key since a moment, from a run or a trace. */
export const admittedOn = (known: Trace, key: Key, since?: number): RateReading[] =>
  known.readingsOf(key, since).filter(({ status }) => isAdmittedStatus(status));

/** The requests on a key that got no answer, may have been counted, and were under way between two moments. */
export const lostOn = (
  { exchanges }: Trace,
  key: string | null,
  since: number,
  until = Number.POSITIVE_INFINITY,
): readonly Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.key === key &&
      !isAnswered(exchange) &&
      mayHaveArrived(exchange) &&
      exchange.receivedAt >= since &&
      exchange.sentAt <= until,
  );

/** A burst on a target of ordinary speed takes less, so that what was sent before it still counts with it. */
const BURST = 10 * SECOND;

/** A gate waits no longer for a run without days. */
const LONGEST_RUN = 5 * MINUTE;

/** A window that is filled once more, since others do not tell enough. */
export interface Another {
  /** How long it took to fill the last one, in milliseconds. */
  readonly took: number;
  /** Whether it is the second: without it the first tells nothing. Any other leaves time for what a run asks in the end. */
  readonly isSecond: boolean;
  /** How long the key rests: two in any case, or one where it is not known from when its requests count. */
  readonly minutes?: 1 | 2;
}

/** Whether a window that begins at this moment leaves a run short enough; one that spends days has all the time. */
export const isInTime = (run: SceneRun, at: number, { took, isSecond }: Another): boolean =>
  run.facts.permissions.has('day') ||
  at + took + BURST + (isSecond ? 0 : MINUTE) <= run.beganAt + LONGEST_RUN;

/**
 * From when the requests of this run on a key count, none of which is given back yet: those since it was at rest for a
 * minute, or since a refusal after which its whole limit was there at once. Undefined where the first of them was too
 * long ago for that, or the key was refused since.
 */
function sinceRest(run: SceneRun, key: Key): number | undefined {
  const { perMinute } = key.limits;
  const readings = run.trace.readingsOf(key);
  const isRecent = ({ sentAt }: RateReading) => sentAt > run.now() - MINUTE + BURST;
  const refusedAt = readings.findLastIndex(({ status }) => !isAdmittedStatus(status));
  const [refused, again] = readings.slice(Math.max(0, refusedAt), refusedAt + 2);
  const isBack = refused?.status === 429 && cameBackAtOnce({ perMinute, refused, first: again }) === true;
  if (isBack && again !== undefined && isRecent(again)) return refused.receivedAt;
  const index = readings.findLastIndex(
    ({ sentAt }, at) => sentAt - (readings[at - 1]?.receivedAt ?? 0) >= MINUTE,
  );
  const first = readings[index];
  if (first === undefined) return run.now();
  const isKnown = index > refusedAt && isRecent(first);
  return isKnown && (index === 0 || lostOn(run.trace, key.name, first.sentAt - MINUTE).length === 0)
    ? first.sentAt
    : undefined;
}

/**
 * When the key will have made no request for a whole minute: every kind of window is then fresh, but for a counter
 * that slides and counts part of the minute before; that one starts from zero after two, or a minute after its window.
 * A clock-aligned window ends when Reset said, and every minute after that. Where the next such edge is near, the rest
 * lasts until then, so that it does not fall into the burst.
 */
function restedAt(run: SceneRun, key: Key, minutes: 1 | 2 = 1): number {
  const [last, before] = run.trace.readingsOf(key).slice(-2).reverse();
  const { receivedAt = 0, limit, reset } = last ?? {};
  const isTold = reset !== undefined && limit === key.limits.perMinute;
  const resets = isTold ? run.trace.targetClock.reached(reset + SECOND) : 0;
  // What several answers tell is the end of a window, not the next request that is admitted.
  const isWindow = minutes === 2 && isTold && reset === before?.reset;
  const atMost = receivedAt + minutes * MINUTE;
  const rested = SECOND + (isWindow ? Math.min(atMost, Math.max(receivedAt, resets) + MINUTE) : atMost);
  const toEdge = MINUTE - ((rested - resets) % MINUTE);
  return isTold && toEdge < BURST ? rested + toEdge : rested;
}

async function restUntil(run: SceneRun, key: Key, at: number): Promise<number> {
  await run.waitUntil(at, `key ${key.name} to be at rest`);
  return run.now();
}

/** From when a key's requests count: where that is not known, it rests for a minute. */
export const knownSince = async (run: SceneRun, key: Key): Promise<number> =>
  sinceRest(run, key) ?? restUntil(run, key, restedAt(run, key));

/** From when a key's requests count for another window; undefined where the run would take too long. */
export async function knownAgain(run: SceneRun, key: Key, how: Another): Promise<number | undefined> {
  const { minutes = 1 } = how;
  const known = minutes === 2 ? undefined : sinceRest(run, key);
  const at = restedAt(run, key, minutes);
  return known ?? (isInTime(run, at, how) ? restUntil(run, key, at) : undefined);
}

/** Waits a minute or two from now, because the key may have spent more than is on record. */
export async function restFromNow(run: SceneRun, key: Key, minutes = 1): Promise<void> {
  await run.waitUntil(run.now() + minutes * MINUTE + SECOND, `key ${key.name} to be at rest for a minute`);
}
