/**
 * What a scenario is: its facts, which the runner (Node) and the script (k6) read alike. What its clients do is in
 * scenarios/clients.ts.
 */
import type { OperationName } from '../../spec/operations.ts';
import type { LoadProfileName } from './load-profiles.ts';

/** The operations that a load sends, in the document's order: the interface may have more. */
export const LOAD_OPERATIONS = [
  'listPets',
  'createPet',
  'getPet',
] as const satisfies readonly OperationName[];
export type LoadOperation = (typeof LOAD_OPERATIONS)[number];

/** How many requests each operation gets, relative to the others. */
export type Mix = Readonly<Record<LoadOperation, number>>;

/** The outcome of a request. It is `refused` if a 429 is part of the scenario. */
export const OUTCOMES = ['ok', 'refused', 'unexpected-429', 'error', 'violation', 'unfinished'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a clause of an objective bounds. */
export const SLO_METRICS = ['latency', 'errors', 'violations'] as const;

/** Begins each line of k6's log that is for the runner; a message (messages.ts) follows as JSON. */
export const MARK = 'petstore ';

/** In results, the requests that arrive at a rate. */
export const ARRIVALS = 'clients';

/** Clients at their own pace, one VU each (closed model). Their behaviour is measured. */
export interface Personas {
  /** Also that of the function in scenarios/clients.ts that is such a client. */
  readonly name: string;
  /**
   * Whose keys they have. With `exhaust` each key of a plan with a number has a client at its limit, with `ban` one has a
   * client that goes over it, with `load` one pays for `count` clients, who keep to it.
   */
  readonly role: 'exhaust' | 'ban' | 'load';
  readonly count?: number;
  /** When they begin, as a part of the run's duration; default at once. */
  readonly from?: number;
  /** Whether each client must report something at its end. */
  readonly reports?: boolean;
  /** The most that one client sends, by its plan's minute and the real seconds that it has. */
  readonly most: (perMinute: number, seconds: number) => number;
  /** The most that it sends within one minute, if that is less than in all. */
  readonly mostInMinute?: (perMinute: number) => number;
}

/** A scenario's facts. */
export interface ScenarioFacts {
  readonly name: string;
  /** What the report answers, for a capacity engineer. */
  readonly answers: string;
  /** How the rate goes at which requests arrive, however slowly they are answered (open model); absent without any. */
  readonly profile?: LoadProfileName;
  /** Default requests per second. */
  readonly rate?: number;
  /** Default duration; absent if the scenario waits for the target (`targetSeconds`). */
  readonly seconds?: number;
  readonly personas?: Personas;
  readonly mix: Mix;
  /** Whether lists are asked for without a limit or a filter. */
  readonly plainLists?: boolean;
  /** In the language of `--slo`: `p99<500ms`, `errors<1%`. */
  readonly thresholds: string;
  /** Permissions. */
  readonly needs?: readonly ('writes' | 'exhaust' | 'ban')[];
  /** A later part of the run that must be as good as an earlier one, over all samples of all processes. */
  readonly compares?: {
    /** What is judged, in the report. */
    readonly name: string;
    /** As parts of the run's duration. The later one lasts to its end. */
    readonly earlier: readonly [from: number, to: number];
    readonly later: number;
    /** The tolerated slow-down of the median; four times that for p99. */
    readonly tolerated: number;
  };
  /** Whether each animal that was added must have an id of its own. */
  readonly uniqueIds?: boolean;
  /** Seconds of the target's clock, if the scenario waits for windows or bans to end. */
  readonly targetSeconds?: number;
  /** Length of a time block of the result; by default a run has about 120 of them. */
  readonly blockSeconds?: number;
}

/** The variables in which k6 gets a client certificate and its private key, in PEM. */
export const [TLS_CERT, TLS_KEY] = ['PETSTORE_TLS_CERT', 'PETSTORE_TLS_KEY'] as const;
