import { type Exchange, isAnswered } from '../../wire/exchange.ts';
import { described, looksLikeTheService } from '../../wire/pets.ts';

/** How long a target that answers nothing any more is waited for, in real milliseconds: a restart, a deployment. */
export const PATIENCE = 60_000;
/** One lost answer, or two, are no sign that the target has gone. */
const LOST_BEFORE_GONE = 3;
/** Pauses between two looks at a target that does not answer, in real milliseconds; the last one again and again. */
const PAUSES = [1000, 2000, 4000, 8000, 15_000];

/**
 * What a target that is busy answers for the time being, and a gateway for a server that it does not reach; any other 5xx
 * is a target's last word.
 */
export const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** The request did not arrive in time (RFC 9110, 15.5.9), which a slow link explains. */
const REQUEST_TIMEOUT = 408;

/**
 * The exchange, or a failure in its place where a gateway answered: a 502, 503 or 504 that bears no sign of the interface
 * comes from something in front of the target, and shows that the target gave no answer. Nor is a 408 one.
 */
export function withGatewayAsFailure(exchange: Exchange): Exchange {
  if (!isAnswered(exchange)) return exchange;
  const { status } = exchange.outcome;
  const isLate = status === REQUEST_TIMEOUT;
  if (!isLate && (!UNAVAILABLE.has(status) || looksLikeTheService(exchange))) return exchange;
  const what = isLate ? 'the request did not arrive in time' : 'a gateway answers in its place';
  const message = `${what}, ${described(exchange)}`;
  return { ...exchange, outcome: { kind: 'failure', reason: 'unavailable', message } };
}

/** Whether the target is there, be it with an answer that is too long to read. */
export const showsPresence = ({ outcome }: Exchange) =>
  outcome.kind === 'response' || outcome.reason === 'too-large';

/** Whether the target still answers, from the exchanges as they end. Times are the run's clock's. */
export class TargetPresence {
  readonly #patience: number;
  readonly #speed: number;
  #lost = 0;
  #silentSince = 0;
  /** Why nothing is sent any more, once the target was waited for long enough; it stays so. */
  gone: string | undefined;

  /**
   * @param speed of the run's clock
   * @param patience real milliseconds
   */
  constructor(speed: number, patience = PATIENCE) {
    this.#speed = speed;
    this.#patience = patience;
  }

  note(exchange: Exchange): void {
    const { outcome, sentAt, receivedAt } = exchange;
    if (outcome.kind === 'response' || showsPresence(exchange)) {
      this.#lost = 0;
      return;
    }
    if (outcome.reason === 'interrupted') return;
    this.#lost += 1;
    if (this.#lost === 1) this.#silentSince = sentAt;
    const silent = (receivedAt - this.#silentSince) / this.#speed;
    if (this.#lost < LOST_BEFORE_GONE || silent < this.#patience) return;
    this.gone ??= `the target stopped answering: ${outcome.message}; ${this.#lost} requests in a row, for ${Math.round(silent / 1000)} s`;
  }

  /** How long to wait before the `look`th look (from 1 on) at a target that does not answer, by the run's clock. */
  pause(look: number): number {
    const pause = PAUSES[Math.min(look, PAUSES.length) - 1] ?? 0;
    return Math.min(pause, this.#patience / 4) * this.#speed;
  }
}
