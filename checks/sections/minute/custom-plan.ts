/** Section 8: Enterprise, whose numbers the document leaves to those who agree on them. */

import type { PlanName } from '../../profile/target-profile.ts';
import type { Key } from '../../run/key-pool.ts';

/** Why a plan's numbers bind no target with these keys; undefined where they do. */
export const withoutNumbers = (plan: PlanName) => (keys: readonly Key[]) =>
  plan === 'enterprise' && !keys.some((key) => key.plan === plan)
    ? 'the profile names no Enterprise key, and the document leaves its numbers custom'
    : undefined;
