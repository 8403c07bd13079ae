import { wrap } from '../../spec/text-table.ts';
import { failureLine, verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import { tablesPage } from '../html/page-shell.ts';
import { type Table, tableLines } from '../html/table.ts';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import { NO_SCREEN } from '../terminal.ts';
import { clip, harmless } from '../visible-text.ts';

/** How a requirement stood in a run. `known-failure`: the baseline lists it. `absent`: it had no row. */
type Standing = RequirementResult['verdict'] | 'known-failure' | 'absent';

/**
 * What became of a requirement between two runs, the worst first, in words. What is no longer verified is as bad as what
 * broke: otherwise a gate could be passed by not looking.
 */
const CHANGES = {
  broke: 'Broke',
  'no-longer-verified': 'No longer verified',
  fixed: 'Fixed',
  'newly-verified': 'Newly verified',
  changed: 'Changed otherwise',
} as const;
type ChangeKind = keyof typeof CHANGES;
const KINDS = Object.keys(CHANGES);

const REGRESSIONS: readonly ChangeKind[] = ['broke', 'no-longer-verified'];

/** What differs between two runs; also the JSON of `report --diff`, stable within its formatVersion. */
type ReportDiff = ReturnType<typeof diffReports>;

/**
 * Compares two runs, usually of the same target; regressions come first: what broke, what is no longer verified, a pinned
 * answer that was given up. Every text is safe to escape and show.
 */
export function diffReports(was: Report, is: Report) {
  const [before, after] = [harmless(was), harmless(is)];
  const requirements = requirementChanges(before.requirements, after.requirements);
  const gaps = gapChanges(before.gaps, after.gaps);
  return {
    formatVersion: 1,
    old: runName(before),
    new: runName(after),
    regression:
      requirements.some(({ isRegression }) => isRegression) || gaps.some(({ breaksPin }) => breaksPin),
    requirements,
    gaps,
  };
}

const runName = ({ run: { id, startedAt, target }, verdict, complete }: Report) => ({
  id,
  startedAt,
  target,
  verdict,
  complete,
});

function standing(row: RequirementResult | undefined): Standing {
  if (row === undefined) return 'absent';
  return row.baselined === true ? 'known-failure' : row.verdict;
}

function requirementChanges(before: readonly RequirementResult[], after: readonly RequirementResult[]) {
  const old = new Map(before.map((row) => [row.id, row]));
  const now = new Map(after.map((row) => [row.id, row]));
  const rows = [...after, ...before.filter(({ id }) => !now.has(id))];
  return rows
    .map((row) => {
      const { id, section, title } = row;
      const [was, is] = [standing(old.get(id)), standing(now.get(id))];
      const kind = changeKind(was, is);
      const isRegression = REGRESSIONS.includes(kind);
      const reason = clip(reasonNow(now.get(id)), 300);
      return { id, section, title, was, is, kind, isRegression, reason };
    })
    .filter(({ was, is }) => was !== is && !(isUnasked(was) && isUnasked(is)))
    .sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

/** What was not asked for has no row, or one that says so. */
const isUnasked = (standing: Standing) => standing === 'skipped' || standing === 'absent';

function reasonNow(row: RequirementResult | undefined): string {
  if (row === undefined) return 'The newer run has no such requirement.';
  return row.verdict === 'fail' ? failureLine(row) : row.reason;
}

function changeKind(was: Standing, is: Standing): ChangeKind {
  if (is === 'fail') return 'broke';
  if (was === 'pass' && (is === 'inconclusive' || isUnasked(is))) return 'no-longer-verified';
  if (is === 'pass') return was === 'fail' || was === 'known-failure' ? 'fixed' : 'newly-verified';
  return 'changed';
}

/** Gaps with a new answer. It is no change if one of the runs did not see an answer. */
function gapChanges(before: readonly GapResult[], after: readonly GapResult[]) {
  const old = new Map(before.map((gap) => [gap.id, gap]));
  return after
    .flatMap(({ id, section, question, observed, pinned, verdict }) => {
      const was = old.get(id);
      const breaksPin = verdict === 'drifted';
      const isNews = breaksPin && was?.verdict !== 'drifted';
      const earlier = was?.observed ?? (isNews ? (pinned ?? '') : null);
      if (observed === null || earlier === null || (observed === earlier && !isNews)) return [];
      const promised = pinned === null ? {} : { pinned: clip(pinned, 200) };
      return [
        { id, section, question, was: clip(earlier, 200), is: clip(observed, 200), ...promised, breaksPin },
      ];
    })
    .sort((a, b) => Number(b.breaksPin) - Number(a.breaksPin));
}

/** The difference for other programs. */
export const renderDiffJson = (diff: ReportDiff): string => `${JSON.stringify(diff, null, 2)}\n`;

/** The difference for a terminal or a log. */
export function renderDiffText(diff: ReportDiff, { columns } = NO_SCREEN): string {
  const tables = tablesOf(diff).filter(({ rows }) => rows.length > 0);
  return `${[
    ...[headline(diff), runs(diff)].flatMap((line) => wrap(line, { columns }, '')),
    ...tables.flatMap((table) => tableLines(table, columns)),
  ].join('\n')}\n`;
}

/** The difference as one HTML file without network and script. */
export const renderDiffHtml = (diff: ReportDiff): string =>
  tablesPage(headline(diff), runs(diff), tablesOf(diff));

const tablesOf = ({ requirements, gaps }: ReportDiff): Table[] => [
  {
    title: 'Requirements',
    head: ['Requirement', '§', 'Change', 'Was', 'Is', 'Why'],
    rows: requirements.map(({ id, section, kind, isRegression, was, is, reason }) => [
      id,
      section,
      isRegression ? { wrong: CHANGES[kind] } : CHANGES[kind],
      was,
      is,
      is === 'pass' ? '' : reason,
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
