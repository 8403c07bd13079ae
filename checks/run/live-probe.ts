import { createHash } from 'node:crypto';
import { SECOND } from '../limits/time.ts';
import type { Key } from '../profile/key.ts';
import type { ClientRequest } from '../wire/client.ts';
import { type AnsweredExchange, type Exchange, isAnswered, type Operation } from '../wire/exchange.ts';
import { getPet, listPets, type RequestSpec } from '../wire/requests.ts';
import { FunctionalKeys } from './functional-keys.ts';
import { Interference } from './interference.ts';
import { KeyLane, mayLackPermission } from './key-lane.ts';
import type { BurstOptions, NoKey, Payment, Playable, Probe } from './probe.ts';
import type { Sender } from './sender.ts';
import type { Keeping } from './trace.ts';
import { Unsettled } from './unsettled.ts';

const ARE_YOU_THERE = listPets({ limit: 1 });
const IN_FULL: Keeping = { uniform: false, tallied: false };

/** The scene that asks each key whether the target knows it; what is refused there is what it asks. */
export const PREFLIGHT = 'preflight';

const authorizationOf = ({ name, value }: Key) => ({ kind: 'key', name, value }) as const;

/** What a probe is for. */
export interface ProbeOptions {
  readonly sender: Sender;
  /** The id of the scene, or of the part of one. */
  readonly id: string;
  /** The scene that a part belongs to. */
  readonly within: string | undefined;
  /** How often it was begun by earlier processes of the run, and cut off. */
  readonly cutOff: number;
  /** How many of its exchanges are on record. */
  readonly recorded: number;
  readonly part: <T>(part: Playable<T>, within: string) => Promise<T>;
}

/** A probe of a run that is going on. */
export class LiveProbe implements Probe {
  readonly #options: ProbeOptions;
  readonly #sender: Sender;
  readonly #interference: Interference;
  readonly #payers: FunctionalKeys;
  #sent: number;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#sender = options.sender;
    this.#sent = options.recorded;
    this.#payers = new FunctionalKeys(options.sender);
    this.#interference = new Interference(options.sender, options.id === PREFLIGHT);
  }

  get run() {
    return this.#sender.run;
  }

  get keys(): readonly Key[] {
    return this.#sender.usable().map(({ key }) => key);
  }

  get targetClock() {
    return this.#sender.trace.targetClock;
  }

  get wasCutOff(): boolean {
    return this.#options.cutOff > 0;
  }

  now(): number {
    return this.#sender.clock.now();
  }

  waitUntil(time: number, waitingFor: string): Promise<void> {
    return this.#sender.waitUntil(time, waitingFor);
  }

  random(label: string, bound: bigint): bigint {
    const digest = createHash('sha256').update(`${this.run.id} ${label}`).digest('hex');
    return BigInt(`0x${digest.slice(0, 32)}`) % bound;
  }

  readingsOf(key: Key, since?: number) {
    return this.#sender.trace.readingsOf(key, since);
  }

  find(id: string): Exchange | undefined {
    return this.#sender.trace.find(id);
  }

  lane(key: Key): KeyLane {
    return this.#sender.laneOf({ key: key.name }) ?? new KeyLane(key);
  }

  async counting<T>(key: Key, count: () => Promise<T>): Promise<T> {
    const lane = this.lane(key);
    lane.isCounted = true;
    try {
      return await count();
    } finally {
      lane.isCounted = false;
    }
  }

  part<T>(part: Playable<T>): Promise<T> {
    return this.#options.part(part, this.#options.within ?? this.#options.id);
  }

  progress({ name }: Key, done: number, of: number): void {
    this.#sender.progress(name, done, of);
  }

  async send(spec: RequestSpec, { key }: Payment = {}): Promise<AnsweredExchange> {
    const first = this.#firstName(spec);
    const { asked, exchange } = await this.#sendWith(first, key);
    const isShared = key === undefined && spec.operation === 'createPet';
    if (!isShared || !mayLackPermission(exchange, this.#sender.laneOf(exchange))) return exchange;
    return this.#payers.addedWithAnother(
      exchange,
      async (other) => (await this.#sendWith(asked, other)).exchange,
    );
  }

  async sendWithoutKey(spec: RequestSpec, credentials: NoKey): Promise<AnsweredExchange> {
    const authorization =
      credentials === 'none'
        ? ({ kind: 'none' } as const)
        : ({ kind: 'raw', name: null, ...credentials } as const);
    for (let attempt = 1; ; attempt += 1) {
      const exchange = await this.#exchange(this.#firstName(spec), authorization, IN_FULL);
      const ask = () => this.#exchange(ARE_YOU_THERE, authorization, IN_FULL);
      // Whoever has no key adds nothing.
      const again = await this.#interference.repeats(exchange, { attempt, ask, repeatable: true });
      if (!again && isAnswered(exchange)) return exchange;
    }
  }

  attempt(spec: RequestSpec, key: Key): Promise<Exchange> {
    return this.#exchange(this.#firstName(spec), authorizationOf(key), IN_FULL);
  }

  async answerTo(exchange: Exchange, spec: RequestSpec, key: Key): Promise<AnsweredExchange> {
    if (isAnswered(exchange)) return exchange;
    const again = this.#firstName(spec).again?.();
    const ask = () => this.attempt(ARE_YOU_THERE, key);
    await this.#interference.repeatsUnanswered(exchange, {
      attempt: 2,
      ask,
      repeatable: again !== undefined,
    });
    return (await this.#sendWith(again ?? spec, key)).exchange;
  }

  async burst(
    specs: readonly RequestSpec[],
    key: Key,
    { inFlight, enough = () => false, tallied = false }: BurstOptions,
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
        const exchange = await this.#exchange(this.#firstName(spec), authorizationOf(key), {
          uniform: true,
          tallied,
        });
        exchanges[index] = exchange;
        if (enough(exchange)) stopped = true;
      }
    };
    const workers = Array.from({ length: Math.min(inFlight, specs.length) }, worker);
    await Promise.all(workers).finally(() => {
      // What ends one ends all: nobody counts any more.
      stopped = true;
    });
    if (tallied) this.#sender.recordTally(key.name);
    return exchanges;
  }

  /** The addition as an animal that no process of this run may have added before. */
  #firstName(spec: RequestSpec): RequestSpec {
    let asked = spec;
    for (let times = 0; times < this.#options.cutOff; times += 1) asked = asked.again?.() ?? asked;
    return asked;
  }

  /** @returns the answer, and what it is the answer to: the request, or the same as another animal */
  async #sendWith(
    spec: RequestSpec,
    payer: Key | undefined,
  ): Promise<{ readonly asked: RequestSpec; readonly exchange: AnsweredExchange }> {
    let asked = spec;
    if (payer !== undefined) {
      const lane = this.lane(payer);
      while (lane.isCounted)
        await this.waitUntil(this.now() + SECOND, `the count of key ${payer.name} to end`);
      await this.waitUntil(
        lane.readyAt(this.now(), this.targetClock),
        `the next window of key ${payer.name}`,
      );
    }
    for (let attempt = 1; ; attempt += 1) {
      const key = payer ?? (await this.#keyWithQuota(spec.operation));
      const exchange = await this.#exchange(asked, authorizationOf(key), IN_FULL);
      const ask = () => this.attempt(ARE_YOU_THERE, key);
      const repeatable = asked.again !== undefined;
      const { perMinute } = key.limits;
      const again = await this.#interference.repeats(exchange, { attempt, ask, repeatable, perMinute });
      if (again || !isAnswered(exchange)) {
        // What was refused for its rate was not done; of anything else nobody knows.
        if (!isAnswered(exchange) || exchange.outcome.status !== 429) asked = asked.again?.() ?? asked;
        continue;
      }
      await this.#throwIfRefusedAltogether(exchange, key, asked);
      return { asked, exchange };
    }
  }

  /**
   * A valid key that is refused with 401 or 403 may be banned for what somebody else did with it. A ban refuses every
   * operation: another one tells it from a fault of this one.
   *
   * @throws Unsettled where the key is refused altogether
   */
  async #throwIfRefusedAltogether(exchange: AnsweredExchange, key: Key, spec: RequestSpec): Promise<void> {
    const { status } = exchange.outcome;
    if ((status !== 401 && status !== 403) || this.#options.id === PREFLIGHT) return;
    const other = spec.operation === 'listPets' ? getPet(1n) : listPets({ limit: 1 });
    const second = await this.attempt(other, key);
    if (!isAnswered(second) || second.outcome.status !== status) return;
    throw new Unsettled(
      `key ${key.name} is refused altogether, with ${status}: it may be banned for what somebody else did`,
      [exchange, second],
    );
  }

  /** The key that pays for a request for which a scene asks for none; waits until its minute admits it. */
  async #keyWithQuota(operation: Operation): Promise<Key> {
    const now = this.now();
    const { key, at } = this.#payers.next(operation, now);
    if (at > now) await this.waitUntil(at, `the next window of key ${key.name}`);
    return key;
  }

  #exchange(
    { again: _, ...asked }: RequestSpec,
    authorization: ClientRequest['authorization'],
    keeping: Keeping,
  ): Promise<Exchange> {
    this.#sent += 1;
    const { id, within } = this.#options;
    return this.#sender.exchange(
      { ...asked, authorization },
      { id: `${id}#${this.#sent}`, sentBy: within ?? id },
      keeping,
    );
  }
}
