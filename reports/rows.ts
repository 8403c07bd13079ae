import type { Exchange } from '../checks/wire/exchange.ts';
import type { RequirementResult } from './report.ts';

export type Row = RequirementResult;
export type Rows = readonly Row[];

/** A broken requirement that no other explains, and what it explains. */
export interface Cause {
  readonly row: Row;
  readonly follow: Rows;
  /** The exchange that proves it. */
  readonly proof: Exchange | undefined;
}

/** Rows with one reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly rows: Rows;
}

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

export function rowKind({ verdict, baselined }: Row): RowKind {
  return baselined === true ? 'known' : verdict;
}

/** How many rows there are of each kind; one without a row is left out. */
export function kindCounts(rows: Rows) {
  return Object.entries(ROW_KINDS).flatMap(([kind, { words }]) => {
    const number = rows.filter((row) => rowKind(row) === kind).length;
    return number === 0 ? [] : [{ kind, words, number }];
  });
}
