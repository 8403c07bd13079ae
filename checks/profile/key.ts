import type { KeyRole, PlanLimits, PlanName } from './target-profile.ts';

/** A key of the profile with its value and its plan's numbers. */
export interface Key {
  readonly name: string;
  readonly plan: PlanName;
  readonly roles: readonly KeyRole[];
  readonly limits: PlanLimits;
  readonly value: string;
  /** The environment variable that holds the value: what reproduction commands name. */
  readonly env: string;
  readonly unusedToday: boolean;
}
