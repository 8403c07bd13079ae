/** Fills a window to its first refusal, with hardly a request too many. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import { countWindow, fillingTime, quotaLeft, showsEdges } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { conclusionOf, Inconclusive } from '../../run/reason.ts';
import { IN_FLIGHT, type SceneRun } from '../../run/scene.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { admittedOn, firstRefusal, isAdmitted, isInTime, lostOn, restFromNow } from './key-spending.ts';

/** How far beyond the limit the run goes if nothing is refused. */
const BEYOND_LIMIT = 30;
/** A window that cannot be filled in this time cannot be counted. */
const LONGEST_FILL = 4 * MINUTE;
/** The share of answers that may be lost; beyond it, it is the target that does not answer. */
const LOST_AT_MOST = 1 / 3;
/** Real time that a fill may always take: a fast clock has short minutes, and a new process is slow. */
const REAL_TIME_TO_FILL = 20 * SECOND;

/** The next requests, as each is about to be sent: where it must be a short one, one whose answer is short. */
function* take(source: Generator<RequestSpec, never>, count: number, mustBeShort: () => boolean) {
  for (let left = count; left > 0; left -= 1)
    yield mustBeShort() ? listPets({ limit: 1 }) : source.next().value;
}

const answered = (exchanges: readonly Exchange[]) => exchanges.filter(isAnswered);

function lost(exchange: Exchange | undefined): Inconclusive {
  const why = exchange?.outcome.kind === 'failure' ? exchange.outcome.message : 'no answer';
  return new Inconclusive(`the count was disturbed: ${why}`, exchange === undefined ? [] : [exchange]);
}

/** A window while it is being filled. */
function openWindow(run: SceneRun, key: Key, since: number) {
  const { perMinute } = key.limits;
  const sent: AnsweredExchange[] = [];
  /** Requests at the limit that got no answer, one after the other. */
  let closed: readonly Exchange[] = [];
  /** Requests that got no answer and may have been admitted. */
  const notAnswered = [...lostOn(run.trace, key.name, since)];
  /** The admitted requests: all that this run sent on the key, including those of other scenes. */
  const admitted = () => admittedOn(run.trace, key, since);
  const count = () => countWindow(admitted(), perMinute, notAnswered.length);
  const isFull = () => count().verdict.kind !== 'fewer';
  const refusals = () => sent.filter((exchange) => !isAdmitted(exchange));

  const keep = (exchanges: readonly Exchange[]) => {
    const complete = answered(exchanges);
    if (complete.length < exchanges.length) {
      const unanswered = exchanges.filter((exchange) => !isAnswered(exchange));
      const [broken] = unanswered;
      // At the limit a closed connection may be the target's refusal; a second one tells it from an accident. A
      // gateway's answer in the target's place is not a refusal.
      const refuses = broken?.outcome.kind === 'failure' && broken.outcome.reason !== 'unavailable';
      if (broken !== undefined && refuses && isFull() && closed.length < 2) closed = [...closed, broken];
      else {
        const most = LOST_AT_MOST * (sent.length + complete.length) + 2;
        if (notAnswered.push(...unanswered) > most) throw lost(broken);
      }
    }
    // If a request in between is served, that was no refusal: a target that refuses by closing does so every time.
    if (complete.some(isAdmitted)) closed = [];
    sent.push(...complete);
  };

  return {
    sent,
    admitted,
    count,
    isFull,
    refusals,
    /** The first of two requests over the limit that got no answer. */
    closed: () => (closed.length >= 2 ? closed[0] : undefined),
    /** A lost request that leaves it open how many were admitted. */
    lost() {
      const mayBeFull = count().admitted.length + notAnswered.length >= perMinute;
      return !isFull() && mayBeFull ? notAnswered[0] : undefined;
    },
    /** Whether the target has shown the end of the window. */
    isOver: () => refusals().length > 0 || closed.length >= 2,
    async send(specs: Iterable<RequestSpec>, inFlight: number) {
      const exchanges = await run.burst(specs, key, {
        inFlight,
        enough: (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
      });
      keep(exchanges);
      // A server error below the limit is not a refusal: its operation's check judges it, and the count is spoilt.
      const failed = answered(exchanges).find(({ outcome }) => outcome.status >= 500);
      if (failed !== undefined && !isFull())
        throw new Inconclusive(`the count was disturbed: ${described(failed)}`, [failed]);
    },
  };
}

/**
 * Fills a window; again from rest if it is unknown whether a request counts whose answer was lost. Where that is so again
 * the window shows no number, but still what a refusal is like, and what comes after it.
 *
 * @param from when this run's requests on the key count
 * @param last the request that meets the limit
 */
export async function fillUndisturbed(
  run: SceneRun,
  key: Key,
  requests: Generator<RequestSpec, never>,
  from: number,
  last: RequestSpec,
): Promise<FilledWindow> {
  const fill = (since: number) => run.lane(key).reserveFor(() => fillWindow(run, key, requests, since, last));
  const window = await conclusionOf(fill(from));
  if (!(window instanceof Inconclusive)) {
    const again = { took: fillingTime(window.count.all), isSecond: true };
    if (window.lost === undefined || !isInTime(run, run.now() + 2 * MINUTE, again)) return window;
  } else if (window.evidence.every(isAnswered)) throw window;
  // A sliding window counter still holds part of what was sent.
  await restFromNow(run, key, 2);
  return fill(run.now());
}

/**
 * Sends requests until the first refusal. First as many at once as the target says are left; then just enough at a time
 * to outrun a token bucket's refill. Hardly any request is then in flight when the limit is reached.
 */
async function fillWindow(
  run: SceneRun,
  key: Key,
  requests: Generator<RequestSpec, never>,
  since: number,
  last: RequestSpec,
) {
  const { perMinute } = key.limits;
  const window = openWindow(run, key, since);
  if (window.admitted().length === 0) await window.send([listPets({ limit: 1 })], 1);
  const startedAt = run.now();
  const elapsed = () => run.now() - startedAt;
  // A token bucket refills while it is emptied, the more so the slower the target; so does a window at a hidden edge.
  const bound = () => {
    const meanwhile =
      ((run.now() - since) * perMinute) / MINUTE + (showsEdges(window.count()) ? 0 : perMinute);
    return perMinute + BEYOND_LIMIT + Math.ceil(perMinute / 10) + meanwhile;
  };
  const longest = Math.max(LONGEST_FILL, REAL_TIME_TO_FILL * run.facts.clockSpeed);
  const isGivenUp = () => window.count().admitted.length >= bound() || elapsed() >= longest;
  let begun = 0;
  // Where the link, not the target, sets the pace, the rest of the minute would not come through in time.
  const isSlow = () => elapsed() * perMinute > (MINUTE / 2) * ++begun;
  let atLimit = 0;
  let sentBefore = 0;
  let firstId = window.count().admitted[0]?.id;
  // All that is left at once, and again after a window edge; then one by one until the limit is reached.
  while (!window.isOver() && !isGivenUp()) {
    const left = quotaLeft(window.admitted(), perMinute, IN_FLIGHT);
    if (left > 0 && !window.isFull()) {
      await window.send(take(requests, left, isSlow), IN_FLIGHT);
      continue;
    }
    // A new window has begun; its first refusal is still to come.
    const current = window.count().admitted[0]?.id;
    if (current !== firstId) atLimit = 0;
    firstId = current;
    if (atLimit === 0) sentBefore = window.sent.length;
    const together = togetherAtLimit(window.sent, perMinute, atLimit);
    await window.send(atLimit === 0 ? [last] : take(requests, together, isSlow), together);
    atLimit += 1;
  }
  const { sent } = window;
  const refusals = window.refusals();
  const refusal = firstRefusal(refusals);
  const count = window.count();
  // Another operation was admitted at the limit, and the very next list was refused. If a token bucket's refill may
  // have paid for it, it was within the limit.
  const isServedOver = last.operation !== 'listPets' && atLimit === 2 && count.verdict.kind === 'more';
  const served = isServedOver ? sent[sentBefore] : undefined;
  return {
    count,
    /** The first refusal, a 429 if there is one; undefined if nothing was refused within the bound. */
    refusal,
    last: sent.at(-1),
    /** All refusals. Requests in flight at the limit may cause several, and these a ban. */
    refusals,
    /** A request of another operation that was served over the limit, right before a list was refused. */
    servedOver: served === refusal ? undefined : served,
    /** The first of two requests over the limit that got no answer at all, while other keys did. */
    closed: window.closed(),
    /** A request whose answer was lost, if it may have been admitted and Remaining does not say so. */
    lost: window.lost(),
  };
}

/** A window that was filled to the first refusal. */
export type FilledWindow = Readonly<Awaited<ReturnType<typeof fillWindow>>>;

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
