/**
 * The result of one load run, as in load-report.json. load-result.schema.json beside this file is the same for other
 * tools.
 */

import type { EventOf } from '../../lib/events.ts';
import type { Outcome } from '../../lib/sample.ts';
import type { LoadOperation, PlanName } from '../../lib/scenario.ts';
import type { ViolationSummary } from '../k6/event-log.ts';
import type { QuotaBill } from '../quota/quota.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const LOAD_RESULT_FORMAT_VERSION = 1;

/** Begins a note on a question of the scenario that the run left open. */
export const NOT_JUDGED = 'not judged: ';

export interface LoadResult {
  readonly formatVersion: typeof LOAD_RESULT_FORMAT_VERSION;
  readonly run: LoadRun;
  /**
   * `held` means every threshold and assertion, `broken` that at least one is not. `generator-limited` means that the
   * machine that made the load was the limit: the figures say nothing of the target. `interrupted` is an early end.
   */
  readonly verdict: 'held' | 'broken' | 'generator-limited' | 'interrupted' | 'failed-to-run';
  /** What a reader must know in addition to the verdict, one line each. */
  readonly notes: readonly string[];
  /** Per stream, operation and plan. */
  readonly series: readonly LoadSeries[];
  /** All series in one. */
  readonly total: LoadFigures;
  readonly thresholds: readonly ThresholdOutcome[];
  readonly generator: GeneratorHealth;
  readonly violations: readonly ViolationSummary[];
  readonly measurements: readonly Omit<EventOf<'measurement'>, 'kind'>[];
  readonly bill: QuotaBill;
}

export interface LoadRun {
  /** Random; the names of the animals that the run added begin with `harness-<id>`. */
  readonly id: string;
  readonly scenario: string;
  /** The question that the scenario answers. */
  readonly answers: string;
  readonly target: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** From the first request to the end of the last, in seconds. */
  readonly durationSeconds: number;
  readonly harnessVersion: string;
  readonly k6Version: string;
  /** k6's exit code; of several processes the one that matters most. */
  readonly k6ExitCode: number | null;
  readonly shards: number;
  /** Seconds of the target's clock in one real second: 1 unless the clock is simulated. */
  readonly clockSpeed: number;
  readonly animalsAdded: number;
  readonly interrupted?: string;
}

/** Latency in milliseconds. */
export interface Latency {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** HdrHistogram, V2, deflated, base64; microseconds, three significant digits. */
  readonly histogram: string;
}

export interface LoadFigures {
  readonly requests: number;
  readonly perSecond: number;
  /** By HTTP status. From 1,000 on it is k6's error code, as no response came. 0 is a request cut off at the end. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Null if no request was answered. */
  readonly latency: Latency | null;
}

export interface LoadSeries extends LoadFigures {
  readonly stream: string;
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  readonly blockSeconds: number;
  readonly blocks: readonly LoadBlock[];
}

/** A time block of a series. Blocks without a request are left out. */
export interface LoadBlock {
  /** Start, in milliseconds since 1970: a multiple of the block's length, so that blocks of different runs align. */
  readonly at: number;
  readonly requests: number;
  /** Unexpected 429s, unexpected statuses, missing responses. */
  readonly errors: number;
  readonly refused: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly histogram: string;
}

export interface ThresholdOutcome {
  /** `p99<500ms`, or what a persona asserts. */
  readonly name: string;
  readonly held: boolean;
  readonly actual: string;
  readonly expected?: string;
  /** Name of the key that an assertion is about. */
  readonly key?: string;
}

/** How the machine that made the load fared. */
export interface GeneratorHealth {
  /** Arrivals that were not sent because no VU was free. */
  readonly droppedIterations: number;
  /** How late arrivals began, compared with an even schedule; null if the rate was not constant. */
  readonly scheduleLagP95Ms: number | null;
  /** The part of all cores that k6 used, on average and at its peak; null if it cannot be measured. */
  readonly cpuMeanPart: number | null;
  readonly cpuPeakPart: number | null;
  readonly memoryPeakBytes: number | null;
  /** Lines that k6 logged at the level of an error. */
  readonly errorLines: readonly string[];
  /** Why the generator was the limit; null if it was not. */
  readonly limit: string | null;
}
