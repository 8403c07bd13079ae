/** How the rows make a run's verdict: what gates, what a baseline covers, what `--require` asks for. */
import { causesIn } from '../checks/run/cause.ts';
import type { RunVerdict } from '../checks/run/verdict.ts';
import type { GapResult, RequirementResult } from './report.ts';

type Rows = readonly RequirementResult[];

/** A known failure, and where the baseline lists it, as `file:line`. */
export interface BaselineEntry {
  readonly id: string;
  readonly place: string;
}

/**
 * Turns required rows that were skipped into inconclusive ones, for a gate that must not shrink.
 *
 * @param required names of permissions, plans and requirements, or `all`
 */
export function requireRows(rows: Rows, required: 'all' | readonly string[]): RequirementResult[] {
  const names = typeof required === 'string' ? [] : required;
  return rows.map((row) => {
    if (row.verdict !== 'skipped') return row;
    const isAsked = required.includes('all') || names.some((name) => concerns(row, name));
    return isAsked ? { ...row, verdict: 'inconclusive', required: true } : row;
  });
}

/** Whether a skipped row is that requirement, or lacks that permission or a key of that plan. */
function concerns({ id, reason }: RequirementResult, name: string): boolean {
  return (
    id === name ||
    id.endsWith(`-${name}`) ||
    reason.includes(`permission ${name}`) ||
    reason.includes(`plan ${name}`)
  );
}

/**
 * Names the failure that explains a row whose reason says `(see ID)`: the first of a chain, so that a cause is never a
 * consequence itself. Only what failed explains anything.
 */
export function withConsequences(rows: Rows): RequirementResult[] {
  const named = new Map(
    rows
      .filter(({ verdict }) => verdict === 'fail' || verdict === 'inconclusive')
      .map(({ id, reason }) => [id, causesIn(reason)]),
  );
  const failed = new Set(rows.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id));
  const causeOf = (id: string, passed: readonly string[] = []): string | undefined => {
    for (const next of named.get(id) ?? []) {
      if (next === id || passed.includes(next)) continue;
      const cause = causeOf(next, [...passed, id]) ?? (failed.has(next) ? next : undefined);
      if (cause !== undefined) return cause;
    }
    return undefined;
  };
  return rows.map((row) => {
    const cause = causeOf(row.id);
    return cause === undefined ? row : { ...row, consequenceOf: cause };
  });
}

/** Marks the failures that the baseline lists, and what they explain. */
export function withBaseline(rows: Rows, baseline: readonly BaselineEntry[]): RequirementResult[] {
  const listed = new Set(baseline.map(({ id }) => id));
  return rows.map((row) => {
    const known = row.verdict === 'fail' && listed.has(row.id);
    const explained = row.consequenceOf !== undefined && listed.has(row.consequenceOf);
    return known || explained ? { ...row, baselined: true } : row;
  });
}

/** What is wrong with the baseline itself: an entry that passes would hide a later failure. */
export function staleEntries(rows: Rows, baseline: readonly BaselineEntry[]): string[] {
  const passed = new Set(rows.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id));
  return baseline
    .filter(({ id }) => passed.has(id))
    .map(({ id, place }) => `${id} passes now: remove it from the baseline (${place})`);
}

/** Whether the row is unsettled and keeps the run from being conformant. */
export function isOpen({ verdict, level, required, baselined }: RequirementResult): boolean {
  return verdict === 'inconclusive' && baselined !== true && (level === 'MUST' || required === true);
}

/** Whether nothing was left out. */
export function isComplete(rows: Rows): boolean {
  return rows.every(({ verdict, required }) => verdict !== 'skipped' && required !== true);
}

/** The verdict of a run; one in which nothing was verified is never conformant. */
export function verdictOf(rows: Rows, gaps: readonly GapResult[], problems: readonly string[]): RunVerdict {
  const broken = rows.some(({ verdict, baselined }) => verdict === 'fail' && baselined !== true);
  if (broken || problems.length > 0 || gaps.some(({ verdict }) => verdict === 'drifted'))
    return 'not-conformant';
  if (rows.some(isOpen)) return 'inconclusive';
  return rows.some(({ verdict }) => verdict === 'pass') ? 'conformant' : 'inconclusive';
}
