import type { Permission } from '../../spec/permissions.ts';
import { SECOND } from '../limits/time.ts';
import type { Key } from '../profile/key.ts';
import type { Authorization } from '../wire/client.ts';
import {
  type AnsweredExchange,
  type Exchange,
  type Intent,
  isAnswered,
  wasInterrupted,
} from '../wire/exchange.ts';
import { getPet, listPets, type RequestSpec } from '../wire/requests.ts';
import { conclusionOf, Inconclusive, type KeyWanted, type Reason } from './reason.ts';
import type { RunFacts } from './run-facts.ts';
import { holdBack, ownAnswer, UNANSWERED_ATTEMPTS, unanswered } from './sending/interference.ts';
import { KeyLane } from './sending/key-lane.ts';
import type { Sender } from './sending/sender.ts';
import type { Keeping, Trace } from './trace.ts';

/** Credentials of a request that carries no valid key. */
export type NoKey = Exclude<Authorization, { readonly kind: 'key' }>;

/** Which key pays for a request; by default the functional one with the largest plan. */
export interface Payer {
  /** This one and no other, or none that is valid: it is what the request is about. */
  readonly key?: Key | NoKey | undefined;
  /** This one as long as the target admits it: as good as another, so that each is tried. */
  readonly preferred?: Key | undefined;
}

/** How many requests are in flight at once while a window is filled. */
export const IN_FLIGHT = 50;

/** How a burst is sent. */
export interface BurstOptions {
  readonly inFlight: number;
  /** Whether an answer is the last one that is needed. */
  readonly enough?: (exchange: Exchange) => boolean;
  /** The scene counts what is admitted by itself: of uniform answers not even a reading is kept. */
  readonly tallied?: boolean;
}

/** A named piece of work that sends, played once in a run. It decides no verdict: its outcome is plain data. */
export interface Scene<out T> {
  readonly kind: 'scene';
  /** Unique within a run, and kept from version to version: a stored outcome is found by it. */
  readonly id: string;
  /** The id of the scene that it is a part of; its own where it is a whole one. */
  readonly sentBy: string;
  /** Without it the scene is not played. */
  readonly permit?: Permission | undefined;
  /** What its requests are for, unless one says otherwise. */
  readonly intent: Intent;
  /** Played when all others were: it confirms what the whole trace made suspicious. */
  readonly afterwards?: true;
  /** A resumed run plays it again, since it is about now. */
  readonly eachSession?: true;
  readonly play: (run: SceneRun) => Promise<T>;
}

/** The same scene on several keys: the keys side by side, the scenes of one key in turn. */
export interface KeyScenes<out T> {
  readonly kind: 'on-keys';
  readonly permit: Permission;
  /** The keys of a profile that it is played on, in that order. */
  readonly keys: (keys: readonly Key[]) => readonly Key[];
  /** Which key a profile lacks that has none of them. */
  readonly wanted: KeyWanted;
  readonly on: (key: Key) => Scene<T>;
}

/** What a check can name. */
export type AnyScene = Scene<unknown> | KeyScenes<unknown>;

/** Defines a scene, ordinary unless it says otherwise. What it needs of others it asks for by `run.play(other)`. */
export const scene = <T>(
  id: string,
  options: Partial<Omit<Scene<T>, 'kind' | 'id' | 'play'>>,
  play: Scene<T>['play'],
): Scene<T> => ({ kind: 'scene', id, sentBy: id, intent: 'ordinary', ...options, play });

/** Defines a scene that is played on several keys; on one of them its id is `id:key`. */
export const sceneOnKeys = <T>(
  id: string,
  { intent, ...options }: Pick<KeyScenes<T>, 'permit' | 'keys' | 'wanted'> & Pick<Scene<T>, 'intent'>,
  play: (run: SceneRun, key: Key) => Promise<T>,
): KeyScenes<T> => ({
  kind: 'on-keys',
  ...options,
  on: (key) => scene(`${id}:${key.name}`, { permit: options.permit, intent }, (run) => play(run, key)),
});

/** What came of things that were tried one by one, or of a scene on its keys; or why nothing did. */
export type InTurn<T> = readonly (T | Inconclusive)[];

/** What came of a scene on those of its keys where it was played. @throws Inconclusive where nothing came of any */
export function playedOn<T>(outcomes: InTurn<T>): readonly [T, ...T[]] {
  const [first, ...more] = outcomes.flatMap((one) => (one instanceof Inconclusive ? [] : [{ one }]));
  if (first !== undefined) return [first.one, ...more.map(({ one }) => one)];
  throw outcomes.find((one) => one instanceof Inconclusive) ?? new Inconclusive('no usable key has the role');
}

/**
 * Tries things one by one. A lost answer costs only the thing that needed it. After a refusal that somebody else earned
 * nothing more is sent: it could earn a ban.
 *
 * @throws Inconclusive where the run has ended, so that a resumed one plays the scene anew
 */
export async function inTurn<T, U>(things: Iterable<T>, work: (thing: T) => Promise<U>): Promise<InTurn<U>> {
  const tried: (U | Inconclusive)[] = [];
  for (const thing of things) {
    const result = await conclusionOf(work(thing));
    if (result instanceof Inconclusive && result.reason.kind === 'ended') throw result;
    tried.push(result);
    if (result instanceof Inconclusive && result.evidence.every(isAnswered)) break;
  }
  return tried;
}

/** What came of all of them, tried one by one. @throws Inconclusive where one could not be done */
export async function allOf<T, U>(
  things: Iterable<T>,
  work: (thing: T) => Promise<U>,
): Promise<readonly U[]> {
  const results: U[] = [];
  for (const thing of things) results.push(await work(thing));
  return results;
}

const ARE_YOU_THERE = listPets({ limit: 1 });

/** After these a connection that was refused is tried again; a gateway that is short of room has some by then. */
const REFUSED_PAUSES = [50, 200, 800];

const withKey = ({ name, value }: Key): Authorization => ({ kind: 'key', name, value });

/** A scene that is played. */
export interface ScenePart extends Pick<Scene<unknown>, 'id' | 'sentBy' | 'intent'> {
  /** How often it was begun by earlier processes of the run, and cut off. */
  readonly cutOff: number;
  readonly play: <T>(scene: Scene<T>) => Promise<T>;
}

/**
 * A run as a scene has it: plays other scenes, sends the scene's requests, one exchange each, and records them under its
 * name.
 */
export class SceneRun {
  readonly trace: Trace;
  /** The ids of the scenes that it could not do without. */
  readonly asked = new Set<string>();
  readonly part: ScenePart;
  readonly #sender: Sender;
  #sent = 0;

  constructor(sender: Sender, part: ScenePart) {
    this.#sender = sender;
    this.trace = sender.trace;
    this.part = part;
  }

  get facts(): RunFacts {
    return this.trace.run;
  }

  /**
   * The outcome of another scene, which is played now if it was not before.
   *
   * @throws Inconclusive where it could not be played to its end, or was not permitted
   */
  play<T>(scene: Scene<T>): Promise<T> {
    this.asked.add(scene.id);
    return this.part.play(scene);
  }

  /** The outcome of another scene; undefined where nothing came of it. @throws Inconclusive where the run has ended */
  async tryPlay<T>(scene: Scene<T>): Promise<T | undefined> {
    const outcome = await conclusionOf(this.part.play(scene));
    if (!(outcome instanceof Inconclusive)) return outcome;
    if (outcome.reason.kind === 'ended') throw outcome;
    return undefined;
  }

  /** A part of this scene that is remembered by itself, so that a resumed run does not repeat it. */
  remember<T>(id: string, work: (run: SceneRun) => Promise<T>): Promise<T> {
    const { sentBy, intent } = this.part;
    return this.part.play({ kind: 'scene', id, sentBy, intent, play: work });
  }

  /** The keys that the target knows. */
  get keys(): readonly Key[] {
    return this.#sender.usable().map(({ key }) => key);
  }

  /** Those of them whose day is not spent. */
  get keysWithRequests(): readonly Key[] {
    return this.keys.filter((key) => this.lane(key).spent === undefined);
  }

  /** Why there are not as many of them as a scene needs. */
  get lacksKeys(): Reason | string {
    const [reason] = this.#sender.lanes.flatMap(({ unusable, spent }) => unusable ?? spent ?? []);
    return reason ?? 'fewer keys than it needs can be used';
  }

  /** Whether an earlier process of the run began this scene and did not finish it: what it spent is not on record. */
  get wasCutOff(): boolean {
    return this.part.cutOff > 0;
  }

  /** When this process began to work at the run, by its clock. */
  get beganAt(): number {
    return this.#sender.beganAt;
  }

  /** The time by the run's clock, in milliseconds since 1970. */
  now(): number {
    return this.#sender.clock.now();
  }

  /** Waits, and says so to whoever watches. */
  waitUntil(time: number, waitingFor: string): Promise<void> {
    return this.#sender.waitUntil(time, waitingFor);
  }

  /** What the run knows of a key's quota and permissions. */
  lane(key: Key): KeyLane {
    return this.#sender.laneOf({ key: key.name }) ?? new KeyLane(key);
  }

  /**
   * Sends one request and returns its answer. A 429 here is interference: somebody else spends the key. It is waited
   * out as told. So is a gateway that is unavailable. A connection that broke is tried once more where that does no
   * harm; an addition is tried twice more as another animal, a few times in a run. An addition that is forbidden to one
   * key is tried with another one.
   *
   * @throws Inconclusive when no answer of the target's own could be had
   */
  async send(spec: RequestSpec, { key, preferred }: Payer = {}): Promise<AnsweredExchange> {
    const asked = this.#firstName(spec);
    const exchange = await this.#answerTo(asked, key, preferred);
    if (key !== undefined || spec.operation !== 'createPet' || exchange.outcome.status !== 403)
      return exchange;
    // With this key animals were added before: it is the animal that is forbidden.
    if (this.#sender.laneOf(exchange)?.adding === 'allowed') return exchange;
    return this.#addedWithAnother(asked, exchange);
  }

  /** Sends one request with this key and returns whatever comes of it. */
  attempt(spec: RequestSpec, key: Key, keeping?: Keeping): Promise<Exchange> {
    return this.#exchange(this.#firstName(spec), withKey(key), keeping);
  }

  /**
   * Sends one request with this key and returns its answer, a refusal too. Where it is lost the request is sent again:
   * one that is over the limit does nothing.
   *
   * @throws Inconclusive when no answer could be had
   */
  async attemptAnswered(spec: RequestSpec, key: Key): Promise<AnsweredExchange> {
    for (let asked = spec, attempt = 1; ; asked = asked.again?.() ?? asked, attempt += 1) {
      const exchange = await this.attempt(asked, key);
      if (isAnswered(exchange)) return exchange;
      if (attempt === UNANSWERED_ATTEMPTS || wasInterrupted(exchange)) throw unanswered(exchange);
    }
  }

  /**
   * Sends requests with this key until all are answered or `enough` says stop; in the order of sending. Uniform
   * answers are kept as readings.
   */
  async burst(
    specs: Iterable<RequestSpec>,
    key: Key,
    { inFlight, enough = () => false, tallied = false }: BurstOptions,
  ): Promise<Exchange[]> {
    const exchanges: Exchange[] = [];
    const source = specs[Symbol.iterator]();
    let next = 0;
    let stopped = false;
    const worker = async () => {
      while (!stopped) {
        const { done, value: spec } = source.next();
        if (done === true) return;
        const index = next;
        next += 1;
        const exchange = await this.attempt(spec, key, tallied ? 'tallied' : 'uniform');
        // A copy: what was read of it, up to fifty times its size, is remembered with the original.
        exchanges[index] = { ...exchange };
        if (enough(exchange)) stopped = true;
      }
    };
    const workers = Array.from({ length: inFlight }, worker);
    await Promise.all(workers).finally(() => {
      // What ends one ends all: nobody counts any more.
      stopped = true;
    });
    if (tallied) this.#sender.recordTally(key.name, exchanges);
    return exchanges;
  }

  /** The addition as an animal that no process of this run may have added before. */
  #firstName(spec: RequestSpec): RequestSpec {
    let asked = spec;
    for (let times = 0; times < this.part.cutOff; times += 1) asked = asked.again?.() ?? asked;
    return asked;
  }

  /** @param by who sends it; by default the key that pays for such a request, whichever that is at the time */
  async #answerTo(
    spec: RequestSpec,
    by: Key | NoKey | undefined,
    preferred?: Key,
  ): Promise<AnsweredExchange> {
    if (by !== undefined && 'name' in by) await this.#untilCounted(by);
    let asked = spec;
    for (let number = 1; ; number += 1) {
      const sender = by ?? this.#sender.payer(asked.operation, preferred);
      const exchange = await ('name' in sender ? this.#inTurn(asked, sender) : this.#exchange(asked, sender));
      // Without a key the look is without any: these credentials alone may be what the target does not answer.
      const ask = () => this.#exchange(ARE_YOU_THERE, 'name' in sender ? withKey(sender) : { kind: 'none' });
      const attempt = { number, hasAnother: asked.again !== undefined, hasPayers: by === undefined, ask };
      const answer = await ownAnswer(this.#sender, exchange, attempt);
      if (answer !== undefined) {
        if ('name' in sender) await this.#throwIfRefusedAltogether(answer, sender, asked);
        return answer;
      }
      // What was refused for its rate was not done; of anything else nobody knows.
      if (!isAnswered(exchange) || exchange.outcome.status !== 429) asked = asked.again?.() ?? asked;
    }
  }

  /** Leaves a key alone whose requests are being counted. @throws Inconclusive where its day is spent */
  async #untilCounted(key: Key): Promise<void> {
    const lane = this.lane(key);
    if (lane.spent !== undefined) throw new Inconclusive(lane.spent);
    while (lane.isReserved) await this.waitUntil(this.now() + SECOND, `the count of key ${key.name} to end`);
  }

  /**
   * Sends an addition that was forbidden to a key with the others, until one is answered otherwise: then it was for the
   * key, and that key adds no more. Where a key that has added before is refused as well, it was for the animal.
   */
  async #addedWithAnother(asked: RequestSpec, refused: AnsweredExchange): Promise<AnsweredExchange> {
    const doubtful = this.#sender.lanes.filter(({ key }) => key.name === refused.key);
    for (const lane of doubtful) lane.adding = 'doubtful';
    const lanes = this.#sender.payers();
    const allowed = lanes.filter(({ adding }) => adding === 'allowed').slice(0, 1);
    for (const lane of allowed.length > 0 ? allowed : lanes.filter(({ adding }) => adding === 'untried')) {
      const exchange = await this.#answerTo(asked, lane.key);
      if (exchange.outcome.status !== 403) {
        for (const forbidden of doubtful) forbidden.adding = 'forbidden';
        return exchange;
      }
      if (lane.adding === 'allowed') return exchange;
      lane.adding = 'doubtful';
      doubtful.push(lane);
    }
    return refused;
  }

  /**
   * A valid key that is refused with 401 or 403 may be banned for what somebody else did with it. A ban refuses every
   * operation: another one tells it from a fault of this one.
   *
   * @throws Inconclusive where the key is refused altogether
   */
  async #throwIfRefusedAltogether(exchange: AnsweredExchange, key: Key, spec: RequestSpec): Promise<void> {
    const { status } = exchange.outcome;
    if ((status !== 401 && status !== 403) || this.part.intent === 'preflight') return;
    const other = spec.operation === 'listPets' ? getPet(1n) : listPets({ limit: 1 });
    const second = await this.attempt(other, key);
    if (!isAnswered(second) || second.outcome.status !== status) return;
    holdBack(this.#sender, second);
    throw new Inconclusive(
      { kind: 'interference', what: `key ${key.name} is refused with ${status}, whatever it asks for` },
      [exchange, second],
    );
  }

  /** Sends when no other ordinary request is under way with the key, and its minute admits it. */
  #inTurn(spec: RequestSpec, key: Key): Promise<Exchange> {
    const lane = this.lane(key);
    return lane.inTurn(async () => {
      const at = lane.readyAt(this.now(), this.trace.targetClock);
      await this.waitUntil(at, `the next window of key ${key.name}`);
      return this.#exchange(spec, withKey(key));
    });
  }

  /** Where the connection was refused the target knows nothing of the request: it is sent again, as one. */
  async #exchange(
    { again: _, intent = this.part.intent, ...asked }: RequestSpec,
    authorization: Authorization,
    keeping: Keeping = 'in-full',
  ): Promise<Exchange> {
    const { id, sentBy } = this.part;
    const { session } = this.#sender;
    const process = session === 1 ? '' : `${session}.`;
    for (let attempt = 0; ; attempt += 1) {
      this.#sent += 1;
      const record = { id: `${id}#${process}${this.#sent}`, sentBy, intent };
      const exchange = await this.#sender.exchange({ ...asked, authorization }, record, keeping);
      const pause = REFUSED_PAUSES[attempt];
      const isConnectionRefused =
        exchange.outcome.kind === 'failure' && exchange.outcome.reason === 'refused';
      if (!isConnectionRefused || pause === undefined) return exchange;
      await this.waitUntil(exchange.receivedAt + pause, 'a target that refused a connection');
    }
  }
}
