import { wrap } from '../../spec/text-table.ts';
import { failureLine, verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import { tablesPage } from '../html/page-shell.ts';
import { type Table, tableLines } from '../html/table.ts';
import type { GapResult, Report } from '../report.ts';
import { ROW_KINDS, type Row, type RowKind, type Rows, rowKind } from '../rows.ts';
import { NO_SCREEN } from '../terminal.ts';
import { harmless } from '../visible-text.ts';

/** What differs between two runs, as every format shows it. */
export interface Diff {
  readonly headline: string;
  /** The target, and the two runs. */
  readonly about: string;
  /** Something broke, is no longer verified, or a pinned answer was given up. */
  readonly regression: boolean;
  readonly tables: readonly Table[];
}

/**
 * What became of a requirement between two runs, the worst first, in words. What is no longer verified is as bad as what
 * broke: otherwise a gate could be passed by not looking.
 */
const CHANGES = ['Broke', 'No longer verified', 'Fixed', 'Newly verified', 'Changed otherwise'] as const;
const REGRESSIONS: readonly string[] = CHANGES.slice(0, 2);

/** Compares two runs, usually of the same target; regressions come first. Every text is safe to escape and show. */
export function diffReports(was: Report, is: Report): Diff {
  const [before, after] = [harmless(was), harmless(is)];
  const rows = rowChanges(before.requirements, after.requirements);
  const gaps = gapChanges(before.gaps, after.gaps);
  const pins = gaps.filter(({ breaksPin }) => breaksPin).length;
  const parts = [
    ...CHANGES.flatMap((words) => {
      const number = rows.filter(({ change }) => change === words).length;
      return number === 0 ? [] : `${number} ${words.toLowerCase()}`;
    }),
    ...(pins === 0 ? [] : [`${count(pins, 'pinned answer')} drifted`]),
    ...(gaps.length === pins ? [] : [`${count(gaps.length - pins, 'other answer')} changed`]),
  ];
  const regression = pins > 0 || rows.some(({ change }) => REGRESSIONS.includes(change));
  const told = regression ? 'Regression' : 'No regression';
  return {
    headline: parts.length === 0 ? 'No change' : `${told}: ${parts.join(', ')}`,
    about: aboutOf(before, after),
    regression,
    tables: [
      {
        title: 'Requirements',
        head: ['Requirement', '§', 'Change', 'From and to', 'Why'],
        rows: rows.map(({ id, section, change, fromTo, why }) => [
          id,
          section,
          REGRESSIONS.includes(change) ? { wrong: change } : change,
          fromTo,
          why,
        ]),
      },
      {
        title: 'Answers that changed',
        head: ['Question', '§', 'From and to', 'The profile pins'],
        rows: gaps.map(({ id, section, fromTo, pinned, breaksPin }) => [
          id,
          section,
          fromTo,
          breaksPin ? { wrong: pinned } : pinned,
        ]),
      },
    ],
  };
}

function aboutOf(before: Report, after: Report): string {
  const [old, now] = [before.run.target, after.run.target];
  const name = (report: Report) => `${moment(report.run.startedAt)} (${verdictWords(report).toLowerCase()})`;
  return `${old === now ? now : `${old} against ${now}`}: ${name(before)} to ${name(after)}`;
}

function rowChanges(before: Rows, after: Rows) {
  const old = new Map(before.map((row) => [row.id, row]));
  const now = new Map(after.map((row) => [row.id, row]));
  return [...after, ...before.filter(({ id }) => !now.has(id))]
    .flatMap(({ id, section }) => {
      const is = now.get(id);
      const [from, to] = [standing(old.get(id)), standing(is)];
      if (from === to) return [];
      const fromTo = `${ROW_KINDS[from].words} → ${ROW_KINDS[to].words}`.toLowerCase();
      const why = to === 'pass' ? '' : reasonNow(is);
      return [{ id, section, change: changeOf(from, to), fromTo, why }];
    })
    .sort((a, b) => CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change));
}

/** What was not asked for has no row, or one that says so. */
const standing = (row: Row | undefined): RowKind => (row === undefined ? 'skipped' : rowKind(row));

function changeOf(from: RowKind, to: RowKind): (typeof CHANGES)[number] {
  if (to === 'fail') return 'Broke';
  if (from === 'pass' && (to === 'inconclusive' || to === 'skipped')) return 'No longer verified';
  if (to === 'pass') return from === 'fail' || from === 'known' ? 'Fixed' : 'Newly verified';
  return 'Changed otherwise';
}

function reasonNow(row: Row | undefined): string {
  if (row === undefined) return 'The newer run has no such requirement.';
  return row.verdict === 'fail' ? failureLine(row) : row.reason;
}

/** Gaps with a new answer. It is no change if one of the runs did not see an answer. */
function gapChanges(before: readonly GapResult[], after: readonly GapResult[]) {
  const old = new Map(before.map((gap) => [gap.id, gap]));
  return after
    .flatMap(({ id, section, observed, pinned, verdict }) => {
      const was = old.get(id);
      const breaksPin = verdict === 'drifted';
      const isNews = breaksPin && was?.verdict !== 'drifted';
      const earlier = was?.observed ?? (isNews ? (pinned ?? '') : null);
      if (observed === null || earlier === null || (observed === earlier && !isNews)) return [];
      const fromTo = `${earlier} → ${observed}`;
      return [{ id, section, fromTo, pinned: pinned ?? '', breaksPin }];
    })
    .sort((a, b) => Number(b.breaksPin) - Number(a.breaksPin));
}

/** The difference for a terminal or a log. */
export function renderDiffText({ headline, about, tables }: Diff, { columns } = NO_SCREEN): string {
  const lines = [
    ...[headline, about].flatMap((line) => wrap(line, { columns }, '')),
    ...tables.filter(({ rows }) => rows.length > 0).flatMap((table) => tableLines(table, columns)),
  ];
  return `${lines.join('\n')}\n`;
}

/** The difference as one HTML file without network and script. */
export const renderDiffHtml = ({ headline, about, tables }: Diff): string =>
  tablesPage(headline, about, tables);
