/** What comes in place of a check's answer: refusals that somebody else earned, a target that is away. */

import { MINUTE } from '../../limits/time.ts';
import { isForDay } from '../../limits/told-time.ts';
import { type Exchange, isAnswered, wasInterrupted } from '../../wire/exchange.ts';
import { retryAfter } from '../../wire/rate-headers.ts';
import { Inconclusive, RunEnded } from '../inconclusive.ts';
import { daySpent } from '../reason.ts';
import type { Sender } from './sender.ts';
import { showsPresence, UNAVAILABLE } from './target-presence.ts';

/** A refusal that is nobody's subject is waited out this often before the check gives up. */
const INTERFERENCE_RETRIES = 3;
/** The longest wait that an unexpected 429 may ask for, a window and its rounding; beyond it the check gives up. */
const LONGEST_INTERFERENCE = 2 * MINUTE;
/** Waits of one key without any of its requests being admitted, over all checks: more would be spent in vain. */
const WAITS_IN_VAIN = 9;

/** A header's value in a message. */
const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

const isUnavailable = ({ outcome }: Exchange) =>
  outcome.kind === 'failure' && outcome.reason === 'unavailable';

/** What a check ends with where an exchange brought no complete response. */
export function unanswered(exchange: Exchange): Inconclusive {
  const message = exchange.outcome.kind === 'failure' ? exchange.outcome.message : 'no answer was read';
  if (wasInterrupted(exchange))
    return new RunEnded({ kind: 'ended', by: 'interruption', what: message }, [exchange]);
  return new Inconclusive({ kind: 'lost', what: `no answer: ${message}` }, [exchange]);
}

/** A request that may have to be repeated. */
interface Repetition {
  /** How often it was sent, from 1. */
  readonly attempt: number;
  /** Asks the target for anything, in the same way. */
  readonly ask: () => Promise<Exchange>;
  /** Whether an addition can do no harm that is done twice. */
  readonly repeatable: boolean;
  /** Of the key's plan, where it has one. */
  readonly perMinute?: number;
}

/** What came of waiting for a target that did not answer. */
type Presence = 'there' | 'back';

/** Tells the target's own answers from what comes in their place, and waits until they may be had. */
export class Interference {
  readonly #sender: Sender;
  readonly #isPreflight: boolean;

  constructor(sender: Sender, isPreflight: boolean) {
    this.#sender = sender;
    this.#isPreflight = isPreflight;
  }

  /**
   * Whether the exchange is to be repeated because something other than the target's own answer came.
   *
   * @throws Inconclusive where that has gone on for too long
   */
  async repeats(exchange: Exchange, repetition: Repetition): Promise<boolean> {
    const { attempt, perMinute } = repetition;
    if (!isAnswered(exchange)) return this.#repeatsUnanswered(exchange, repetition);
    const { status, headers } = exchange.outcome;
    if (UNAVAILABLE.has(status) && attempt < 2) {
      await this.#sender.waitUntil(exchange.receivedAt + 1000, `the target, which answered ${status}`);
      return true;
    }
    if (status !== 429) return false;
    const lane = this.#sender.laneOf(exchange);
    if (lane !== undefined && isForDay(this.#sender.trace, exchange, lane.key.limits)) {
      lane.spent = daySpent(this.#sender.trace, exchange);
      throw new Inconclusive(lane.spent, [exchange]);
    }
    const told = retryAfter(headers, 60);
    const until =
      told.kind === 'delay'
        ? exchange.receivedAt + told.milliseconds
        : told.kind === 'date'
          ? (this.#sender.trace.targetClock.certainlyReached(told.time) ?? exchange.receivedAt + MINUTE)
          : exchange.receivedAt + MINUTE;
    const who = exchange.key === null ? 'a request without a key' : `key ${exchange.key}`;
    const tooLong = until - exchange.receivedAt > LONGEST_INTERFERENCE;
    const waits = this.#sender.waitsInVain.get(exchange.key) ?? 0;
    if (attempt > INTERFERENCE_RETRIES || tooLong || waits >= WAITS_IN_VAIN) {
      const asks = told.kind === 'absent' ? '' : `, and Retry-After says ${shortened(told.text)}`;
      const why =
        exchange.key === null
          ? ': the target limits those as well'
          : ` of ${perMinute} a minute although the check had quota left`;
      const what = `429 for ${who}${why}${asks}`;
      throw new Inconclusive(
        exchange.key === null ? what : { kind: 'interference', key: exchange.key, what },
        [exchange],
      );
    }
    lane?.refusedUntil(until);
    this.#sender.waitsInVain.set(exchange.key, waits + 1);
    // A key's turn comes when its lane is ready; until then another key may be.
    if (lane === undefined)
      await this.#sender.waitUntil(until, `Retry-After of ${who}, which the target limits as well`);
    return true;
  }

  /**
   * Whether a request that was not answered is to be sent again. One that can do no harm is sent again at once, since a
   * connection may break, and once more where the target was away and has come back. Another request tells whether it
   * is away. An addition is repeated twice while the target is there, a few times in a run: a kept connection may be
   * closed just as a request is sent (RFC 9112, 9.6), and nobody knows whether the target handled it.
   *
   * @throws Inconclusive where no answer is to be had
   */
  async #repeatsUnanswered(
    exchange: Exchange,
    { attempt, ask, repeatable }: Omit<Repetition, 'perMinute'>,
  ): Promise<boolean> {
    const harmless = exchange.request.method === 'GET';
    if (wasInterrupted(exchange)) throw unanswered(exchange);
    if (showsPresence(exchange)) throw unanswered(exchange);
    if (harmless && attempt < 2) {
      const pause = isUnavailable(exchange) ? this.#sender.presence.pause(1) : 0;
      await this.#sender.waitUntil(exchange.receivedAt + pause, 'the target, which is unavailable');
      return true;
    }
    if (this.#isPreflight) throw unanswered(exchange);
    const presence = await this.#waitForTarget(ask);
    // Whoever has no key adds nothing.
    const mayRepeat = () => repeatable && (exchange.key === null || this.#sender.repeatsAddition());
    if (attempt < 3 && (harmless ? presence === 'back' : mayRepeat())) return true;
    throw unanswered(exchange);
  }

  /** Asks until the target answers anything; the run gives up on it once its patience is over. */
  async #waitForTarget(ask: () => Promise<Exchange>): Promise<Presence> {
    const { presence } = this.#sender;
    for (let look = 1; ; look += 1) {
      const exchange = await ask();
      if (showsPresence(exchange)) return look === 1 ? 'there' : 'back';
      if (wasInterrupted(exchange) || presence.gone !== undefined)
        throw new RunEnded(unanswered(exchange).reason, [exchange]);
      await this.#sender.waitUntil(
        exchange.receivedAt + presence.pause(look),
        'the target, which does not answer',
      );
    }
  }
}
