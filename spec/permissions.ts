/** What a run may do to a target beyond reading; each is opt-in. */
export const PERMISSIONS = ['writes', 'exhaust', 'ban', 'day'] as const;
export type Permission = (typeof PERMISSIONS)[number];
