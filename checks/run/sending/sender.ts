import type { Key } from '../../profile/key.ts';
import type { ClientRequest, HttpClient } from '../../wire/client.ts';
import { type Exchange, type Operation, wasInterrupted } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { TimeIsOver, whyEnded } from '../../wire/time-is-over.ts';
import type { Clock } from '../clock.ts';
import type { Journal } from '../journal.ts';
import { Inconclusive, NO_KEY_MAY_ADD } from '../reason.ts';
import { ADDITIONS_REPEATED } from '../run-budget.ts';
import type { RunEvent } from '../run-events.ts';
import type { GrowingTrace, Keeping } from '../trace.ts';
import { KeyLane } from './key-lane.ts';
import { TargetPresence, withGatewayAsFailure } from './target-presence.ts';

/** What a sender works with. */
export interface SenderOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Where everything goes as soon as it is over. */
  readonly journal?: Journal | undefined;
  /** How long a target that stops answering is waited for, in real milliseconds; by default a minute. */
  readonly patience?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** More requests are not sent by this process; by default as many as it takes. */
  readonly mostRequests?: number | undefined;
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

const isFunctional = ({ key }: KeyLane) => key.roles.includes('functional');

/** The only layer that sends and waits: it knows the network, the time and what each key has left. */
export class Sender {
  readonly trace: GrowingTrace;
  readonly clock: Clock;
  readonly beganAt: number;
  readonly lanes: readonly KeyLane[];
  readonly presence: TargetPresence;
  /** By key (null: none), how often an unexpected 429 was waited out since the key's last request was admitted. */
  readonly waitsInVain = new Map<string | null, number>();
  readonly #options: SenderOptions;
  /** The number of this process among those that worked at the run, from 1. */
  readonly session: number;
  #additionsRepeated = 0;
  #sent = 0;

  constructor(trace: GrowingTrace, session: number, options: SenderOptions) {
    this.#options = options;
    this.session = session;
    this.trace = trace;
    this.clock = options.clock;
    this.beganAt = options.clock.now();
    this.lanes = trace.run.keys.map((key) => new KeyLane(key));
    this.presence = new TargetPresence(options.clock.speed, options.patience);
  }

  laneOf({ key }: Pick<Exchange, 'key'>): KeyLane | undefined {
    return this.lanes.find((lane) => lane.key.name === key);
  }

  /** The lanes of the keys that the target knows. */
  usable(): KeyLane[] {
    return this.lanes.filter(({ unusable }) => unusable === undefined);
  }

  /** The lanes of the keys that pay for ordinary requests. */
  payers(): KeyLane[] {
    return this.usable().filter((lane) => isFunctional(lane) && lane.spent === undefined);
  }

  /**
   * The key that pays for a request that is about none.
   *
   * @param preferred pays as long as the target admits it
   * @throws Inconclusive where there is none
   */
  payer(operation: Operation, preferred?: Key): Key {
    const functional = this.payers();
    const first = this.usable().find(({ key }) => key.name === preferred?.name);
    if (first?.spent === undefined && first?.isHeldBack(this.clock.now()) === false) return first.key;
    if (functional.length === 0) {
      const lanes = this.lanes.filter(isFunctional);
      const [reason] = lanes.flatMap(({ spent, unusable }) => spent ?? unusable ?? []);
      throw new Inconclusive(reason ?? 'no usable key has the role functional');
    }
    const lanes =
      operation === 'createPet' ? functional.filter(({ adding }) => adding !== 'forbidden') : functional;
    const free = lanes.filter(({ isReserved }) => !isReserved);
    // What a key may see is open (5, scopes): an animal that was added and the list that is to show it have one key,
    // which is waited for rather than left. Another one pays where it may not add, or where somebody else spends it.
    const [usual, ...others] = (free.length > 0 ? free : lanes).toSorted(
      (a, b) =>
        Number(a.adding === 'forbidden') - Number(b.adding === 'forbidden') ||
        Number(a.refusedEarly > 0) - Number(b.refusedEarly > 0) ||
        b.key.limits.perMinute - a.key.limits.perMinute,
    );
    if (usual === undefined) throw new Inconclusive(NO_KEY_MAY_ADD);
    const now = this.clock.now();
    const at = (lane: KeyLane) => lane.readyAt(now, this.trace.targetClock);
    const candidates = usual.isHeldBack(now) ? [usual, ...others] : [usual];
    return candidates.reduce((a, b) => (at(b) < at(a) ? b : a)).key;
  }

  /**
   * Whether an addition whose answer was lost may be sent again, as another animal: a few times a run. A connection
   * breaks now and then; a target that loses one answer after the other would be given animals without end.
   */
  repeatsAddition(): boolean {
    this.#additionsRepeated += 1;
    return this.#additionsRepeated <= ADDITIONS_REPEATED;
  }

  /** Takes in what an earlier process learned of a key. */
  learn(reading: RateReading): void {
    const lane = this.laneOf(reading);
    lane?.spend(reading.sentAt);
    lane?.learn(reading);
  }

  /** Writes down how many of these exchanges of a key were neither kept nor read. */
  recordTally(key: string, exchanges: readonly Exchange[]): void {
    const tallied = exchanges.filter(({ id }) => this.trace.find(id) === undefined).length;
    if (tallied > 0) this.#options.journal?.append({ tallied, key });
  }

  async waitUntil(time: number, waitingFor: string): Promise<void> {
    if (time <= this.clock.now()) return;
    this.#options.onEvent?.({ kind: 'waiting', until: time, for: waitingFor });
    try {
      await this.clock.sleepUntil(time, this.#options.signal);
    } catch (error) {
      this.throwIfEnded();
      throw error;
    } finally {
      this.#options.onEvent?.({ kind: 'waited', for: waitingFor });
    }
  }

  async exchange(
    request: ClientRequest,
    record: Pick<Exchange, 'id' | 'sentBy' | 'intent'>,
    keeping: Keeping,
  ): Promise<Exchange> {
    this.throwIfEnded();
    const sender = request.authorization.kind === 'key' ? request.authorization.name : null;
    this.laneOf({ key: sender })?.spend(this.clock.now());
    const { client, signal } = this.#options;
    const send = () => client.exchange(request, record, signal);
    this.#sent += 1;
    const answer = withGatewayAsFailure(await (this.clock.during?.(send) ?? send()));
    const exchange = this.session === 1 ? answer : { ...answer, session: this.session };
    this.presence.note(exchange);
    this.#record(exchange, keeping);
    return exchange;
  }

  /** @throws Inconclusive where nothing more is sent, with the reason */
  throwIfEnded(): void {
    const { signal, mostRequests = Number.POSITIVE_INFINITY } = this.#options;
    const ended = (by: 'time-limit' | 'interruption' | 'target-gone' | 'bill', what: string) =>
      new Inconclusive({ kind: 'ended', by, what });
    if (signal?.aborted === true)
      throw ended(signal.reason instanceof TimeIsOver ? 'time-limit' : 'interruption', whyEnded(signal));
    const { gone } = this.presence;
    if (gone !== undefined) throw ended('target-gone', gone);
    if (this.#sent < mostRequests) return;
    const most = mostRequests.toLocaleString('en');
    throw ended('bill', `the run has sent the ${most} requests that it may send at most`);
  }

  #record(exchange: Exchange, keeping: Keeping): void {
    const { journal } = this.#options;
    const reading = this.trace.admit(exchange, keeping);
    // What this process gave up, a resumed run sends again.
    if (!wasInterrupted(exchange)) {
      if (this.trace.find(exchange.id) !== undefined) journal?.append({ exchange });
      else if (keeping !== 'tallied' && reading !== undefined) journal?.append({ reading });
    }
    if (reading !== undefined) {
      if (reading.status !== 429) this.waitsInVain.delete(reading.key);
      this.laneOf(reading)?.learn(reading);
    }
    this.#options.onEvent?.({ kind: 'exchange', exchange });
  }
}
