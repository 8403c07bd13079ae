import { PERMISSIONS } from '../checks/profile/permissions.ts';
import { groupBy } from '../spec/group-by.ts';
import type { GapResult, Report, RequirementResult } from './report.ts';
import { isOpen } from './verdict.ts';

type Rows = readonly RequirementResult[];

/** The rows of a report in groups, by what a reader does about them. Every format shows these groups. */
export interface Outcome {
  /** Broken, and counted in the verdict; those that explain others come first. */
  readonly broken: Rows;
  /** The rows that a broken requirement explains, by its id. They are in no other group. */
  readonly consequences: ReadonlyMap<string, Rows>;
  /** Listed in the baseline, or explained by such a row. */
  readonly known: Rows;
  /** Pinned answers that the target no longer gives. They count in the verdict. */
  readonly drifted: readonly GapResult[];
  /** Asked for and not verified. A run with such a row is never conformant. */
  readonly notVerified: Rows;
  /** Not verified, of level MAY. They do not count in the verdict. */
  readonly mayNotVerified: Rows;
  readonly skipped: Rows;
  readonly passed: Rows;
  readonly notApplicable: Rows;
  /** One line: the verdict and its numbers. */
  readonly headline: string;
}

/** Sorts a report's results and words its verdict. */
export function outcome(report: Report): Outcome {
  const rows = report.requirements;
  const gating = rows.filter(({ baselined }) => baselined !== true);
  const causes = new Set(
    gating.filter((row) => isFail(row) && row.consequenceOf === undefined).map(({ id }) => id),
  );
  const isExplained = ({ consequenceOf }: RequirementResult) =>
    consequenceOf !== undefined && causes.has(consequenceOf);
  const consequences = groupBy(gating.filter(isExplained), ({ consequenceOf }) => consequenceOf ?? '');
  const unexplained = gating.filter((row) => !isExplained(row));
  const explains = ({ id }: RequirementResult) => consequences.get(id)?.length ?? 0;
  const groups = {
    broken: unexplained.filter(isFail).sort((a, b) => explains(b) - explains(a)),
    consequences,
    known: rows.filter(({ baselined }) => baselined === true),
    drifted: report.gaps.filter(({ verdict }) => verdict === 'drifted'),
    notVerified: unexplained.filter(isOpen),
    mayNotVerified: unexplained.filter((row) => row.verdict === 'inconclusive' && !isOpen(row)),
    skipped: rows.filter(({ verdict }) => verdict === 'skipped'),
    passed: rows.filter(({ verdict }) => verdict === 'pass'),
    notApplicable: rows.filter(({ verdict }) => verdict === 'not-applicable'),
  };
  return { ...groups, headline: headline(report, groups) };
}

const isFail = ({ verdict }: RequirementResult) => verdict === 'fail';

function headline(report: Report, groups: Omit<Outcome, 'headline'>): string {
  const { broken, consequences, known, drifted, notVerified, mayNotVerified, skipped, passed } = groups;
  const asked = report.requirements.length - groups.notApplicable.length - skipped.length;
  const explained = [...consequences.values()].flat();
  const failed = broken.length + explained.filter(isFail).length;
  const open = notVerified.length + explained.length - explained.filter(isFail).length;
  const verified =
    skipped.length === 0
      ? `${passed.length} of ${count(asked, 'requirement')} verified`
      : `${passed.length} of ${asked} asked for`;
  const parts = [
    ...(failed > 0 ? [`${failed} of ${count(asked, 'requirement')} broken`] : report.problems),
    ...(failed > 0 || asked === 0 ? [] : [verified]),
    ...(drifted.length > 0 ? [`${count(drifted.length, 'pinned answer')} drifted`] : []),
    ...(known.length > 0 ? [count(known.length, 'known failure')] : []),
    ...(open > 0 ? [`${open} not verified`] : []),
    ...(mayNotVerified.length > 0 ? [`${mayNotVerified.length} of level MAY not verified`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped (${whySkipped(skipped)})`] : []),
  ];
  const words =
    report.verdict === 'conformant' && known.length > 0 ? 'Nothing new broken' : verdictWords(report);
  return `${words}: ${parts.join(', ')}`;
}

/** The verdict in words. Only a run that left nothing out says that the target conforms. */
export function verdictWords({ verdict, complete }: Pick<Report, 'verdict' | 'complete'>): string {
  if (verdict === 'conformant') return complete ? 'Conformant' : 'Nothing broken';
  return { 'not-conformant': 'Not conformant', inconclusive: 'Inconclusive' }[verdict];
}

/** `exhaust, day not permitted; no key of plan pro; left out by --only`. */
function whySkipped(rows: Rows): string {
  const reasons = [...new Set(rows.flatMap(({ reason }) => reason.split('; ')))];
  const permissions = PERMISSIONS.filter((name) => reasons.includes(`needs the permission ${name}`));
  const others = reasons
    .filter((reason) => !reason.startsWith('needs the permission'))
    .map((reason) => reason.replace(/^the profile has /, '').replace(/ with the role \w+$/, ''));
  return [
    ...(permissions.length === 0 ? [] : [`${permissions.join(', ')} not permitted`]),
    ...new Set(others),
  ].join('; ');
}

/** `1 request`, `2 requests`, `1,859 requests`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** A failure in one line: what came, and what was asked for. */
export function failureLine({ reason, expected }: RequirementResult): string {
  return expected === undefined ? reason : `${reason.replace(/\.$/, '')}; asked for: ${expected}`;
}

/** A pinned answer that the target no longer gives, in one line. */
export function driftLine(gap: GapResult): string {
  const { observed, pinned, detail } = gap;
  const isList = [observed, pinned].some((answer) => answer?.includes(', '));
  if (!isList) return `answers ${observed ?? 'nothing'}, the profile pins ${pinned ?? 'nothing'} (${detail})`;
  const { added, removed } = driftedParts(gap);
  const change = [
    ...(added.length > 0 ? [`added: ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`removed: ${removed.join(', ')}`] : []),
  ];
  return `differs from what the profile pins,  ${change.join('; ')} (${detail})`;
}

/** What an answer has that the pinned one lacks, and the reverse. Each is a list or a single word. */
export function driftedParts({ observed, pinned }: GapResult): {
  readonly added: readonly string[];
  readonly removed: readonly string[];
} {
  const [now, before] = [(observed ?? '').split(', '), (pinned ?? '').split(', ')];
  return {
    added: now.filter((part) => !before.includes(part)),
    removed: before.filter((part) => !now.includes(part)),
  };
}

/** Rows by their reason, the largest group first. Forty checks may lack the same permission. */
export function byReason(rows: Rows): { readonly reason: string; readonly rows: Rows }[] {
  return [...groupBy(rows, ({ reason }) => reason)]
    .map(([reason, group]) => ({ reason, rows: group }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

/**
 * What made the verdict in addition to requirements and pinned answers, a line each: the run was cut short, a baseline
 * entry is stale, nothing could be judged. Formats that consist of test cases have a case for it, so that they are never
 * green if the run is not.
 */
export function runProblems(report: Report): readonly string[] {
  const { broken, drifted, notVerified } = outcome(report);
  const problems = [
    ...(report.run.interrupted === undefined ? [] : [`The run ended early: ${report.run.interrupted}`]),
    ...report.problems,
  ];
  const explained = problems.length + broken.length + drifted.length + notVerified.length > 0;
  return explained || report.verdict === 'conformant'
    ? problems
    : [`The verdict of the run is ${report.verdict}: nothing was verified`];
}
