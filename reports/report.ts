/**
 * The report of one conformance run, as in report.json. report.schema.json beside this file is the same for other tools.
 */

import type { Permission } from '../checks/profile/permissions.ts';
import type { RequirementVerdict, RunVerdict } from '../checks/run/verdict.ts';
import type { Exchange } from '../checks/wire/exchange.ts';

/**
 * Within a version no field is removed, retyped or given another meaning, and a new field is optional. An older report
 * thus stays valid, and a reader ignores the fields of a newer one that it does not know. Any other change raises the
 * version.
 */
export const REPORT_FORMAT_VERSION = 2;

export interface Report {
  readonly formatVersion: typeof REPORT_FORMAT_VERSION;
  readonly run: RunFacts;
  /** `conformant` if nothing failed and nothing that was asked for is inconclusive. */
  readonly verdict: RunVerdict;
  /** False if something was skipped: the run verified what was asked for, and no more. */
  readonly complete: boolean;
  /** What made the verdict in addition to the rows, a line each, such as a stale baseline entry. */
  readonly problems: readonly string[];
  readonly requirements: readonly RequirementResult[];
  readonly gaps: readonly GapResult[];
  readonly requests: RequestBill;
  /**
   * Rate-limit history of the run, in the order of receipt. In a run of many thousand requests, those that are alike and
   * close in time are one point with their number.
   */
  readonly timeline: readonly TimelinePoint[];
  /**
   * The exchanges in full: all evidence, and all others except the uniform ones of a burst, which are in the timeline.
   * The journal beside the report has every one.
   */
  readonly exchanges: readonly Exchange[];
}

export interface RunFacts {
  /** Random; the names of the animals that the run added begin with `harness-<id>`. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** By the harness's own clock, which runs at `clockSpeed` times real time. */
  readonly durationSeconds: number;
  readonly harnessVersion: string;
  /** Base address of the target, without credentials. */
  readonly target: string;
  readonly permissions: readonly Permission[];
  /** Names of the keys used, with their plans and roles; never their values. */
  readonly keys: readonly {
    readonly name: string;
    readonly plan: string;
    readonly roles: readonly string[];
  }[];
  /** 1 is real time; anything else is a simulated clock, which every format mentions. */
  readonly clockSpeed: number;
  /** Whether run and target shared a simulated clock, which skipped the time in which both waited. */
  readonly sharedClock?: boolean;
  /** Set if the run ended early: the signal or the reason. */
  readonly interrupted?: string;
  /** The command that continues the run, if its target is still there. */
  readonly resume?: string;
  /** Requirement ids, if the run was restricted to some. */
  readonly only?: readonly string[];
  /** How many animals the run added to the store; they stay. */
  readonly animalsAdded: number;
  /** The target's clock minus the harness's, in milliseconds, judged by the Date header. */
  readonly targetClockSkewMs?: number;
  /** The command that repeats the run. */
  readonly command: string;
  /** What it would cost to verify the skipped requirements too. */
  readonly costOfSkipped?: { readonly requests: number; readonly seconds: number };
}

export interface RequirementResult {
  readonly id: string;
  readonly section: string;
  readonly level: 'MUST' | 'MAY';
  readonly title: string;
  /** What the document asks, in one or two sentences. */
  readonly statement: string;
  readonly verdict: RequirementVerdict;
  /** One line: why this verdict. */
  readonly reason: string;
  /** For a failure, what the document asks of exactly this exchange. */
  readonly expected?: string;
  /** For a failure, what came back. */
  readonly actual?: string;
  /** Ids into `exchanges`, the decisive one first. */
  readonly evidence: readonly string[];
  /** For a failure, a command that repeats the decisive exchange, the key as a shell variable. */
  readonly curl?: string;
  /** The id of the broken requirement that explains this row. */
  readonly consequenceOf?: string;
  /** Set if the baseline (`--baseline`) lists this failure, or the failure that explains it: it does not gate. */
  readonly baselined?: boolean;
  /** Set if the row was skipped and `--require` asks for it: it gates at any level. */
  readonly required?: boolean;
}

export interface GapResult {
  readonly id: string;
  readonly section: string;
  readonly question: string;
  /** This target's answer; null if the run did not see one. */
  readonly observed: string | null;
  /** The answer that the profile pins, or null. */
  readonly pinned: string | null;
  readonly verdict: 'observed' | 'kept' | 'drifted' | 'not-observed' | 'unobservable';
  /** How the answer was seen, or why it was not. */
  readonly detail: string;
  readonly evidence: readonly string[];
}

export interface RequestBill {
  readonly total: number;
  /** By key name; requests without a valid key are under `(none)`. */
  readonly byKey: Readonly<Record<string, number>>;
}

/** One exchange as the rate limit saw it, or several that were alike. */
export interface TimelinePoint {
  /** Seconds since the run began, by the harness's clock, when the response was complete. */
  readonly at: number;
  readonly key: string | null;
  readonly operation: string;
  /** HTTP status, or 0 if no response came. */
  readonly status: number;
  readonly limit?: number;
  readonly remaining?: number;
  /** X-RateLimit-Reset, in seconds since the run began. */
  readonly reset?: number;
  /** Set on a refusal: banned rather than over the limit. */
  readonly banned?: boolean;
  /**
   * How many exchanges it stands for, if several: `at` is that of the first one, `remaining` the lowest. Older reports
   * lack this field, and have a point for every exchange.
   */
  readonly times?: number;
}
