/** A capacity, as capacity.json holds it. */
import type { StepJudgement } from './judge-step.ts';
import type { StepOutcome } from './knee.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const CAPACITY_FORMAT_VERSION = 1;

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
   * `found` has an interval. `at-least` means that nothing broke up to the highest rate tried. The others name what ended
   * the search; there is an interval if quotas ended it late.
   */
  readonly outcome: 'found' | 'at-least' | 'below' | 'generator-limited' | 'quota-limited' | 'interrupted';
  readonly reason: string;
  /** Requests per second. */
  readonly capacity: number | null;
  /** 95 % interval, requests per second. */
  readonly interval: readonly [number, number] | null;
  /** The highest rate that held, in requests per second. Set if there is no interval and no lower rate broke. */
  readonly atLeast?: number;
  readonly steps: readonly CapacityStep[];
  /** The step that ended the search because it could not be run properly. It says nothing of the target. */
  readonly failedStep?: Pick<CapacityStep, 'rate' | 'phase' | 'seconds' | 'reason'>;
}

export type CapacityFound = Pick<CapacityResult, 'outcome' | 'reason' | 'capacity' | 'interval' | 'atLeast'>;
