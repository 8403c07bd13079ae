import type { PlanLimits, ProfileKey } from './target-profile.ts';

/** A key of the profile with its value and its plan's numbers. */
export interface Key extends ProfileKey {
  readonly limits: PlanLimits;
  readonly value: string;
}

/** The functional keys, except the one of this name. */
export const otherKeys = (keys: readonly Key[], key: { readonly name: string | null }): Key[] =>
  keys.filter(({ name, roles }) => name !== key.name && roles.includes('functional'));
