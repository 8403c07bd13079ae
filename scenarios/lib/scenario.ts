/**
 * A scenario, and the plan that the runner makes of it before k6 starts. Both are plain data for the runner (Node) and
 * the scripts (k6).
 */
import type { ClientCost } from './client-cost.ts';
import type { RunFacts } from './events.ts';

/** The operations that load consists of, in the order of their numbers in samples. */
export const OPERATIONS = ['listPets', 'createPet', 'getPet'] as const;
export type LoadOperation = (typeof OPERATIONS)[number];

export type PlanName = PlannedKey['plan'];

/** How many requests each operation gets, relative to the others. */
export type Mix = Readonly<Record<LoadOperation, number>>;

/** Names of load profiles: how the rate goes over time, whatever is sent. */
export type LoadProfileName = 'constant' | 'average-load' | 'stress' | 'spike' | 'soak' | 'breakpoint';

/** Requests that arrive at a rate, however slowly they are answered (open model). */
export interface RateStream {
  readonly kind: 'rate';
  readonly name: string;
  /** The function that the script exports for it; k6 calls it once per request. */
  readonly exec: string;
  readonly profile: LoadProfileName;
  /** From and to, as parts of the run's duration; default all of it. */
  readonly from?: number;
  readonly to?: number;
}

/** Clients at their own pace, one VU each (closed model). Their behaviour is measured. */
export interface ClientStream {
  readonly kind: 'clients';
  readonly name: string;
  readonly exec: string;
  /** There is one client for each key with this role, or `count` clients that share one key. */
  readonly role: 'exhaust' | 'ban' | 'load';
  readonly count?: number;
  readonly plans?: readonly PlanName[];
  readonly from?: number;
  readonly overLimit?: boolean;
  /** The most that one client sends. */
  readonly cost: ClientCost;
}

type Stream = RateStream | ClientStream;

/** What the runner judges in addition to thresholds, over all samples of all processes. */
export type Judge = 'latency-trend' | 'recovery' | 'neighbour' | 'unique-ids';

/** A scenario's facts. What its clients do is in its script. */
export interface ScenarioFacts {
  readonly name: string;
  /** What the report answers, for a capacity engineer. */
  readonly answers: string;
  /** Default requests per second; absent if no stream has a rate. */
  readonly rate?: number;
  /** Default duration; absent if the scenario waits for the target (`targetSeconds`). */
  readonly seconds?: number;
  readonly streams: readonly Stream[];
  readonly mix: Mix;
  /** In the language of `--slo`: `p99<500ms`, `errors<1%`. */
  readonly thresholds: string;
  /** Permissions. */
  readonly needs?: readonly ('writes' | 'exhaust' | 'ban')[];
  readonly judges?: readonly Judge[];
  /** Seconds of the target's clock, if the scenario waits for windows or bans to end. */
  readonly targetSeconds?: number;
  /** Stop as soon as the thresholds are broken. */
  readonly stopWhenBroken?: boolean;
}

/** A key in a plan: everything but its value, which is in the environment variable `env` only. */
export type PlannedKey = Readonly<RunFacts['keys'][number]>;

export interface PlannedStream {
  readonly name: string;
  /** Positions in `LoadPlan.keys`. */
  readonly keys: readonly number[];
  /** Which of `keys` pays for the n-th request; empty if every client has a key of its own. */
  readonly schedule: readonly number[];
  readonly expects429: boolean;
  /** Arrivals per second, if constant; the schedule lag follows from it. */
  readonly constantRate?: number;
  /** Of a constant rate: what was paid, and within how many seconds of its start k6 cannot have begun more. */
  readonly paid?: { readonly requests: number; readonly seconds: number };
  /** Of clients at their own pace: what each has been billed for. */
  readonly cost?: ClientCost;
}

/** Everything that the scripts need to know; plan.json beside the bundled script. It holds no secret. */
export interface LoadPlan {
  readonly scenario: string;
  readonly runId: string;
  /** Base address without a trailing slash. */
  readonly target: string;
  readonly keys: readonly PlannedKey[];
  readonly streams: readonly PlannedStream[];
  readonly mix: Mix;
  /** One body in this many is judged by the schema. */
  readonly validateEvery: number;
  /** How the target's clock relates to this machine's: `target = at + (now - from) * speed`, in milliseconds. */
  readonly clock: { readonly from: number; readonly at: number; readonly speed: number };
  readonly seconds: number;
  /** Whether lists are asked for in every way (limits, filters) or always the plain one. */
  readonly lists: 'varied' | 'plain';
  /** Host and port of k6's API, from which `teardown` reads k6's own figures, if anybody needs them. */
  readonly control: string | undefined;
  readonly samples: { readonly categoryId: string; readonly ids: readonly string[] };
  /**
   * If several machines run the same files, the n-th machine takes the n-th of these instead of each stream's keys and
   * schedule. Its execution segment says which machine it is.
   */
  readonly shards?: readonly Pick<PlannedStream, 'keys' | 'schedule'>[];
  /** What `merge` needs in addition to samples to make a report from a runner's log. */
  readonly report?: { readonly answers: string; readonly slo: string; readonly blockSeconds: number };
  /** k6's options, made from the streams. */
  readonly options: Readonly<Record<string, unknown>>;
}
