import type { Report, RequirementResult } from './report.ts';

/** The kinds of rows, the worst first, in words and as a sign. A known failure is a kind of its own: it does not gate. */
export const ROW_KINDS = {
  fail: { words: 'Broken', sign: '✘' },
  known: { words: 'Known failure', sign: '~' },
  inconclusive: { words: 'Not verified', sign: '?' },
  skipped: { words: 'Skipped', sign: '○' },
  pass: { words: 'Verified', sign: '✔' },
  'not-applicable': { words: 'Not applicable', sign: '–' },
} as const;
export type RowKind = keyof typeof ROW_KINDS;

export function rowKind({ verdict, baselined }: RequirementResult): RowKind {
  return baselined === true ? 'known' : verdict;
}

/** How many rows there are of each kind; one without a row is left out. */
export function kindCounts(rows: readonly RequirementResult[]) {
  return Object.entries(ROW_KINDS).flatMap(([kind, { words }]) => {
    const number = rows.filter((row) => rowKind(row) === kind).length;
    return number === 0 ? [] : [{ kind, words, number }];
  });
}

/** The kind of row whose colour and sign a whole run has. */
export const VERDICT_KINDS = {
  conformant: 'pass',
  'nothing-broken': 'pass',
  'not-conformant': 'fail',
  inconclusive: 'inconclusive',
} as const satisfies Record<Report['verdict'], RowKind>;

export const verdictSign = (verdict: Report['verdict']) => ROW_KINDS[VERDICT_KINDS[verdict]].sign;
