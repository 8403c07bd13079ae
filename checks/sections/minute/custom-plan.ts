/** Section 8: Enterprise, whose limits the document calls "custom". */

import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';

/** Why a plan's limits do not apply with these keys; undefined if they do. */
export const withoutNumbers = (plan: PlanName) => (keys: readonly Key[]) =>
  plan === 'enterprise' && !keys.some((key) => key.plan === plan)
    ? 'the profile names no Enterprise key, and the document leaves its numbers custom'
    : undefined;
