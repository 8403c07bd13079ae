import type { Permission } from './permissions.ts';

/** What a key may be used for: to pay for ordinary checks, to be driven to 429, to be banned, to feed k6. */
export const KEY_ROLES = ['functional', 'exhaust', 'ban', 'load'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** The plans of section 8 of the document, "Request rate by plan". */
export const PLAN_NAMES = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** What a plan admits. Section 8 gives the numbers of all plans but Enterprise, where they are custom. */
export interface PlanLimits {
  /** Requests a minute: a whole number from 1 to 1,000,000,000. */
  readonly perMinute: number;
  /** Requests a day: a whole number from 1 to 1,000,000,000. */
  readonly perDay: number;
}

/** One API key of the target, without its value. */
export interface ProfileKey {
  /** How reports call the key: 1 to 64 letters, digits, `.`, `_` and `-`. No two keys have the same. */
  readonly name: string;
  /** The plan whose numbers hold for the key (section 8). */
  readonly plan: PlanName;
  /**
   * The environment variable that holds the key's value: a name as shells know them, at most 128 characters. No two
   * keys come from one: they would spend one quota. A name of twelve and more characters with small letters and digits
   * is taken for the key itself and refused.
   */
  readonly env: string;
  /** At least one, each once. Default: functional. */
  readonly roles: readonly KeyRole[];
  /**
   * Nobody has used this key since the target's day began, so that a day's quota below the plan's is the target's
   * doing. Default false: then fewer requests than the plan's are inconclusive unless the target's headers tell.
   */
  readonly unusedToday: boolean;
}

/** A target and what may be done to it: the file that `--profile` names, after validation. */
export interface TargetProfile {
  /**
   * Base address: http or https, with the version segment (section 1), without credentials, query, fragment and
   * trailing slash. Undefined where the file leaves it to `--target`.
   */
  readonly target: string | undefined;
  /** At least one: every request carries a key (section 5). */
  readonly keys: readonly ProfileKey[];
  /** Only what the document leaves custom (section 8); required where a key has the plan. */
  readonly plans: { readonly enterprise?: PlanLimits };
  /** What a run may do beyond reading, each once. Default: nothing. */
  readonly permit: readonly Permission[];
  /** Load goes to no address that does not say `allowed: true`. */
  readonly load: { readonly allowed: boolean };
  /** Gap id to the answer that this target promises, as a report names it; see the gaps of spec/requirements.yaml. */
  readonly gaps: Readonly<Record<string, string>>;
  /** How many times faster than real time the target's clock runs: 1 to 100,000, and 1 unless it is simulated. */
  readonly clock: { readonly speed: number };
  /**
   * What a valid addition needs that the document does not say: a categoryId (int64, section 2) that exists at this
   * target. Without it one that a listed animal has is used, else 1.
   */
  readonly samples: { readonly categoryId?: bigint };
}

/** The same as it is written: what profile.schema.json describes, its defaults filled in. */
export interface ProfileFile extends Omit<TargetProfile, 'target' | 'gaps' | 'samples'> {
  readonly target?: string;
  /** A number needs no quotes. */
  readonly gaps: { readonly [id: string]: string | number | undefined };
  /** Rounded: YamlFile has every digit. */
  readonly samples: { readonly categoryId?: number };
}

/** What holds where a profile does not say otherwise; profile.schema.json has the same for files. */
export const PROFILE_DEFAULTS = {
  plans: {},
  permit: [],
  load: { allowed: false },
  gaps: {},
  clock: { speed: 1 },
  samples: {},
} as const satisfies Omit<TargetProfile, 'target' | 'keys'>;
