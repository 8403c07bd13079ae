/**
 * A scenario, and the plan that the runner makes of it before k6 starts. Both are plain data for the runner (Node) and
 * the script (k6).
 */
import type { PlanName } from '../../spec/plans.ts';
import type { ClientCost } from './load-plan.ts';
import type { LoadProfileName } from './load-profiles.ts';
import type { LoadOperation } from './operations.ts';

/** How many requests each operation gets, relative to the others. */
export type Mix = Readonly<Record<LoadOperation, number>>;

/** The outcome of a request. It is `refused` if a 429 is part of the scenario. */
export const OUTCOMES = ['ok', 'refused', 'unexpected-429', 'error', 'violation', 'unfinished'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Begins each line of k6's log that is for the runner; a message (messages.ts) follows as JSON. */
export const MARK = 'petstore ';

/** Requests that arrive at a rate, however slowly they are answered (open model). */
export interface RateStream {
  readonly kind: 'rate';
  readonly name: string;
  readonly profile: LoadProfileName;
  /** From and to, as parts of the run's duration; default all of it. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * The most requests of a client in all.
 *
 * @param perMinute of the key's plan
 * @param seconds real ones that the client has
 */
export function mostOf(
  { minutes, plus, perSecond = 0 }: ClientCost,
  perMinute: number,
  seconds: number,
): number {
  return Math.ceil(minutes * perMinute + plus + perSecond * seconds);
}

/** Clients at their own pace, one VU each (closed model). Their behaviour is measured. */
export interface ClientStream {
  readonly kind: 'clients';
  /** Also that of the function in scenarios/clients.ts that is such a client. */
  readonly name: string;
  /** There is one client for each key with this role, or `count` clients that share one key. */
  readonly role: 'exhaust' | 'ban' | 'load';
  readonly count?: number;
  readonly plans?: readonly PlanName[];
  readonly from?: number;
  readonly overLimit?: boolean;
  /** Whether each client must report something at its end. */
  readonly reports?: boolean;
  /** Whether X-RateLimit-Remaining is to count every request of all clients together. */
  readonly counted?: boolean;
  /** The most that one client sends. */
  readonly cost: ClientCost;
}

/** A scenario's facts. What its clients do is in scenarios/clients.ts. */
export interface ScenarioFacts {
  readonly name: string;
  /** What the report answers, for a capacity engineer. */
  readonly answers: string;
  /** Default requests per second; absent if no stream has a rate. */
  readonly rate?: number;
  /** Default duration; absent if the scenario waits for the target (`targetSeconds`). */
  readonly seconds?: number;
  readonly streams: readonly (RateStream | ClientStream)[];
  readonly mix: Mix;
  /** In the language of `--slo`: `p99<500ms`, `errors<1%`. */
  readonly thresholds: string;
  /** Permissions. */
  readonly needs?: readonly ('writes' | 'exhaust' | 'ban')[];
  /** What is judged in addition to thresholds, over all samples of all processes. */
  readonly judges?: readonly ('latency-trend' | 'recovery' | 'neighbour' | 'unique-ids')[];
  /** Seconds of the target's clock, if the scenario waits for windows or bans to end. */
  readonly targetSeconds?: number;
  /** Length of a time block of the result; by default a run has about 120 of them. */
  readonly blockSeconds?: number;
  /** Stop as soon as the thresholds are broken. */
  readonly stopWhenBroken?: boolean;
}

/** The variables in which k6 gets a client certificate and its private key, in PEM. */
export const [TLS_CERT, TLS_KEY] = ['PETSTORE_TLS_CERT', 'PETSTORE_TLS_KEY'] as const;
