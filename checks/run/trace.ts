import { TargetClock } from '../limits/target-clock.ts';
import type { Key } from '../profile/key.ts';
import { type AnsweredExchange, type Exchange, isAnswered, mayHaveArrived } from '../wire/exchange.ts';
import { listedPets } from '../wire/pets.ts';
import { type RateReading, rateReading } from '../wire/rate-headers.ts';
import type { RunFacts } from './run-facts.ts';

/**
 * How an exchange is kept. Of uniform ones, after the first of their kind, a reading is enough; of those that their
 * scene tallies not even that is kept.
 */
export type Keeping = 'in-full' | 'uniform' | 'tallied';

/** Uniform exchanges of a burst are kept in full up to this many of each sender and status. */
const UNIFORM_KEPT = 2;
/** Of each key so many answers before the end of a process may have stood beside a request whose answer is lost. */
const MAY_STAND_BESIDE_LOST = 50;

/**
 * Whether an exchange is one of the document's: of its three operations, or an error on one of its paths for a method
 * that the path does not have ("all error responses", "every response"). Nothing is said of other paths.
 */
const isOfTheDocument = ({ request: { operation, path }, outcome }: AnsweredExchange) =>
  operation !== 'other' || (path === '/pets' && outcome.status >= 400);

/** Sees every answer that is kept in full, once, when all is known that was known before. */
export interface Watcher {
  see(exchange: AnsweredExchange, soFar: TraceSoFar): void;
  /** Whether a uniform answer breaks a requirement: then it is kept in full. */
  isBroken(exchange: AnsweredExchange, soFar: TraceSoFar): boolean;
}

/** The trace of a run as it grows, from the network or from disk: the same answers in the same order make the same. */
export class GrowingTrace {
  readonly run: RunFacts;
  readonly targetClock = new TargetClock();
  /** Requests sent, by key name; `(none)` for those without a valid key. */
  readonly requestsByKey = new Map<string, number>();
  readonly #watcher: Watcher | undefined;
  readonly #kept = new Map<string, Exchange>();
  /** Those that are kept, in order; made anew when one more is. */
  #sorted: readonly Exchange[] | undefined;
  readonly #uniform = new Map<string, number>();
  readonly #inOrder: RateReading[] = [];
  readonly #readings = new Map<string, RateReading>();
  readonly #refusals = new Map<string, number>();
  /** Keys on which a request got no answer since the last one that did. */
  readonly #lostOn = new Set<string | null>();

  constructor(run: RunFacts, watcher?: Watcher) {
    this.run = run;
    this.#watcher = watcher;
  }

  /** The exchanges that were kept in full, in the order of receipt. */
  get exchanges(): readonly Exchange[] {
    // One that is kept after all was received before.
    this.#sorted ??= [...this.#kept.values()].sort((a, b) => a.receivedAt - b.receivedAt);
    return this.#sorted;
  }

  /** Every answered exchange as the rate limit saw it, in the order of receipt; without those that a scene tallied. */
  get readings(): readonly RateReading[] {
    return this.#inOrder;
  }

  /** An exchange that was kept in full. */
  find(id: string): Exchange | undefined {
    return this.#kept.get(id);
  }

  /** The key that an exchange was sent with, undefined where it carried no valid one. */
  keyOf({ key }: Pick<Exchange, 'key'>): Key | undefined {
    return this.run.keys.find(({ name }) => name === key);
  }

  findReading(id: string): RateReading | undefined {
    return this.#readings.get(id);
  }

  /** How many requests on the exchange's key were refused with 429 so far: from two on, a ban may be earned. */
  refusalsOf({ key }: Pick<Exchange, 'key'>): number {
    return key === null ? 0 : (this.#refusals.get(key) ?? 0);
  }

  /** The readings of a key since a moment, in the order of sending. */
  readingsOf(key: Key, since = 0): readonly RateReading[] {
    return this.#inOrder
      .filter((reading) => reading.key === key.name && reading.sentAt >= since)
      .sort((a, b) => a.sentAt - b.sentAt);
  }

  /** Keeps an exchange in full that was admitted before as one of many. */
  keep(exchange: Exchange): boolean {
    if (this.#kept.has(exchange.id)) return false;
    this.#remember(exchange);
    return true;
  }

  /** Takes in an exchange that is over. @returns its reading, where it was answered */
  admit(exchange: Exchange, keeping: Keeping): RateReading | undefined {
    this.#count(exchange.key);
    if (!isAnswered(exchange)) {
      if (mayHaveArrived(exchange)) this.#lostOn.add(exchange.key);
      this.#remember(exchange);
      return undefined;
    }
    const reading = this.#readingOf(exchange);
    this.#learn(reading);
    const kept =
      this.#isKept(exchange, keeping) ||
      (isOfTheDocument(exchange) && this.#watcher?.isBroken(exchange, this) === true);
    if (kept) this.#remember(exchange);
    if (kept || keeping !== 'tallied') this.#add(reading);
    // Between the readings around it more was counted than they show.
    else this.#lostOn.add(exchange.key);
    return reading;
  }

  /** Takes in the reading of an exchange that was not kept in full. */
  admitReading(reading: RateReading): void {
    this.#lostOn.delete(reading.key);
    this.#count(reading.key);
    this.#learn(reading);
    this.#add(reading);
  }

  /** Takes in how many exchanges of a key a scene counted by itself. */
  admitTallied(key: string, count: number): void {
    this.#count(key, count);
    this.#lostOn.add(key);
  }

  /** What was under way when a process ended is lost, and may have been counted before what came last. */
  endSession(): void {
    for (const { name } of this.run.keys) {
      this.#lostOn.add(name);
      const ofKey = this.#inOrder.filter(({ key }) => key === name);
      for (const reading of ofKey.slice(-MAY_STAND_BESIDE_LOST)) reading.afterLost = true;
    }
  }

  #remember(exchange: Exchange): void {
    this.#kept.set(exchange.id, exchange);
    this.#sorted = undefined;
    if (isAnswered(exchange) && isOfTheDocument(exchange)) this.#watcher?.see(exchange, this);
  }

  #count(key: string | null, count = 1): void {
    const name = key ?? '(none)';
    this.requestsByKey.set(name, (this.requestsByKey.get(name) ?? 0) + count);
  }

  #readingOf(exchange: AnsweredExchange): RateReading {
    const afterLost = this.#lostOn.delete(exchange.key);
    const listed = listedPets(exchange)?.length;
    // A copy, to which more is added.
    const reading: RateReading = { ...rateReading(exchange) };
    if (listed !== undefined) reading.listed = listed;
    if (afterLost) reading.afterLost = true;
    return reading;
  }

  #learn(reading: RateReading): void {
    const { key, status } = reading;
    this.targetClock.learn(reading);
    if (status === 429 && key !== null) this.#refusals.set(key, (this.#refusals.get(key) ?? 0) + 1);
  }

  #add(reading: RateReading): void {
    this.#inOrder.push(reading);
    this.#readings.set(reading.id, reading);
  }

  #isKept(exchange: AnsweredExchange, keeping: Keeping): boolean {
    // What the run added has to be known: an animal that shows later is one of these, or somebody else's.
    const isOwnAddition = exchange.request.operation === 'createPet' && exchange.intent !== 'foreign';
    if (keeping === 'in-full' || isOwnAddition) return true;
    const like = `${exchange.sentBy} ${exchange.outcome.status}`;
    const seen = (this.#uniform.get(like) ?? 0) + 1;
    this.#uniform.set(like, seen);
    return seen <= UNIFORM_KEPT;
  }
}

/** What a judge sees of it. */
export type Trace = Pick<
  GrowingTrace,
  'run' | 'exchanges' | 'readings' | 'requestsByKey' | 'readingsOf' | 'find' | keyof TraceSoFar
>;

/** What a judge sees of it that watches each answer: what was known when it came. */
export type TraceSoFar = Pick<GrowingTrace, 'targetClock' | 'keyOf' | 'refusalsOf'>;
