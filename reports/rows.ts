import type { Exchange } from '../checks/wire/exchange.ts';
import type { GapResult, RequirementResult } from './report.ts';
import type { Section } from './sections.ts';

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

/** The rows of a report, each in one group. */
export interface Groups {
  /** What is broken and counts in the verdict; those that explain most come first. */
  readonly causes: readonly Cause[];
  /** Listed in the baseline, or explained by such a row. */
  readonly known: Rows;
  /** Pinned answers that the target no longer gives. They count in the verdict. */
  readonly drifted: readonly GapResult[];
  /** Asked for and not verified, the largest group first. A run with such a row is never conformant. */
  readonly notVerified: readonly ReasonGroup[];
  /** Not verified, of level MAY. They do not count in the verdict. */
  readonly mayNotVerified: readonly ReasonGroup[];
  readonly skipped: readonly ReasonGroup[];
  readonly passed: Rows;
  readonly notApplicable: Rows;
  readonly sections: readonly Section<Row>[];
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
