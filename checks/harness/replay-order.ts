import type { Exchange } from './exchange.ts';

/**
 * Hands out stored exchanges in the order in which they were received, whichever lane asks first: what came in between
 * decides what a check does next, so that a run that is gone through again takes the same way.
 */
export class ReplayOrder {
  readonly #positions: ReadonlyMap<string, number>;
  readonly #asked: { readonly exchange: Exchange; readonly take: (exchange: Exchange) => void }[] = [];
  #turning = false;

  /** @param recorded in the order of receipt, by id */
  constructor(recorded: ReadonlyMap<string, Exchange> = new Map()) {
    this.#positions = new Map([...recorded.keys()].map((id, position) => [id, position]));
  }

  /** Resolves when no exchange that somebody waits for was received before this one. */
  async turnOf(exchange: Exchange): Promise<Exchange> {
    return new Promise((take) => {
      this.#asked.push({ exchange, take });
      if (this.#turning) return;
      this.#turning = true;
      setImmediate(() => this.#turn());
    });
  }

  /** One exchange a turn of the event loop: whoever got it asks for the next before another one is handed out. */
  #turn(): void {
    let first = 0;
    for (const [index, { exchange }] of this.#asked.entries()) {
      if (this.#positionOf(exchange) < this.#positionOf(this.#asked[first]?.exchange)) first = index;
    }
    const [next] = this.#asked.splice(first, 1);
    if (next === undefined) {
      this.#turning = false;
      return;
    }
    next.take(next.exchange);
    setImmediate(() => this.#turn());
  }

  #positionOf(exchange: Exchange | undefined): number {
    return (exchange && this.#positions.get(exchange.id)) ?? Number.POSITIVE_INFINITY;
  }
}
