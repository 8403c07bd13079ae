import { groupBy } from '../spec/group-by.ts';
import type { GapResult, RequirementResult } from './report.ts';

export type Row = RequirementResult;
export type Rows = readonly Row[];

/** A broken requirement that no other explains, and what it explains. */
export interface Cause {
  readonly row: Row;
  readonly follow: Rows;
}

/** Rows with one reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly rows: Rows;
}

/** The rows of a report in the groups that a reader looks at. */
export interface Groups {
  /** What is broken and counts in the verdict; those that explain most come first. */
  readonly causes: readonly Cause[];
  /** Listed in the baseline, or explained by such a row. */
  readonly known: Rows;
  /** Pinned answers that the target no longer gives. They count in the verdict. */
  readonly drifted: readonly GapResult[];
  /** Asked for, not verified and not explained by a cause, the largest group first. A run with such a row is never conformant. */
  readonly notVerified: readonly ReasonGroup[];
  /** The same of level MAY. They do not count in the verdict. */
  readonly mayNotVerified: readonly ReasonGroup[];
  readonly skipped: readonly ReasonGroup[];
}

/** The kinds of rows, the worst first, in words and as a sign. */
export const ROW_KINDS = {
  fail: { words: 'Broken', sign: '✘' },
  /** It does not gate. */
  known: { words: 'Known failure', sign: '~' },
  inconclusive: { words: 'Not verified', sign: '?' },
  /** Of level MAY: it does not gate. */
  may: { words: 'Not verified (MAY)', sign: '◌' },
  skipped: { words: 'Skipped', sign: '○' },
  pass: { words: 'Verified', sign: '✔' },
  'not-applicable': { words: 'Not applicable', sign: '–' },
} as const;
export type RowKind = keyof typeof ROW_KINDS;

export function rowKind({ verdict, baselined, level, required }: Row): RowKind {
  if (baselined === true) return 'known';
  return verdict === 'inconclusive' && level === 'MAY' && required !== true ? 'may' : verdict;
}

export const ofKind = (rows: Rows, kind: RowKind): Rows => rows.filter((row) => rowKind(row) === kind);

/** Headings of the Pet Store Service Interface, by section number. */
const HEADINGS: Readonly<Record<string, string>> = {
  '1': 'What the service does',
  '2': 'Resources and their fields',
  '3': 'States and transitions',
  '4': 'Endpoints',
  '4.1': 'List animals',
  '4.2': 'Add an animal',
  '4.3': 'Get an animal (deprecated)',
  '5': 'Authentication',
  '6': 'Events',
  '7': 'Errors',
  '8': 'Limits',
  '9': 'Versioning',
  own: 'rules',
};

/** Rows by section, in the order of the document; a section is called by its number and heading. */
export const bySection = (rows: Rows): (readonly [name: string, rows: Rows])[] =>
  [...groupBy(rows, ({ section }) => section)]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([section, group]) => [`${section} ${HEADINGS[section] ?? ''}`.trim(), group]);
