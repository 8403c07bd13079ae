import type { PlanLimits, ProfileKey } from './target-profile.ts';

/** A key of the profile with its value and its plan's numbers. */
export interface Key extends ProfileKey {
  readonly limits: PlanLimits;
  readonly value: string;
}
