/** What a run may do to a target beyond reading; each is opt-in. */
export const PERMISSIONS = ['writes', 'exhaust', 'ban', 'day'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/**
 * What a run says of one requirement: `inconclusive` was asked for and could not be told, `skipped` was not asked for
 * (a permission or a key was not given, `--only` left it out).
 */
export type RequirementVerdict = 'pass' | 'fail' | 'inconclusive' | 'skipped' | 'not-applicable';

/** What a run says of the target as a whole. */
export type RunVerdict = 'conformant' | 'not-conformant' | 'inconclusive';
