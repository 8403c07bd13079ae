/**
 * The report of one conformance run: what report.json holds and every renderer reads.
 * report.schema.json beside this file says the same to other tools.
 */

import type { Permission } from '../checks/profile/permissions.ts';
import type { RequirementVerdict, RunVerdict } from '../checks/run/verdict.ts';
import type { Exchange } from '../checks/wire/exchange.ts';

/**
 * What a consumer may rely on: within a version no field is removed, retyped or given another meaning, and what is
 * added is optional. So an older report stays valid, and of a newer one a reader passes over what it does not know.
 * Everything else raises the version.
 */
export const REPORT_FORMAT_VERSION = 2;

export interface Report {
  readonly formatVersion: typeof REPORT_FORMAT_VERSION;
  readonly run: RunFacts;
  /** `conformant` where nothing failed and nothing that was asked for is inconclusive. */
  readonly verdict: RunVerdict;
  /** False where something was skipped: such a run verified what it was asked for, and no more. */
  readonly complete: boolean;
  /** What made the verdict beside the rows, a line each: a stale baseline entry, that nothing could be judged. */
  readonly problems: readonly string[];
  readonly requirements: readonly RequirementResult[];
  readonly gaps: readonly GapResult[];
  readonly requests: RequestBill;
  /**
   * Rate-limit history of the run, in the order of receipt; what a chart draws. In a run of many thousand requests
   * those that are alike and close in time are one point, which says how many they were.
   */
  readonly timeline: readonly TimelinePoint[];
  /**
   * The exchanges in full: all that evidence points to and all others but the uniform ones of a burst, which are in
   * the timeline. The journal beside the report has every one.
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
  /** 1 is real time; anything else is a simulated clock, which every rendering says. */
  readonly clockSpeed: number;
  /** Whether the run shared a simulated clock with its target, which left out the time in which both waited. */
  readonly sharedClock?: boolean;
  /** Set where the run ended before all checks had: the signal or the reason. */
  readonly interrupted?: string;
  /** The command that goes on with it, where its target is still there. */
  readonly resume?: string;
  /** Requirement ids that the run was restricted to, where it was. */
  readonly only?: readonly string[];
  /** How many animals the run added to the store; they stay. */
  readonly animalsAdded: number;
  /** The target's clock minus the harness's, in milliseconds, as far as the Date header tells. */
  readonly targetClockSkewMs?: number;
  /** The command that repeats the run. */
  readonly command: string;
  /** What verifying the skipped requirements too would cost. */
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
  /** Set where the baseline (`--baseline`) lists a failure, or the failure that explains it: it does not gate. */
  readonly baselined?: boolean;
  /** Set where the row was skipped and `--require` asks for it: it gates whatever its level. */
  readonly required?: boolean;
}

export interface GapResult {
  readonly id: string;
  readonly section: string;
  readonly question: string;
  /** This target's answer; null where the run did not see one. */
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
  /** HTTP status, or 0 where no response came. */
  readonly status: number;
  readonly limit?: number;
  readonly remaining?: number;
  /** X-RateLimit-Reset, in seconds since the run began. */
  readonly reset?: number;
  /** Set on a refusal: banned rather than over the limit. */
  readonly banned?: boolean;
  /**
   * How many exchanges it stands for, from 2 on: `at` is the first one's, `remaining` the lowest. Reports from before
   * this field have a point for every exchange.
   */
  readonly times?: number;
}
