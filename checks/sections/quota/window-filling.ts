/** Fills a window to its first refusal, with hardly a request too many. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, tellsDay } from '../../limits/told-time.ts';
import {
  countWindow,
  fillingTime,
  quotaLeft,
  showsEdges,
  type WindowCount,
} from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { conclusionOf, Inconclusive } from '../../run/inconclusive.ts';
import { daySpent } from '../../run/reason.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { admittedOn, firstRefusal, isAdmitted, lostOn } from './admitted.ts';
import { isInTime, restFromNow } from './key-at-rest.ts';

/** How many requests are in flight at once while a window is filled. */
export const IN_FLIGHT = 50;
/** How far beyond the limit the run goes if nothing is refused. */
const BEYOND_LIMIT = 30;
/** A window that cannot be filled in this time cannot be counted. */
const LONGEST_FILL = 4 * MINUTE;
/** The share of answers that may be lost; beyond it, it is the target that does not answer. */
const LOST_AT_MOST = 1 / 3;
/** Real time that a fill may always take: a fast clock has short minutes, and a new process is slow. */
const REAL_TIME_TO_FILL = 20 * SECOND;

/** The request where nothing else is asked for. */
const SHORT_LIST = listPets({ limit: 1 });

/** A window that was filled to the first refusal. */
export interface FilledWindow {
  readonly count: WindowCount;
  /** The first refusal, a 429 if there is one; undefined if nothing was refused within the bound. */
  readonly refusal: AnsweredExchange | undefined;
  readonly last: AnsweredExchange | undefined;
  /** All refusals. Requests in flight at the limit may cause several, and these a ban. */
  readonly refusals: readonly AnsweredExchange[];
  /** A request of another operation that was served over the limit, right before a list was refused. */
  readonly servedOver: AnsweredExchange | undefined;
  /** The first of two requests over the limit that got no answer at all, while other keys did. */
  readonly closed: Exchange | undefined;
  /** A request whose answer was lost, if it may have been admitted and Remaining does not say so. */
  readonly lost: Exchange | undefined;
}

/** How to fill a window; by default with short lists. */
export interface Filling {
  readonly requests?: Iterator<RequestSpec>;
  /** The request that meets the limit. */
  readonly last?: RequestSpec;
}

/** The next requests, as each is about to be sent: where it must be a short one, one whose answer is short. */
function* take(source: Iterator<RequestSpec> | undefined, count: number, mustBeShort: () => boolean) {
  for (let left = count; left > 0; left -= 1) {
    const next = mustBeShort() ? undefined : source?.next();
    if (next?.done === true) return;
    yield next?.value ?? SHORT_LIST;
  }
}

/**
 * Sends requests until the first refusal. First as many at once as the target says are left; then just enough at a time
 * to outrun a token bucket's refill. Hardly any request is then in flight when the limit is reached.
 *
 * @param since from when this run's requests on the key count
 * @throws Inconclusive if the key is refused for its day, or too many answers are lost
 */
export async function fill(
  run: SceneRun,
  key: Key,
  since: number,
  filling: Filling = {},
): Promise<FilledWindow> {
  const window = await run.lane(key).reserveFor(() => fillWindow(run, key, since, filling));
  const { refusal, count } = window;
  if (refusal === undefined) return window;
  // Of a window that is full as well, only headers of the day tell that it was the day.
  const mayBeDay = count.verdict.kind === 'fewer' || tellsDay(refusal, key.limits);
  if (mayBeDay && isForDay(run.trace, refusal, key.limits))
    throw new Inconclusive(daySpent(run.trace, refusal), [refusal]);
  return window;
}

/**
 * Like `fill`; repeated from rest if it is unknown whether a request counts whose answer was lost. Where that is so again
 * the window shows no number, but still what a refusal is like, and what comes after it.
 */
export async function fillUndisturbed(
  run: SceneRun,
  key: Key,
  since: number,
  filling: Filling,
): Promise<FilledWindow> {
  const window = await conclusionOf(fill(run, key, since, filling));
  if (!(window instanceof Inconclusive)) {
    const again = { took: fillingTime(window.count.all), isSecond: true };
    if (window.lost === undefined || !isInTime(run, run.now() + 2 * MINUTE, again)) return window;
  } else if (window.evidence.every(isAnswered)) throw window;
  // A sliding window counter still holds part of what was sent.
  await restFromNow(run, key, 2);
  return fill(run, key, run.now(), filling);
}

async function fillWindow(
  run: SceneRun,
  key: Key,
  since: number,
  { requests, last = SHORT_LIST }: Filling,
): Promise<FilledWindow> {
  const { perMinute } = key.limits;
  const sent: AnsweredExchange[] = [];
  /** Requests that got no answer and may have been admitted. */
  const lost = [...lostOn(run.trace, key.name, since)];
  /** Requests at the limit that got no answer, one after the other. */
  const closed: Exchange[] = [];
  /** The admitted requests: all that this run sent on the key, including those of other scenes. */
  const admitted = () => admittedOn(run.trace, key, since);
  const count = () => countWindow(admitted(), perMinute, lost.length);
  const isFull = () => count().verdict.kind !== 'fewer';

  const send = async (specs: Iterable<RequestSpec>, inFlight: number) => {
    const exchanges = await run.burst(specs, key, {
      inFlight,
      enough: (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
    });
    const complete = exchanges.filter(isAnswered);
    const [broken, ...others] = exchanges.filter((exchange) => !isAnswered(exchange));
    if (broken?.outcome.kind === 'failure') {
      const { reason, message } = broken.outcome;
      // At the limit a closed connection may be the target's refusal; a second one tells it from an accident. A
      // gateway's answer in the target's place is not a refusal.
      if (reason !== 'unavailable' && isFull()) closed.push(broken);
      else if (lost.push(broken, ...others) > LOST_AT_MOST * (sent.length + complete.length) + 2)
        throw new Inconclusive(`the count was disturbed: ${message}`, [broken]);
    }
    // If a request in between is served, that was no refusal: a target that refuses by closing does so every time.
    if (complete.some(isAdmitted)) closed.length = 0;
    sent.push(...complete);
    // A server error below the limit is not a refusal: its operation's check judges it, and the count is spoilt.
    const failed = complete.find(({ outcome }) => outcome.status >= 500);
    if (failed !== undefined && !isFull())
      throw new Inconclusive(`the count was disturbed: ${described(failed)}`, [failed]);
  };

  if (admitted().length === 0) await send([SHORT_LIST], 1);
  const startedAt = run.now();
  const elapsed = () => run.now() - startedAt;
  // A token bucket refills while it is emptied, the more so the slower the target; so does a window at a hidden edge.
  const bound = () => {
    const meanwhile = ((run.now() - since) * perMinute) / MINUTE + (showsEdges(count()) ? 0 : perMinute);
    return perMinute + BEYOND_LIMIT + Math.ceil(perMinute / 10) + meanwhile;
  };
  const longest = Math.max(LONGEST_FILL, REAL_TIME_TO_FILL * run.facts.clockSpeed);
  const isGivenUp = () => count().admitted.length >= bound() || elapsed() >= longest;
  let begun = 0;
  // Where the link, not the target, sets the pace, the rest of the minute would not come through in time.
  const isSlow = () => elapsed() * perMinute > (MINUTE / 2) * ++begun;
  let atLimit = 0;
  let sentBefore = 0;
  let firstId = count().admitted[0]?.id;
  // All that is left at once, and again after a window edge; then one by one until the limit is reached.
  while (sent.every(isAdmitted) && closed.length < 2 && !isGivenUp()) {
    const left = quotaLeft(admitted(), perMinute, IN_FLIGHT);
    if (left > 0 && !isFull()) {
      await send(take(requests, left, isSlow), IN_FLIGHT);
      continue;
    }
    // A new window has begun; its first refusal is still to come.
    const current = count().admitted[0]?.id;
    if (current !== firstId) atLimit = 0;
    firstId = current;
    if (atLimit === 0) sentBefore = sent.length;
    const together = togetherAtLimit(sent, perMinute, atLimit);
    await send(atLimit === 0 ? [last] : take(requests, together, isSlow), together);
    atLimit += 1;
  }
  const refusals = sent.filter((exchange) => !isAdmitted(exchange));
  const refusal = firstRefusal(refusals);
  const filled = count();
  const { verdict } = filled;
  // Another operation was admitted at the limit, and the very next list was refused. If a token bucket's refill may
  // have paid for it, it was within the limit.
  const isServedOver = last.operation !== 'listPets' && atLimit === 2 && verdict.kind === 'more';
  const served = isServedOver ? sent[sentBefore] : undefined;
  const mayBeFull = verdict.kind === 'fewer' && filled.admitted.length + lost.length >= perMinute;
  return {
    count: filled,
    refusal,
    last: sent.at(-1),
    refusals,
    servedOver: served === refusal ? undefined : served,
    closed: closed.length >= 2 ? closed[0] : undefined,
    lost: mayBeFull ? lost[0] : undefined,
  };
}

/**
 * How many requests are sent at once at the limit. The next one should be refused, unless a token bucket refills a
 * token in the time that a request takes. Only then are several sent together, because each surplus request is a
 * refusal that may count towards a ban.
 */
function togetherAtLimit(sent: readonly AnsweredExchange[], perMinute: number, atLimit: number): number {
  const roundTrip = Math.max(0, ...sent.slice(-3).map(({ sentAt, receivedAt }) => receivedAt - sentAt));
  const refill = (perMinute * roundTrip) / MINUTE;
  return atLimit < 5 ? 1 : Math.min(IN_FLIGHT, Math.ceil(refill) + Math.floor(atLimit / 5));
}
