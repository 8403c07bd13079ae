/** Section 8 of the document, "Request rate by plan". Plain data, for the scripts that k6 runs too. */

/** What a plan admits. */
export interface PlanLimits {
  /** Requests a minute: a whole number from 1 to 1,000,000,000. */
  readonly perMinute: number;
  /** Requests a day: a whole number from 1 to 1,000,000,000. */
  readonly perDay: number;
}

/** The plans by their names in a profile; null where the document says "custom". */
export const PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Readonly<Record<string, PlanLimits | null>>;

export type PlanName = keyof typeof PLANS;
const isPlanName = (name: string): name is PlanName => Object.hasOwn(PLANS, name);
/** Whether a profile has to give the plan's limits. */
export const isCustom = (plan: PlanName): boolean => PLANS[plan] === null;

/** The limits of a plan; undefined where the document has none and they are not given here either. */
export const limitsOf = (
  plan: PlanName,
  given: { readonly [P in PlanName]?: PlanLimits },
): PlanLimits | undefined => PLANS[plan] ?? given[plan];

/** In the document's order. */
export const PLAN_NAMES: readonly PlanName[] = Object.keys(PLANS).filter(isPlanName);

/** A plan as the document writes it: Free. */
export const planTitle = (plan: PlanName): string => `${plan.charAt(0).toUpperCase()}${plan.slice(1)}`;
