import type { Exchange } from '../wire/exchange.ts';

/** Somebody who goes on when it is his turn. */
interface Waiting {
  readonly position: number;
  readonly goOn: () => void;
}

/**
 * Hands out stored exchanges in the order in which they were received, whichever lane asks first, and lets whoever
 * waited go on after those that were received meanwhile: what came in between decides what a check does next, so that a
 * run that is gone through again takes the same way.
 */
export class ReplayOrder {
  readonly #positions: ReadonlyMap<string, number>;
  /** When each exchange was received, none before one that stands earlier. */
  readonly #received: readonly number[];
  readonly #waiting: Waiting[] = [];
  #turning = false;

  /** @param recorded in the order of receipt, by id */
  constructor(recorded: ReadonlyMap<string, Exchange> = new Map()) {
    this.#positions = new Map([...recorded.keys()].map((id, position) => [id, position]));
    let latest = 0;
    this.#received = [...recorded.values()].map(({ receivedAt }) => {
      latest = Math.max(latest, receivedAt);
      return latest;
    });
  }

  /** Resolves when no exchange that somebody waits for was received before this one. */
  async turnOf(exchange: Exchange): Promise<Exchange> {
    await this.#turnAt(this.#positions.get(exchange.id) ?? Number.POSITIVE_INFINITY);
    return exchange;
  }

  isAmongFirst(count: number, id: string): boolean {
    return (this.#positions.get(id) ?? count) < count;
  }

  /** Resolves when no exchange that somebody waits for is one of the first so many. */
  async turnAfterFirst(count: number): Promise<void> {
    await this.#turnAt(count - 0.5);
  }

  /** Resolves when no exchange that somebody waits for was received until then. */
  async turnAfter(time: number): Promise<void> {
    await this.turnAfterFirst(this.#receivedUntil(time));
  }

  /**
   * Resolves when nobody waits for a stored exchange any more. What is sent sooner would be answered before others have
   * what they got at that time.
   */
  async end(): Promise<void> {
    if (this.#turning) await this.#turnAt(Number.POSITIVE_INFINITY);
  }

  #turnAt(position: number): Promise<void> {
    return new Promise((goOn) => {
      this.#waiting.push({ position, goOn });
      if (this.#turning) return;
      this.#turning = true;
      setImmediate(() => this.#turn());
    });
  }

  /** One a turn of the event loop: whoever went on asks for the next before another one does. */
  #turn(): void {
    let first = 0;
    for (const [index, { position }] of this.#waiting.entries()) {
      if (position < (this.#waiting[first]?.position ?? 0)) first = index;
    }
    const [next] = this.#waiting.splice(first, 1);
    if (next === undefined) {
      this.#turning = false;
      return;
    }
    next.goOn();
    setImmediate(() => this.#turn());
  }

  /** How many exchanges were received until then. */
  #receivedUntil(time: number): number {
    let [from, to] = [0, this.#received.length];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if ((this.#received[middle] ?? 0) <= time) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
