/**
 * What a run says of one requirement: `inconclusive` was asked for and could not be told, `skipped` was not asked for
 * (a permission or a key was not given, `--only` left it out).
 */
export type RequirementVerdict = 'pass' | 'fail' | 'inconclusive' | 'skipped' | 'not-applicable';
