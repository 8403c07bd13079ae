import { createHash } from 'node:crypto';
import type { ClientRequest } from '../wire/client.ts';
import { type AnsweredExchange, type Exchange, isAnswered, type Operation } from '../wire/exchange.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import { getPet, listPets, type RequestSpec } from '../wire/requests.ts';
import { CountInterrupted, type Scene, Unsettled } from './check.ts';
import { FunctionalKeys } from './functional-keys.ts';
import { Interference } from './interference.ts';
import { type Key, type KeyLane, SECOND } from './key-pool.ts';
import type { Run } from './run.ts';
import { askedInstead } from './stored-request.ts';

/** Credentials of a request that carries no valid key. */
export type NoKey = { readonly header: string; readonly described: string } | 'none';

/** How to pay for a request. */
export interface Payment {
  /** The key to use; without it the functional key with the largest plan. */
  readonly key?: Key;
}

const ARE_YOU_THERE = listPets({ limit: 1 });

const keyAuthorization = ({ name, value }: Key) => ({ kind: 'key', name, value }) as const;

/**
 * A check's way to the target: sends its requests, one exchange each, within the quota of a key, and records them
 * under its name.
 */
export class Probe {
  readonly #run: Run;
  readonly #name: string;
  readonly #interference: Interference;
  readonly #payers: FunctionalKeys;
  #sent = 0;
  /** When the clock was last looked at, for the request that comes next. */
  #decidedAt: number | undefined;

  constructor(run: Run, name: string) {
    this.#run = run;
    this.#name = name;
    this.#payers = new FunctionalKeys(run);
    this.#interference = new Interference(run, {
      isPreflight: name === 'preflight',
      isOver: () => this.#isOver(),
      waitUntil: (time, waitingFor) => this.waitUntil(time, waitingFor),
    });
  }

  get runId(): string {
    return this.#run.runId;
  }

  get baseUrl(): string {
    return this.#run.baseUrl;
  }

  /** The keys that the target knows and has not banned. */
  get keys(): readonly Key[] {
    return this.#run.lanes.filter((lane) => lane.unusable === undefined).map((lane) => lane.key);
  }

  /** Which of the profile's keys this is, from 0 on. */
  positionOf({ name }: Key): number {
    return this.#run.lanes.findIndex((lane) => lane.key.name === name);
  }

  get targetClock() {
    return this.#run.targetClock;
  }

  /** The categoryId that the profile knows to exist. */
  get sampleCategoryId(): bigint | undefined {
    return this.#run.sampleCategoryId;
  }

  /** An exchange of this run that was kept in full. */
  find(id: string): Exchange | undefined {
    return this.#run.find(id);
  }

  /** What this run sent on a key since a moment, as the rate limit saw it, in the order of sending. */
  readingsOf(key: Key, since = 0): readonly RateReading[] {
    return this.#run.readingsOf(key, since);
  }

  permits(permission: 'writes' | 'exhaust' | 'ban' | 'day'): boolean {
    return this.#run.permissions.has(permission);
  }

  /** How many of the run's seconds pass in a real one. */
  get clockSpeed(): number {
    return this.#run.clock.speed;
  }

  /**
   * The time by the run's clock. While stored exchanges are gone through again, what it was when the next one was decided
   * on: a window may have ended between that and the sending.
   */
  now(): number {
    const before = this.#run.decidedAt(this.#nextId());
    if (before !== undefined) return before;
    this.#decidedAt = this.#run.clock.now();
    return this.#decidedAt;
  }

  /** When the run was last gone on with after an interruption, as far as this check's next request tells; else 0. */
  resumedAt(key: Key): number {
    const next = this.#run.recorded(this.#nextId());
    if (next === undefined) return this.#run.resumedAt;
    if (this.#run.wentOnWith(next.id)) return next.sentAt;
    return this.readingsOf(key).findLast(({ resumed }) => resumed === true)?.sentAt ?? 0;
  }

  /** A whole number below `bound` that is the same whenever this run is resumed or judged again. */
  random(label: string, bound: bigint): bigint {
    const digest = createHash('sha256').update(`${this.#run.runId} ${label}`).digest('hex');
    return BigInt(`0x${digest.slice(0, 32)}`) % bound;
  }

  /** The outcome of a scene that several checks share; played by the first to ask. */
  play<T>(scene: Scene<T>): Promise<T> {
    return this.#run.play(scene);
  }

  /** Marks a key as counted while this goes on: a request of another check would be one too many. */
  async counting<T>(key: Key, count: () => Promise<T>): Promise<T> {
    const lane = this.#laneOf(key);
    if (lane !== undefined) lane.isCounted = true;
    try {
      return await count();
    } finally {
      if (lane !== undefined) lane.isCounted = false;
    }
  }

  isCounted(key: Key): boolean {
    return this.#laneOf(key)?.isCounted === true;
  }

  /** The key with which this check's next request was sent, where the request is stored. */
  storedKey(): string | undefined {
    return this.#run.recorded(this.#nextId())?.key ?? undefined;
  }

  /**
   * Waits, and says so to whoever watches. For a stored exchange only until all is known that had been received when it
   * was decided on.
   */
  async waitUntil(time: number, waitingFor: string): Promise<void> {
    const decidedAt = this.#run.decidedAt(this.#nextId());
    if (decidedAt !== undefined) return this.#run.receivedUntil(decidedAt);
    await this.#run.waitUntil(time, waitingFor);
    this.now();
  }

  /**
   * Sends one request of an ordinary check and returns its answer. A 429 here is interference: somebody else spends
   * the key. It is waited out as told; so is a gateway that is unavailable, and a connection that broke is tried once
   * more where that can do no harm: an addition as another animal, once a run. An addition that is forbidden to one key
   * is tried with another one.
   *
   * @throws Unsettled when no answer of the target's own could be had
   */
  async send(spec: RequestSpec, payment: Payment = {}): Promise<AnsweredExchange> {
    const { asked, exchange } = await this.#sendWith(spec, payment.key);
    const shared = payment.key === undefined && spec.operation === 'createPet';
    if (!shared || !this.mayLackPermission(exchange)) return exchange;
    return this.#payers.addedWithAnother(
      exchange,
      async (key) => (await this.#sendWith(asked, key)).exchange,
    );
  }

  /**
   * The answer to a request that was attempted, or to the same as another animal where its answer was lost.
   *
   * @throws Unsettled when no answer could be had
   */
  async answerTo(exchange: Exchange, spec: RequestSpec, key: Key): Promise<AnsweredExchange> {
    if (isAnswered(exchange)) return exchange;
    const { again = spec } = spec;
    const repeatable = spec.again !== undefined && exchange.request.body === spec.body;
    const ask = () => this.attempt(ARE_YOU_THERE, key);
    await this.#interference.repeatsUnanswered(exchange, { attempt: 2, ask, repeatable });
    return this.send(again, { key });
  }

  /** Whether an addition may have been forbidden for its key: one with which nothing was added so far. */
  mayLackPermission(exchange: AnsweredExchange): boolean {
    return exchange.outcome.status === 403 && this.#run.laneOf(exchange)?.adding !== 'allowed';
  }

  /** Whether a key is left that may add animals, as far as is known. */
  get mayAdd(): boolean {
    return this.#payers.mayAdd;
  }

  /** Whether additions with this key are worth sending: permitted to the run, and not known to be forbidden to the key. */
  mayAddWith(key: Key): boolean {
    return this.permits('writes') && this.#laneOf(key)?.adding !== 'forbidden';
  }

  /** No key may add: further additions are not sent. */
  giveUpAdding(): void {
    this.#payers.giveUpAdding();
  }

  #laneOf({ name }: Key): KeyLane | undefined {
    return this.#run.laneOf({ key: name });
  }

  /** @returns the answer, and what it is the answer to: the request, or the same as another animal */
  async #sendWith(
    spec: RequestSpec,
    payer: Key | undefined,
  ): Promise<{ readonly asked: RequestSpec; readonly exchange: AnsweredExchange }> {
    let asked = spec;
    if (payer !== undefined) {
      while (this.isCounted(payer) && this.storedKey() === undefined)
        await this.waitUntil(this.now() + SECOND, `the count of key ${payer.name} to end`);
      await this.untilQuota(payer);
    }
    for (let attempt = 1; ; attempt += 1) {
      const key = payer ?? (await this.#keyWithQuota(spec.operation));
      asked = this.#inPlaceOf(asked, keyAuthorization(key));
      const exchange = await this.attempt(asked, key);
      const ask = () => this.attempt(ARE_YOU_THERE, key);
      const repeatable = asked.again !== undefined;
      const { perMinute } = key.limits;
      const again = await this.#interference.repeats(exchange, { attempt, ask, repeatable, perMinute });
      if (again || !isAnswered(exchange)) {
        // What was refused for its rate was not done; of anything else nobody knows.
        if (!isAnswered(exchange) || exchange.outcome.status !== 429) asked = asked.again ?? asked;
        continue;
      }
      await this.#refusedAltogether(exchange, key, asked);
      return { asked, exchange };
    }
  }

  /**
   * A valid key that is refused with 401 or 403 may be banned for what somebody else did with it. A ban refuses every
   * operation: another one tells it from a fault of this one.
   *
   * @throws Unsettled where the key is refused altogether
   */
  async #refusedAltogether(exchange: AnsweredExchange, key: Key, spec: RequestSpec): Promise<void> {
    const { status } = exchange.outcome;
    if ((status !== 401 && status !== 403) || this.#name === 'preflight') return;
    const other = spec.operation === 'listPets' ? getPet(1n) : listPets({ limit: 1 });
    const second = await this.attempt(other, key);
    if (!isAnswered(second) || second.outcome.status !== status) return;
    throw new Unsettled(
      `key ${key.name} is refused altogether, with ${status}: it may be banned for what somebody else did`,
      [exchange, second],
    );
  }

  /** Sends one request without a valid key; broken connections and 429 are treated as in `send`. */
  async sendWithoutKey(spec: RequestSpec, credentials: NoKey): Promise<AnsweredExchange> {
    for (let attempt = 1; ; attempt += 1) {
      const authorization =
        credentials === 'none'
          ? ({ kind: 'none' } as const)
          : ({ kind: 'raw', name: null, ...credentials } as const);
      const exchange = await this.#exchange(spec, authorization);
      const ask = () => this.#exchange(ARE_YOU_THERE, authorization);
      // Whoever has no key adds nothing.
      const again = await this.#interference.repeats(exchange, { attempt, ask, repeatable: true });
      if (!again && isAnswered(exchange)) return exchange;
    }
  }

  /** Sends one request with this key and returns whatever comes of it: the subject of a check. */
  async attempt(spec: RequestSpec, key: Key, options: { uniform?: boolean } = {}): Promise<Exchange> {
    return this.#exchange(spec, keyAuthorization(key), options.uniform);
  }

  /**
   * Sends requests with this key, `inFlight` at a time, until all are answered or `enough` says stop; in the order of
   * sending. Uniform: only what evidence points to is kept in full.
   *
   * @throws CountInterrupted where one of them was under way when an earlier process of the run ended, and the key is
   *   being counted
   */
  async burst(
    specs: readonly RequestSpec[],
    key: Key,
    inFlight: number,
    enough: (exchange: Exchange) => boolean = () => false,
  ): Promise<Exchange[]> {
    const exchanges: Exchange[] = [];
    let next = 0;
    let stopped = false;
    const worker = async () => {
      while (!stopped) {
        const index = next;
        next += 1;
        const spec = specs[index];
        if (spec === undefined) return;
        if (this.isCounted(key) && this.#run.mayBeDone(this.#nextId())) {
          stopped = true;
          await this.#endCount();
        }
        const exchange = await this.attempt(spec, key, { uniform: true });
        exchanges[index] = exchange;
        if (enough(exchange)) stopped = true;
      }
    };
    const workers = Array.from({ length: Math.min(inFlight, specs.length) }, worker);
    await Promise.all(workers).finally(() => {
      // What ends one ends all: nobody counts any more.
      stopped = true;
    });
    return exchanges;
  }

  /**
   * Ends a count with a request whose answer was lost: whether it counted nobody knows. Whatever that process sent of the
   * count is over, whichever way it had come to send it.
   *
   * @throws CountInterrupted once all is known that was then
   */
  async #endCount(): Promise<never> {
    const known = this.#run.lostAfter(this.#nextId()) ?? 0;
    const stored: Promise<void>[] = [];
    for (; this.#run.begunUntil(known, this.#nextId()); this.#sent += 1)
      stored.push(this.#run.take(this.#nextId()));
    await Promise.all(stored);
    await this.#run.knownUntil(known);
    throw new CountInterrupted(
      'the run was interrupted while the requests that a window admits were counted',
    );
  }

  /** Waits until the key's minute admits a request, as far as the run can know. */
  async untilQuota(key: Key): Promise<void> {
    await this.waitUntil(this.#readyAt(key), `the next window of key ${key.name}`);
  }

  /**
   * When the key's minute admits a request, as far as the run can know: now or later. Never where a run is judged again
   * that sent nothing more here: whatever the clock was when it decided so, it has gone on since.
   */
  quotaAt(key: Key): number {
    return this.#isOver() ? Number.POSITIVE_INFINITY : this.#readyAt(key);
  }

  /** Whether a run is judged again that sent nothing more here. */
  #isOver(): boolean {
    return this.#run.offline && this.#run.recorded(this.#nextId()) === undefined;
  }

  #readyAt(key: Key): number {
    const now = this.now();
    return this.#laneOf(key)?.readyAt(now, this.#run.targetClock) ?? now;
  }

  /** Requests that the key's minute still admits, as far as the run can know. */
  quotaLeft(key: Key): number {
    return this.#laneOf(key)?.left(this.now()) ?? 0;
  }

  /** How many requests with the key were answered 429 so far. */
  refusalsOf(key: Key): number {
    return this.#laneOf(key)?.refusals ?? 0;
  }

  /** Requests of the key that a crash cut off: sent, perhaps counted by the target, with no answer on record. */
  lostRequests(key: Key): number {
    return this.#run.lostRequests(key.name);
  }

  /** Marks answers as a ban's, for whoever draws the run. */
  markBanned(exchanges: readonly Exchange[]): void {
    for (const { id } of exchanges) this.#run.bannedAnswers.add(id);
  }

  /** Says how far a long spending has come. */
  progress(key: Key, done: number, of: number): void {
    this.#run.progress(key.name, done, of);
  }

  /** The key that pays for a request for which a check asks for none; waits until its minute admits it. */
  async #keyWithQuota(operation: Operation): Promise<Key> {
    const now = this.now();
    const { key, at } = this.#payers.next(operation, now);
    if (at > now) await this.waitUntil(at, `the next window of key ${key.name}`);
    return key;
  }

  #nextId(): string {
    return `${this.#name}#${this.#sent + 1}`;
  }

  /**
   * What is sent next for a request: the same as another animal where the answer was lost with a process of this run,
   * now or when the stored one was sent.
   */
  #inPlaceOf(spec: RequestSpec, authorization: ClientRequest['authorization']): RequestSpec {
    const { again } = spec;
    if (again === undefined) return spec;
    const id = this.#nextId();
    if (this.#run.mayBeDone(id)) return again;
    const stored = this.#run.recorded(id);
    if (stored === undefined) return spec;
    return askedInstead(stored, { ...spec, authorization }) === undefined ? spec : again;
  }

  async #exchange(
    spec: RequestSpec,
    authorization: ClientRequest['authorization'],
    uniform = false,
  ): Promise<Exchange> {
    const { again: _, ...asked } = this.#inPlaceOf(spec, authorization);
    const id = this.#nextId();
    this.#sent += 1;
    const decidedAt = this.#decidedAt;
    this.#decidedAt = undefined;
    return this.#run.exchange({ ...asked, authorization }, { id, sentBy: this.#name }, uniform, decidedAt);
  }
}
