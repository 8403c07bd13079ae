/** Requests that a plan admits. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export type Plan = 'free' | 'pro' | 'business' | 'enterprise';

/** The table of section 8. Enterprise is custom; these are this server's default numbers. */
export const DOCUMENTED_PLANS: Readonly<Record<Plan, PlanLimits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 5_000, perDay: 1_000_000 },
};
