import type { PlanLimits, ProfileKey } from './target-profile.ts';

export interface Key extends ProfileKey {
  readonly limits: PlanLimits;
  readonly value: string;
}
