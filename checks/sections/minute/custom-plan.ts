/** Section 8: Enterprise, whose numbers the document leaves to those who agree on them. */

import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';

/** Why a plan's numbers bind no target with these keys; undefined where they do. */
export const withoutNumbers = (plan: PlanName) => (keys: readonly Key[]) =>
  plan === 'enterprise' && !keys.some((key) => key.plan === plan)
    ? 'the profile names no Enterprise key, and the document leaves its numbers custom'
    : undefined;
