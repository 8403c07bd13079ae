/** A capacity, as capacity.json holds it. */
import type { StepJudgement } from './judge-step.ts';
import type { StepOutcome } from './knee.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const CAPACITY_FORMAT_VERSION = 1;

/** One step of the search. */
export interface CapacityStep extends StepJudgement, StepOutcome {
  readonly phase: 'bracket' | 'bisect' | 'knee';
  readonly seconds: number;
  readonly requests: number;
}

/** What capacity.json holds. */
export interface CapacityResult {
  readonly formatVersion: typeof CAPACITY_FORMAT_VERSION;
  readonly run: {
    readonly target: string;
    readonly slo: string;
    readonly startedAt: string;
    readonly durationSeconds: number;
    readonly harnessVersion: string;
    readonly k6Version: string;
  };
  /**
   * found: with an interval; at-least: nothing broke up to the highest rate tried; otherwise what ended the search: with
   * an interval all the same where quotas ended it late.
   */
  readonly outcome: 'found' | 'at-least' | 'below' | 'generator-limited' | 'quota-limited' | 'interrupted';
  readonly reason: string;
  /** Requests per second. */
  readonly capacity: number | null;
  /** 95 % interval, requests per second. */
  readonly interval: readonly [number, number] | null;
  /** Requests per second that held, where there is no interval and no lower rate broke. */
  readonly atLeast?: number;
  readonly steps: readonly CapacityStep[];
  /** The step that could not be made as it should, where that ended the search. It says nothing of the target. */
  readonly failedStep?: Pick<CapacityStep, 'rate' | 'phase' | 'seconds' | 'reason'>;
}

/** What a search found. */
export type CapacityFound = Pick<CapacityResult, 'outcome' | 'reason' | 'capacity' | 'interval' | 'atLeast'>;
