import { failureLine } from '../build-report.ts';
import type { GapResult, Report, RequirementResult, RunFacts } from '../report.ts';
import { clip, harmless } from '../visible-text.ts';

/** How a requirement stood in a run. `known-failure`: the baseline lists it. `absent`: it had no row. */
export type Standing = RequirementResult['verdict'] | 'known-failure' | 'absent';

/**
 * What became of a requirement between two runs, the worst first, in words. What is no longer verified is as bad as what
 * broke: otherwise a gate could be passed by not looking.
 */
export const CHANGES = {
  broke: 'Broke',
  'no-longer-verified': 'No longer verified',
  fixed: 'Fixed',
  'newly-verified': 'Newly verified',
  changed: 'Changed otherwise',
} as const;
export type ChangeKind = keyof typeof CHANGES;
const KINDS = Object.keys(CHANGES);

/** A requirement that does not stand as before. */
export interface RequirementChange {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly was: Standing;
  readonly is: Standing;
  readonly kind: ChangeKind;
  readonly isRegression: boolean;
  readonly reason: string;
}

/** A gap with a new answer. It is no change if one of the runs did not see an answer. */
export interface GapChange {
  readonly id: string;
  readonly section: string;
  readonly question: string;
  readonly was: string;
  readonly is: string;
  /** The answer that the newer run's profile pins, if any. */
  readonly pinned?: string;
  /** The profile pins another answer: a regression. Any other change is only news. */
  readonly breaksPin: boolean;
}

/** What differs between two runs; also the JSON of `report --diff`. */
export interface ReportDiff {
  readonly formatVersion: 1;
  readonly old: RunName;
  readonly new: RunName;
  /** Whether something broke, is no longer verified, or a pinned answer was given up. */
  readonly regression: boolean;
  readonly requirements: readonly RequirementChange[];
  readonly gaps: readonly GapChange[];
}

interface RunName extends Pick<RunFacts, 'id' | 'startedAt' | 'target'> {
  readonly verdict: Report['verdict'];
  readonly complete: boolean;
}

const REGRESSIONS: readonly ChangeKind[] = ['broke', 'no-longer-verified'];

/** Compares two runs, usually of the same target; regressions come first. Every text is safe to escape and show. */
export function diffReports(was: Report, is: Report): ReportDiff {
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

function runName({ run, verdict, complete }: Report): RunName {
  return { id: run.id, startedAt: run.startedAt, target: run.target, verdict, complete };
}

function standing(row: RequirementResult | undefined): Standing {
  if (row === undefined) return 'absent';
  return row.baselined === true ? 'known-failure' : row.verdict;
}

function requirementChanges(
  before: readonly RequirementResult[],
  after: readonly RequirementResult[],
): RequirementChange[] {
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

function gapChanges(before: readonly GapResult[], after: readonly GapResult[]): GapChange[] {
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
