import { groupBy } from '../spec/group-by.ts';
import type { Report, RequirementResult } from './report.ts';

export type Row = RequirementResult;
export type Rows = readonly Row[];

/** The kinds of rows, the worst first, in words and as a sign. */
export const ROW_KINDS = {
  fail: { words: 'Broken', sign: '✘' },
  /** It does not gate. */
  known: { words: 'Covered by the baseline', sign: '~' },
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

/** The rows of a report in the groups that a reader looks at. */
export function groupsOf({ requirements: rows, gaps }: Report) {
  const failed = ofKind(rows, 'fail');
  const causes = new Set(failed.flatMap(({ id, consequenceOf }) => (consequenceOf === undefined ? id : [])));
  const isExplained = ({ consequenceOf = '' }: Row) => causes.has(consequenceOf);
  const consequences = groupBy(
    rows.filter((row) => isExplained(row) && rowKind(row) !== 'known'),
    ({ consequenceOf }) => consequenceOf,
  );
  const own = rows.filter((row) => !isExplained(row));
  return {
    /** What is broken and counts in the verdict, and what each explains; those that explain most come first. */
    causes: ofKind(own, 'fail')
      .map((row): { row: Row; follow: Rows } => ({ row, follow: consequences.get(row.id) ?? [] }))
      .sort((a, b) => b.follow.length - a.follow.length),
    /** Listed in the baseline, or explained by such a row. */
    known: ofKind(rows, 'known'),
    /** Pinned answers that the target no longer gives. They count in the verdict. */
    drifted: gaps.filter(({ verdict }) => verdict === 'drifted'),
    /** Asked for, not verified and not explained by a cause. A run with such a row is never conformant. */
    notVerified: byReason(ofKind(own, 'inconclusive')),
    /** The same of level MAY. They do not count in the verdict. */
    mayNotVerified: byReason(ofKind(own, 'may')),
    skipped: byReason(ofKind(rows, 'skipped')),
  };
}

/** Rows by their reason, the largest group first. Forty checks may lack the same permission. */
const byReason = (rows: Rows) =>
  [...groupBy(rows, ({ reason }) => reason)]
    .map(([reason, group]) => ({ reason, rows: group }))
    .sort((a, b) => b.rows.length - a.rows.length);

export type Groups = ReturnType<typeof groupsOf>;
export type Cause = Groups['causes'][number];
export type ReasonGroup = Groups['skipped'][number];

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
