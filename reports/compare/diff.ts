import { currentId } from '../../spec/contract.ts';
import { failureLine, verdictWords } from '../build-report.ts';
import { moment } from '../facts.ts';
import type { GapResult, Report } from '../report.ts';
import { ROW_KINDS, type Row, type RowKind, type Rows, rowKind } from '../rows.ts';
import type { Sheet } from '../sheet.ts';
import { harmless } from '../visible-text.ts';

/**
 * What became of a requirement, or of the answer to what the document leaves open, the worst first, in words. What is no
 * longer verified is as bad as what broke: otherwise a gate could be passed by not looking.
 */
const CHANGES = [
  ...['Broke', 'No longer verified', 'Drifted'],
  ...['Fixed', 'Newly verified', 'Answered otherwise', 'Changed otherwise'],
] as const;
const REGRESSIONS: readonly string[] = CHANGES.slice(0, 3);

type Kind = (typeof CHANGES)[number];
/** A row of the table. */
type Change = readonly [id: string, section: string, change: Kind, fromTo: string, why: string];

/**
 * Compares two runs, usually of the same target; regressions come first. It fails where something broke, is no longer
 * verified, or a pinned answer was given up.
 */
export function diffReports(was: Report, is: Report): Sheet {
  const [before, after] = [harmless(was), harmless(is)];
  const changes = [
    ...rowChanges(before.requirements, after.requirements),
    ...gapChanges(before.gaps, after.gaps),
  ].sort(([, , a], [, , b]) => CHANGES.indexOf(a) - CHANGES.indexOf(b));
  const parts = CHANGES.flatMap((words) => {
    const number = changes.filter(([, , change]) => change === words).length;
    return number === 0 ? [] : `${number} ${words.toLowerCase()}`;
  });
  const regression = changes.some(([, , change]) => REGRESSIONS.includes(change));
  const told = regression ? 'Regression' : 'No regression';
  const table = {
    title: 'What changed',
    head: ['Row', '§', 'Change', 'From and to', 'Why'],
    rows: changes.map(([id, section, change, ...told]) => [
      ...[id, section, REGRESSIONS.includes(change) ? { wrong: change } : change],
      ...told,
    ]),
  };
  return {
    name: 'report --diff',
    headline: parts.length === 0 ? 'No change' : `${told}: ${parts.join(', ')}`,
    verdict: regression ? 'fail' : undefined,
    problems: [],
    facts: { Before: aboutOf(before), After: aboutOf(after) },
    notices: [],
    tables: parts.length === 0 ? [] : [table],
  };
}

const aboutOf = (report: Report) =>
  `${verdictWords(report)}, ${moment(report.run.startedAt)}, ${report.run.target}`;

/** By the ids of today. */
const byId = <Row extends { readonly id: string }>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [currentId(row.id), row]));

function rowChanges(before: Rows, after: Rows): Change[] {
  const [old, now] = [byId(before), byId(after)];
  return [...new Map([...old, ...now])].flatMap(([id, { section }]) => {
    const is = now.get(id);
    const [from, to] = [standing(old.get(id)), standing(is)];
    if (from === to) return [];
    const fromTo = `${ROW_KINDS[from].words} → ${ROW_KINDS[to].words}`.toLowerCase();
    const why = to === 'pass' ? '' : reasonNow(is);
    return [[id, section, changeOf(from, to), fromTo, why]];
  });
}

/** What was not asked for has no row, or one that says so. */
const standing = (row: Row | undefined): RowKind => (row === undefined ? 'skipped' : rowKind(row));

function changeOf(from: RowKind, to: RowKind): Kind {
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
function gapChanges(before: readonly GapResult[], after: readonly GapResult[]): Change[] {
  const old = byId(before);
  return [...byId(after)].flatMap(([id, { section, observed, pinned, verdict }]) => {
    const was = old.get(id);
    const breaksPin = verdict === 'drifted';
    const isNews = breaksPin && was?.verdict !== 'drifted';
    const earlier = was?.observed ?? (isNews ? (pinned ?? '') : null);
    if (observed === null || earlier === null || (observed === earlier && !isNews)) return [];
    const why = pinned === null ? '' : `the profile pins ${pinned}`;
    const change = breaksPin ? 'Drifted' : 'Answered otherwise';
    return [[id, section, change, `${earlier} → ${observed}`, why]];
  });
}
