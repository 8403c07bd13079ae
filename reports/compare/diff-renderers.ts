import { verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import { tablesPage } from '../html/page-shell.ts';
import { type Table, tableLines } from '../html/table.ts';
import { CHANGES, type ReportDiff } from './diff.ts';

/** The difference for other programs; the shape of ReportDiff is stable within its formatVersion. */
export const renderDiffJson = (diff: ReportDiff): string => `${JSON.stringify(diff, null, 2)}\n`;

/** The difference for a terminal or a log. */
export function renderDiffText(diff: ReportDiff): string {
  const tables = tablesOf(diff).filter(({ rows }) => rows.length > 0);
  return `${[headline(diff), runs(diff), ...tables.flatMap(tableLines)].join('\n')}\n`;
}

/** The difference as one HTML file without network and script. */
export const renderDiffHtml = (diff: ReportDiff): string =>
  tablesPage(headline(diff), runs(diff), tablesOf(diff));

const tablesOf = ({ requirements, gaps }: ReportDiff): Table[] => [
  {
    title: 'Requirements',
    head: ['Requirement', '§', 'What became of it', 'Was', 'Is', 'Why'],
    rows: requirements.map(({ id, section, kind, isRegression, was, is, reason }) => [
      id,
      section,
      isRegression ? { wrong: CHANGES[kind] } : CHANGES[kind],
      was,
      is,
      isRegression ? reason : '',
    ]),
  },
  {
    title: 'Answers that changed',
    head: ['Question', '§', 'Was', 'Is', 'The profile pins'],
    rows: gaps.map(({ id, section, was, is, pinned = '', breaksPin }) => [
      id,
      section,
      was,
      is,
      breaksPin ? { wrong: pinned } : pinned,
    ]),
  },
];

/** `Regression: 5 broke, 1 pinned answer drifted`, or that nothing changed. */
function headline({ requirements, gaps, regression }: ReportDiff): string {
  const pins = gaps.filter(({ breaksPin }) => breaksPin).length;
  const parts = [
    ...Object.entries(CHANGES).map(([kind, words]) => {
      const rows = requirements.filter((row) => row.kind === kind).length;
      return rows === 0 ? '' : `${rows} ${words.toLowerCase()}`;
    }),
    pins === 0 ? '' : `${count(pins, 'pinned answer')} drifted`,
    gaps.length === pins ? '' : `${count(gaps.length - pins, 'other answer')} changed`,
  ].filter(Boolean);
  if (parts.length === 0) return 'No change';
  return `${regression ? 'Regression' : 'No regression'}: ${parts.join(', ')}`;
}

function runs({ old, new: now }: ReportDiff): string {
  const name = (run: ReportDiff['old']) => `${moment(run.startedAt)} (${verdictWords(run).toLowerCase()})`;
  const where = old.target === now.target ? now.target : `${old.target} against ${now.target}`;
  return `${where}: ${name(old)} to ${name(now)}`;
}
