/**
 * The result of one load run: what load-report.json holds, `compare` compares and `merge` merges.
 * load-result.schema.json beside this file says the same to other tools.
 */

import type { EventOf } from '../../lib/events.ts';
import type { Outcome } from '../../lib/sample.ts';
import type { LoadOperation, PlanName } from '../../lib/scenario.ts';
import type { ViolationSummary } from '../k6/event-log.ts';
import type { QuotaBill } from '../quota/quota.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const LOAD_RESULT_FORMAT_VERSION = 1;

/** Begins the note on a question of the scenario that the run leaves open. */
export const NOT_JUDGED = 'not judged: ';

export interface LoadResult {
  readonly formatVersion: typeof LOAD_RESULT_FORMAT_VERSION;
  readonly run: LoadRun;
  /**
   * held: every threshold and assertion; broken: at least one is not; generator-limited: the machine that made the
   * load was the limit, so that the figures say nothing of the target; interrupted: ended before its time.
   */
  readonly verdict: 'held' | 'broken' | 'generator-limited' | 'interrupted' | 'failed-to-run';
  /** One line for each thing that a reader must know beside the verdict. */
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
  /** k6's exit code; of several processes the one that says most. */
  readonly k6ExitCode: number | null;
  readonly shards: number;
  /** 1 is real time; anything else is a simulated clock of the target. */
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
  /** By HTTP status; from 1,000 on by k6's error code, where no response came; 0 for requests cut off at the end. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Null where no request was made. */
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
  /** Start, in milliseconds since 1970: a multiple of the block's length, so that blocks of several runs align. */
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
  /** Arrivals that were not sent, for want of a free VU. */
  readonly droppedIterations: number;
  /** Milliseconds by which arrivals began late, against an even schedule; null where the rate was not constant. */
  readonly scheduleLagP95Ms: number | null;
  /** Of all the machine's cores, k6 alone, averaged and at its highest; null where it cannot be measured. */
  readonly cpuMeanPart: number | null;
  readonly cpuPeakPart: number | null;
  readonly memoryPeakBytes: number | null;
  /** Lines that k6 logged at the level of an error. */
  readonly errorLines: readonly string[];
  /** Why the generator was the limit; null where it was not. */
  readonly limit: string | null;
}
