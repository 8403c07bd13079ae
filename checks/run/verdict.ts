/** What a run may do to a target beyond reading; each is opt-in. */
export const PERMISSIONS = ['writes', 'exhaust', 'ban', 'day'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a run says of one requirement. */
export type RequirementVerdict = 'pass' | 'fail' | 'inconclusive' | 'not-applicable';

/** What a run says of the target as a whole. */
export type RunVerdict = 'conformant' | 'not-conformant' | 'inconclusive';
