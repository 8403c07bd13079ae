/** Requests that a plan admits. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];
export type Plans = Readonly<Record<Plan, PlanLimits>>;

/** The table of section 8. Enterprise is custom; these are this server's default numbers. */
export const DOCUMENTED_PLANS: Plans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 5_000, perDay: 1_000_000 },
};

/** Whether a text names a plan. */
export function isPlan(text: string): text is Plan {
  return (PLANS as readonly string[]).includes(text);
}
