import type { Permission } from '../run/verdict.ts';

/** What a key may be used for: to pay for ordinary checks, to be driven to 429, to be banned, to feed k6. */
export const KEY_ROLES = ['functional', 'exhaust', 'ban', 'load'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** The plans of section 8. */
export const PLAN_NAMES = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** Requests that a plan admits; both are whole numbers from 1 on. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** One API key of the target, without its value. */
export interface ProfileKey {
  /** How reports name the key: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly plan: PlanName;
  /** The environment variable that holds the key's value. */
  readonly env: string;
  readonly roles: readonly KeyRole[];
  /**
   * Nobody has used this key since the target's day began, so that a day's quota below the plan's is the target's
   * doing. Default false: then fewer requests than the plan's are inconclusive unless the target's headers tell.
   */
  readonly unusedToday: boolean;
}

/** A target and what may be done to it: the file that `--profile` names, after validation. */
export interface TargetProfile {
  /** Base address with the version segment, no trailing slash; undefined where the file leaves it to `--target`. */
  readonly target: string | undefined;
  readonly keys: readonly ProfileKey[];
  /** Only what the document leaves custom. */
  readonly plans: { readonly enterprise?: PlanLimits };
  readonly permit: readonly Permission[];
  /** Load goes to no address that does not say `allowed: true`. */
  readonly load: { readonly allowed: boolean };
  /** Gap id to the answer that this target promises; see the gaps of spec/requirements.yaml. */
  readonly gaps: Readonly<Record<string, string>>;
  /** How fast the target's clock runs against real time, 1 to 100,000; only a simulated target differs from 1. */
  readonly clock: { readonly speed: number };
  /**
   * What a valid addition needs that the document does not say: a categoryId that exists at this target. Without it
   * one that a listed animal has is used, else 1.
   */
  readonly samples: { readonly categoryId?: bigint };
}
