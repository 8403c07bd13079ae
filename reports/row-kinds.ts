import type { RequirementResult } from './report.ts';

/** How a row stands, the worst first: in words and as a sign. A known failure is its own kind, for it does not gate. */
export const ROW_KINDS = {
  fail: { words: 'Broken', sign: '✘' },
  known: { words: 'Known failure', sign: '~' },
  inconclusive: { words: 'Not verified', sign: '?' },
  skipped: { words: 'Skipped', sign: '○' },
  pass: { words: 'Verified', sign: '✔' },
  'not-applicable': { words: 'Not applicable', sign: '–' },
} as const;
export type RowKind = keyof typeof ROW_KINDS;

export const ROW_KIND_NAMES = [
  'fail',
  'known',
  'inconclusive',
  'skipped',
  'pass',
  'not-applicable',
] as const satisfies readonly RowKind[];

export function rowKind({ verdict, baselined }: RequirementResult): RowKind {
  return baselined === true ? 'known' : verdict;
}

export const VERDICT_SIGNS = { conformant: '✔', 'not-conformant': '✘', inconclusive: '?' } as const;
