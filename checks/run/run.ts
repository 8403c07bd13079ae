import { TargetClock } from '../limits/target-clock.ts';
import type { ClientRequest, HttpClient } from '../wire/client.ts';
import { type AnsweredExchange, type Exchange, isAnswered, wasInterrupted } from '../wire/exchange.ts';
import { listedPets, looksLikeTheService } from '../wire/pets.ts';
import { type RateReading, rateReading } from '../wire/rate-headers.ts';
import type { History, RunView, Scene } from './check.ts';
import { Unsettled } from './check.ts';
import type { Clock } from './clock.ts';
import type { Journal } from './journal.ts';
import { type Key, KeyLane } from './key-pool.ts';
import { Probe } from './probe.ts';
import { ReplayOrder } from './replay-order.ts';
import { whyEnded } from './run-budget.ts';
import type { RunEvent } from './run-events.ts';
import { askedInstead } from './stored-request.ts';
import { asTheTargets, TargetPresence } from './target-presence.ts';
import type { Permission } from './verdict.ts';

/** What a run works with. */
export interface RunOptions {
  /** Base address of the target, with the version segment. */
  readonly baseUrl: string;
  readonly runId: string;
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly keys: readonly Key[];
  readonly permissions: ReadonlySet<Permission>;
  readonly sampleCategoryId: bigint | undefined;
  /** Where every exchange goes as soon as it is over. */
  readonly journal?: Journal;
  /** Exchanges of an earlier run: they are taken instead of sent again. */
  readonly recorded?: ReadonlyMap<string, Exchange>;
  /** How many requests of each key the earlier run sent without recording an answer. */
  readonly lost?: ReadonlyMap<string, number>;
  /** Their ids, each with the number of exchanges that were on record when the process that sent it ended. */
  readonly unanswered?: ReadonlyMap<string, number>;
  /** Ids of the exchanges with which the earlier run itself went on after an interruption. */
  readonly resumedWith?: ReadonlySet<string>;
  /** Ids of its exchanges during which a request of the same key was under way whose answer is lost. */
  readonly besideLost?: ReadonlySet<string>;
  /** When the checks of the earlier run looked at the clock, by the exchange that followed. */
  readonly decidedAt?: ReadonlyMap<string, number>;
  /** Whether exchanges that were not recorded may be sent. */
  readonly offline?: boolean;
  /** How long a target that stops answering is waited for, in real milliseconds; by default a minute. */
  readonly patience?: number;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
}

/** Uniform exchanges of a burst are kept in full up to this many of each sender and status. */
const UNIFORM_KEPT = 2;

/** One run against one target: its keys, its clock, and everything that was exchanged. */
export class Run implements History, RunView {
  readonly runId: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly permissions: ReadonlySet<Permission>;
  readonly sampleCategoryId: bigint | undefined;
  readonly lanes: readonly KeyLane[];
  readonly targetClock = new TargetClock();
  readonly presence: TargetPresence;
  readonly readings: RateReading[] = [];
  /** Requests sent, by key name; `(none)` for those without a valid key. */
  readonly requestsByKey = new Map<string, number>();
  animalsAdded = 0;
  /** Ids of the answers that were a ban, as far as the checks told. */
  readonly bannedAnswers = new Set<string>();
  /** By key (null: none), how often an unexpected 429 was waited out since the key's last request was admitted. */
  readonly waitsInVain = new Map<string | null, number>();
  /** When the last answer came that bore a trace of the interface, and how many have come since. */
  lastTrace: number | undefined;
  withoutTrace = 0;

  readonly #options: RunOptions;
  readonly #kept = new Map<string, Exchange>();
  readonly #uniform = new Map<string, number>();
  readonly #scenes = new Map<string, Promise<unknown>>();
  readonly #readingsByKey = new Map<string, RateReading[]>();
  readonly #observers: ((exchange: AnsweredExchange) => void)[] = [];
  readonly #replay: ReplayOrder;
  /** Ids of the requests that were made or taken from the earlier run. */
  readonly #taken = new Set<string>();
  /** Whether the earlier run asked something else under an id of this one. */
  #diverged = false;
  #additionRepeated = false;
  /** Keys that were used since the earlier run was gone on with. */
  readonly #usedAgain = new Set<string | null>();
  /** Keys on which the last request got no answer. */
  readonly #lostOn = new Set<string | null>();
  /** When this part of the run began, by its clock; 0 where it is the first. */
  readonly resumedAt: number;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#replay = new ReplayOrder(options.recorded);
    const goesOn = options.recorded !== undefined && options.offline !== true;
    this.resumedAt = goesOn ? options.clock.now() : 0;
    this.runId = options.runId;
    this.baseUrl = options.baseUrl;
    this.clock = options.clock;
    this.permissions = options.permissions;
    this.sampleCategoryId = options.sampleCategoryId;
    this.lanes = options.keys.map((key) => new KeyLane(key));
    this.presence = new TargetPresence(options.clock.speed, options.patience);
  }

  get keys(): readonly Key[] {
    return this.lanes.map(({ key }) => key);
  }

  get exchanges(): readonly Exchange[] {
    return [...this.#kept.values()];
  }

  find(id: string): Exchange | undefined {
    return this.#kept.get(id);
  }

  refusalsOf(exchange: Exchange): number {
    return this.laneOf(exchange)?.refusals ?? 0;
  }

  keyOf(exchange: Exchange): Key | undefined {
    return this.laneOf(exchange)?.key;
  }

  /** What was sent on a key since a moment, in the order of sending. */
  readingsOf(key: Key, since = 0): readonly RateReading[] {
    const all = this.#readingsByKey.get(key.name) ?? [];
    // They are kept in the order of receipt, so that the recent ones are at the end.
    const from = since === 0 ? 0 : Math.max(0, all.findLastIndex(({ receivedAt }) => receivedAt < since) + 1);
    return all
      .slice(from)
      .filter(({ sentAt }) => sentAt >= since)
      .sort((a, b) => a.sentAt - b.sentAt);
  }

  laneOf({ key }: Pick<Exchange, 'key'>): KeyLane | undefined {
    return this.lanes.find((lane) => lane.key.name === key);
  }

  recorded(id: string): Exchange | undefined {
    return this.#options.recorded?.get(id);
  }

  /** Whether stored exchanges alone are judged: what is not among them is not sent. */
  get offline(): boolean {
    return this.#options.offline === true;
  }

  /** The time by which a stored exchange was decided on: that of the decision where it is known, else of the sending. */
  decidedAt(id: string): number | undefined {
    const stored = this.recorded(id);
    return stored === undefined ? undefined : (this.#options.decidedAt?.get(id) ?? stored.sentAt);
  }

  /** Whether the earlier run went on with this exchange after an interruption. */
  wentOnWith(id: string): boolean {
    return this.#options.resumedWith?.has(id) === true;
  }

  /** Called with every answered exchange of the three operations, in the order of receipt. */
  onAnswer(observer: (exchange: AnsweredExchange) => void): void {
    this.#observers.push(observer);
  }

  probe(name: string): Probe {
    return new Probe(this, name);
  }

  play<T>(scene: Scene<T>): Promise<T> {
    const started = this.#scenes.get(scene.id);
    // A scene's id names its type: the map forgets it, the caller's scene object knows it.
    if (started !== undefined) return started as Promise<T>;
    const playing = this.#start(scene);
    // Whoever asks later gets the rejection; nobody asking is no crash.
    playing.catch(() => undefined);
    this.#scenes.set(scene.id, playing);
    return playing;
  }

  async #start<T>(scene: Scene<T>): Promise<T> {
    if (scene.permit !== undefined && !this.permissions.has(scene.permit)) {
      throw new Unsettled(`needs the permission ${scene.permit}`);
    }
    return scene.play(this.probe(scene.id));
  }

  /** Whether an earlier part of this run sent this request, and its answer was lost with the process. */
  mayBeDone(id: string): boolean {
    return this.lostAfter(id) !== undefined;
  }

  /**
   * Whether an addition whose answer was lost may be sent again, as another animal: once a run. A connection breaks now
   * and then; a target that loses one answer after the other would be given animals without end.
   */
  repeatsAddition(): boolean {
    if (this.#additionRepeated) return false;
    this.#additionRepeated = true;
    return true;
  }

  /** How many exchanges were on record when the process ended with which the answer to this request was lost. */
  lostAfter(id: string): number | undefined {
    return this.recorded(id) === undefined ? this.#options.unanswered?.get(id) : undefined;
  }

  /** Whether a request was sent by the process that ended with so many exchanges on record, or before. */
  begunUntil(count: number, id: string): boolean {
    return this.#replay.isAmongFirst(count, id) || (this.lostAfter(id) ?? count + 1) <= count;
  }

  /** Waits until all is known that was when so many exchanges were on record. */
  async knownUntil(count: number): Promise<void> {
    await this.#replay.turnAfterFirst(count);
  }

  /** Takes what is stored under an id, whatever was asked, so that nothing is missing that was spent. */
  async take(id: string): Promise<void> {
    const stored = this.recorded(id);
    if (stored !== undefined) this.#admit(await this.#takeStored(stored), true, this.wentOnWith(id));
  }

  /** Requests of an earlier part of this run that were sent and never recorded, by key. */
  lostRequests(keyName: string): number {
    const lost = this.#options.lost?.get(keyName) ?? 0;
    if (!this.#diverged) return lost;
    // What the stored run asked otherwise was spent all the same, and is counted nowhere.
    const untaken = [...(this.#options.recorded?.values() ?? [])].filter(
      ({ id, key }) => key === keyName && !this.#taken.has(id),
    );
    return lost + untaken.length;
  }

  progress(key: string, done: number, of: number): void {
    this.#options.onEvent?.({ kind: 'spending', key, done, of });
  }

  /** Waits until the earlier run had received what came until then. */
  async receivedUntil(time: number): Promise<void> {
    await this.#replay.turnAfter(time);
  }

  async waitUntil(time: number, waitingFor: string): Promise<void> {
    await this.#replay.end();
    if (this.offline) return this.clock.sleepUntil(time);
    if (time <= this.clock.now()) return;
    this.#options.onEvent?.({ kind: 'waiting', until: time, for: waitingFor });
    try {
      await this.clock.sleepUntil(time, this.#options.signal);
    } catch (error) {
      this.#throwIfEnded();
      throw error;
    } finally {
      this.#options.onEvent?.({ kind: 'waited', for: waitingFor });
    }
  }

  async exchange(
    request: ClientRequest,
    record: { readonly id: string; readonly sentBy: string },
    uniform: boolean,
    decidedAt?: number,
  ): Promise<Exchange> {
    const stored = this.recorded(record.id);
    if (stored === undefined) await this.#replay.end();
    this.#throwIfEnded();
    const instead = stored === undefined ? undefined : askedInstead(stored, request);
    if (instead !== undefined) {
      this.#diverged = true;
      const { method, path } = request;
      throw new Unsettled(
        `the stored run asked ${instead} as ${record.id}, where this one asks ${method} ${path}: it is not judged`,
      );
    }
    if (stored === undefined && this.presence.gone !== undefined) throw new Unsettled(this.presence.gone);
    const sender = request.authorization.kind === 'key' ? request.authorization.name : null;
    const resumed = this.#isFirstAgain(record.id, sender);
    const exchange =
      stored === undefined
        ? await this.#send(request, record, decidedAt, sender)
        : await this.#takeStored(stored);
    this.#admit(exchange, uniform, resumed);
    return exchange;
  }

  async #takeStored(stored: Exchange): Promise<Exchange> {
    this.laneOf(stored)?.spend(stored.sentAt);
    this.#taken.add(stored.id);
    return asTheTargets(await this.#replay.turnOf(stored));
  }

  async #send(
    request: ClientRequest,
    record: { readonly id: string; readonly sentBy: string },
    decidedAt: number | undefined,
    sender: string | null,
  ): Promise<Exchange> {
    if (this.offline) {
      throw new Unsettled(`the stored run has no exchange ${record.id} (${request.method} ${request.path})`);
    }
    this.laneOf({ key: sender })?.spend(this.clock.now());
    this.#options.journal?.begin(record.id, sender, decidedAt);
    const answer = await this.#options.client.exchange(request, record, this.#options.signal);
    // A run that is gone on with sends again what this one gave up.
    if (!wasInterrupted(answer)) this.#options.journal?.append(answer);
    const exchange = asTheTargets(answer);
    // A stored silence is over, since the run went on: only what comes now tells of the target.
    this.presence.note(exchange);
    return exchange;
  }

  #throwIfEnded(): void {
    const { signal } = this.#options;
    if (signal?.aborted === true) throw new Unsettled(whyEnded(signal));
  }

  /** Whether a request is the first on its key after the run was interrupted, now or when it was recorded. */
  #isFirstAgain(id: string, key: string | null): boolean {
    const { recorded } = this.#options;
    if (recorded === undefined) return false;
    if (recorded.has(id)) return this.wentOnWith(id);
    const first = !this.#usedAgain.has(key);
    this.#usedAgain.add(key);
    return first;
  }

  #admit(exchange: Exchange, uniform: boolean, resumed: boolean): void {
    const name = exchange.key ?? '(none)';
    this.requestsByKey.set(name, (this.requestsByKey.get(name) ?? 0) + 1);
    if (this.#keepInFull(exchange, uniform)) this.#kept.set(exchange.id, exchange);
    if (!isAnswered(exchange)) this.#lostOn.add(exchange.key);
    else {
      this.targetClock.learn(exchange);
      if (exchange.outcome.status !== 429) this.waitsInVain.delete(exchange.key);
      const afterLost =
        this.#lostOn.delete(exchange.key) || this.#options.besideLost?.has(exchange.id) === true;
      const listed = listedPets(exchange)?.length;
      const reading: RateReading = {
        ...rateReading(exchange),
        ...(listed === undefined ? {} : { listed }),
        ...(resumed ? { resumed } : {}),
        ...(afterLost ? { afterLost } : {}),
      };
      this.readings.push(reading);
      if (reading.key !== null) {
        const ofKey = this.#readingsByKey.get(reading.key);
        if (ofKey === undefined) this.#readingsByKey.set(reading.key, [reading]);
        else ofKey.push(reading);
      }
      this.laneOf(exchange)?.learn(reading);
      if (exchange.request.operation === 'createPet' && exchange.outcome.status < 300) {
        if (exchange.outcome.status === 201) this.animalsAdded += 1;
        const lane = this.laneOf(exchange);
        if (lane !== undefined) lane.adding = 'allowed';
      }
      if (exchange.request.operation !== 'other') {
        this.#look(exchange);
        for (const observer of this.#observers) observer(exchange);
      }
    }
    this.#options.onEvent?.({ kind: 'exchange', exchange });
  }

  #look(exchange: AnsweredExchange): void {
    if (looksLikeTheService(exchange)) {
      this.lastTrace = Math.max(this.lastTrace ?? 0, exchange.receivedAt);
      this.withoutTrace = 0;
    } else this.withoutTrace += 1;
  }

  #keepInFull(exchange: Exchange, uniform: boolean): boolean {
    // What was added has to be known: an animal that shows later is one of these, or nobody's.
    if (!uniform || !isAnswered(exchange) || exchange.request.operation === 'createPet') return true;
    const like = `${exchange.sentBy} ${exchange.outcome.status}`;
    const seen = (this.#uniform.get(like) ?? 0) + 1;
    this.#uniform.set(like, seen);
    return seen <= UNIFORM_KEPT;
  }
}
