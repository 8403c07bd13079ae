/** Requests that a plan admits. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The table of section 8. Enterprise is custom; these are this server's default numbers. */
export const DOCUMENTED_PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 5_000, perDay: 1_000_000 },
} as const satisfies Readonly<Record<string, PlanLimits>>;

export type Plan = keyof typeof DOCUMENTED_PLANS;
