import type { TargetClock } from '../limits/target-clock.ts';
import type { Key } from '../profile/key.ts';
import type { Permission } from '../profile/permissions.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import type { RequestSpec } from '../wire/requests.ts';
import type { KeyLane } from './key-lane.ts';

/** Credentials of a request that carries no valid key. */
export type NoKey = { readonly header: string; readonly described: string } | 'none';

/** How to pay for a request. */
export interface Payment {
  /** The key to use; without it the functional key with the largest plan. */
  readonly key?: Key | undefined;
}

/** How a burst is sent. */
export interface BurstOptions {
  /** How many requests are under way at the same time. */
  readonly inFlight: number;
  /** Whether an answer is the last one that is needed. */
  readonly enough?: (exchange: Exchange) => boolean;
  /** The scene counts what is admitted by itself: of uniform answers not even a reading is kept. */
  readonly tallied?: boolean;
}

/** What is fixed for a run before it begins, and the keys that the target was found to know. */
export interface RunFacts {
  readonly id: string;
  /** Base address of the target, with the version segment. */
  readonly baseUrl: string;
  /** Keys of the profile that are no load keys. */
  readonly keys: readonly Key[];
  readonly permissions: ReadonlySet<Permission>;
  /** The categoryId that the profile knows to exist. */
  readonly sampleCategoryId: bigint | undefined;
  /** How many of the run's seconds pass in a real one. */
  readonly clockSpeed: number;
}

/** Work with a name, played once a run. */
export interface Playable<T> {
  /** Unique within a run, and kept from version to version: a stored outcome is found by it. */
  readonly id: string;
  readonly play: (probe: Probe) => Promise<T>;
}

/** A scene's way to the target: sends its requests, one exchange each, and records them under its name. */
export interface Probe {
  readonly run: RunFacts;
  /** The keys that the target knows. */
  readonly keys: readonly Key[];
  readonly targetClock: TargetClock;

  /** Whether an earlier process of the run began this scene and did not finish it: what it spent is not on record. */
  readonly wasCutOff: boolean;

  /** The time by the run's clock, in milliseconds since 1970. */
  now(): number;

  /** Waits, and says so to whoever watches. */
  waitUntil(time: number, waitingFor: string): Promise<void>;

  /** A whole number below `bound` that is the same whenever this run is resumed. */
  random(label: string, bound: bigint): bigint;

  /**
   * Sends one request and returns its answer. A 429 here is interference: somebody else spends the key. It is waited
   * out as told. So is a gateway that is unavailable. A connection that broke is tried once more where that does no
   * harm; an addition is tried as another animal, once a run. An addition that is forbidden to one key is tried with
   * another one.
   *
   * @throws Unsettled when no answer of the target's own could be had
   */
  send(spec: RequestSpec, payment?: Payment): Promise<AnsweredExchange>;

  /** Sends one request without a valid key; broken connections and 429 are treated as in `send`. */
  sendWithoutKey(spec: RequestSpec, credentials: NoKey): Promise<AnsweredExchange>;

  /** Sends one request with this key and returns whatever comes of it. */
  attempt(spec: RequestSpec, key: Key): Promise<Exchange>;

  /**
   * The answer to a request that was attempted, or to the same as another animal where its answer was lost.
   *
   * @throws Unsettled when no answer could be had
   */
  answerTo(exchange: Exchange, spec: RequestSpec, key: Key): Promise<AnsweredExchange>;

  /**
   * Sends requests with this key until all are answered or `enough` says stop; in the order of sending. Uniform
   * answers are kept as readings.
   */
  burst(specs: readonly RequestSpec[], key: Key, options: BurstOptions): Promise<Exchange[]>;

  /** What this run sent on a key since a moment, as the rate limit saw it, in the order of sending. */
  readingsOf(key: Key, since?: number): readonly RateReading[];

  /** An exchange of this run that was kept in full. */
  find(id: string): Exchange | undefined;

  /** What the run knows of a key's quota and permissions. */
  lane(key: Key): KeyLane;

  /** Marks a key as counted while this goes on: a request of another scene would be one too many. */
  counting<T>(key: Key, count: () => Promise<T>): Promise<T>;

  /** Plays a part of this scene that is stored by itself, so that a resumed run does not repeat it. */
  part<T>(part: Playable<T>): Promise<T>;

  /** Says how far a long spending has come. */
  progress(key: Key, done: number, of: number): void;
}
