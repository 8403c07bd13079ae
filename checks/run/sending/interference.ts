/** What comes in place of a check's answer: refusals that somebody else earned, a target that is away. */

import { groupBy } from '../../../spec/group-by.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, toldTime } from '../../limits/told-time.ts';
import {
  type AnsweredExchange,
  type Exchange,
  isAnswered,
  mayHaveArrived,
  wasInterrupted,
} from '../../wire/exchange.ts';
import { retryAfter } from '../../wire/rate-headers.ts';
import { daySpent, Inconclusive } from '../reason.ts';
import type { Sender } from './sender.ts';
import { showsPresence, UNAVAILABLE } from './target-presence.ts';

/** A refusal that is nobody's subject is waited out this often before the check gives up. */
const INTERFERENCE_RETRIES = 3;
/** The longest wait that an unexpected 429 may ask for, a window and its rounding; beyond it the check gives up. */
const LONGEST_INTERFERENCE = 2 * MINUTE;
/** Waits of one key without any of its requests being admitted, over all checks: more would be spent in vain. */
const WAITS_IN_VAIN = 9;
/** How often a request is sent that gets no answer. */
export const UNANSWERED_ATTEMPTS = 3;

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** What a check ends with where an exchange brought no complete response. */
export function unanswered(exchange: Exchange): Inconclusive {
  const message = exchange.outcome.kind === 'failure' ? exchange.outcome.message : 'no answer was read';
  if (wasInterrupted(exchange))
    return new Inconclusive({ kind: 'ended', by: 'interruption', what: message }, [exchange]);
  return new Inconclusive({ kind: 'lost', what: `no answer: ${message}` }, [exchange]);
}

interface Attempt {
  /** How often it was sent, from 1. */
  readonly number: number;
  /** Whether an addition can be sent again as another animal. */
  readonly hasAnother: boolean;
  readonly hasPayers: boolean;
  /** Asks the target for anything, in the same way. */
  readonly ask: () => Promise<Exchange>;
}

/**
 * The target's own answer. Undefined where something else came in its place, and the request is to be sent again now.
 *
 * @throws Inconclusive where that has gone on for too long
 */
export async function ownAnswer(
  sender: Sender,
  exchange: Exchange,
  attempt: Attempt,
): Promise<AnsweredExchange | undefined> {
  if (!isAnswered(exchange)) await untilPresent(sender, exchange, attempt);
  else if (exchange.outcome.status === 429) await untilAdmitted(sender, exchange, attempt);
  else if (attempt.number === 1 && UNAVAILABLE.has(exchange.outcome.status)) {
    const what = `the target, which answered ${exchange.outcome.status}`;
    await sender.waitUntil(exchange.receivedAt + SECOND, what);
  } else return exchange;
  return undefined;
}

/** Waits out a 429 that somebody else earned, as long as that may take. */
async function untilAdmitted(
  sender: Sender,
  refusal: AnsweredExchange,
  { number, hasPayers }: Attempt,
): Promise<void> {
  const { key, outcome } = refusal;
  const { trace } = sender;
  const lane = sender.laneOf(refusal);
  if (lane !== undefined && isForDay(trace, refusal, lane.key.limits)) {
    lane.spent = daySpent(trace, refusal);
    if (hasPayers && sender.payers().length > 0) return;
    throw new Inconclusive(lane.spent, [refusal]);
  }
  const told = retryAfter(outcome.headers, MINUTE / SECOND);
  const until = toldUntil(sender, refusal);
  const waits = sender.waitsInVain.get(key) ?? 0;
  const isTooLong = until - refusal.receivedAt > LONGEST_INTERFERENCE;
  if (number > INTERFERENCE_RETRIES || isTooLong || waits >= WAITS_IN_VAIN) {
    const asks = told.kind === 'absent' ? '' : `, and Retry-After says ${shortened(told.text)}`;
    const early = `of ${lane?.key.limits.perMinute} a minute although the check had quota left`;
    const why =
      key === null
        ? `429 for a request without a key: the target limits those as well${asks}`
        : ({ kind: 'interference', key, what: `429 for key ${key} ${early}${asks}` } as const);
    throw new Inconclusive(why, [refusal]);
  }
  lane?.refusedUntil(until);
  sender.waitsInVain.set(key, waits + 1);
  // A key's turn comes when its lane is ready; until then another key may be.
  if (lane === undefined)
    await sender.waitUntil(until, 'Retry-After of a request without a key, which the target limits as well');
}

/** When a refusal says to come back; one that does not say is taken to be for the minute. */
function toldUntil({ trace }: Sender, { outcome, receivedAt }: AnsweredExchange): number {
  const told = retryAfter(outcome.headers, MINUTE / SECOND);
  return toldTime(trace, told, receivedAt) ?? receivedAt + MINUTE;
}

/** Leaves a key alone that is refused altogether, as a banned one is; others may pay meanwhile. */
export function holdBack(sender: Sender, refusal: AnsweredExchange): void {
  const until = Math.min(toldUntil(sender, refusal), refusal.receivedAt + LONGEST_INTERFERENCE);
  sender.laneOf(refusal)?.refusedUntil(until);
}

/**
 * Waits until a request that was not answered can be sent again. One that can do no harm is sent again at once, since a
 * connection may break, and once more where the target was away and has come back. Another request tells whether it
 * is away. An addition is repeated twice while the target is there, a few times in a run: a kept connection may be
 * closed just as a request is sent (RFC 9112, 9.6), and nobody knows whether the target handled it.
 */
async function untilPresent(
  sender: Sender,
  lost: Exchange,
  { number, hasAnother, ask }: Attempt,
): Promise<void> {
  const isHarmless = lost.request.method === 'GET';
  if (wasInterrupted(lost) || showsPresence(lost)) throw unanswered(lost);
  if (isHarmless && number === 1) {
    const isBusy = lost.outcome.kind === 'failure' && lost.outcome.reason === 'unavailable';
    const pause = isBusy ? sender.presence.pause(1) : 0;
    await sender.waitUntil(lost.receivedAt + pause, 'the target, which is unavailable');
    return;
  }
  if (lost.intent === 'preflight') throw unanswered(lost);
  const wasAway = await waitForTarget(sender, ask);
  // Whoever has no key adds nothing.
  const mayAdd = () => lost.key === null || (hasAnother && sender.repeatsAddition());
  if (number >= UNANSWERED_ATTEMPTS || !(isHarmless ? wasAway : mayAdd())) throw unanswered(lost);
}

/**
 * Asks until the target answers anything; the run gives up on it once its patience is over.
 *
 * @returns whether it was away
 */
async function waitForTarget(sender: Sender, ask: () => Promise<Exchange>): Promise<boolean> {
  const { presence } = sender;
  for (let look = 1; ; look += 1) {
    const exchange = await ask();
    if (showsPresence(exchange)) return look > 1;
    if (wasInterrupted(exchange)) throw unanswered(exchange);
    sender.throwIfEnded();
    await sender.waitUntil(exchange.receivedAt + presence.pause(look), 'the target, which does not answer');
  }
}

/** What the network cost a run, in a sentence; none where every request was answered. */
export function lossesIn(exchanges: readonly Exchange[]): readonly string[] {
  const failed = exchanges.filter((exchange) => !isAnswered(exchange) && !wasInterrupted(exchange));
  if (failed.length === 0) return [];
  const lost = [...groupBy(failed, ({ request }) => request.operation)];
  const which = lost.map(([operation, { length }]) => `${operation} ${length}×`).join(', ');
  const unsent = failed.filter((exchange) => !mayHaveArrived(exchange)).length;
  return [
    `requests without an answer, repeated where that does no harm: ${failed.length}, of which ${unsent} found no connection (${which})`,
  ];
}
