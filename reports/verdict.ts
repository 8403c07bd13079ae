/** How the rows make a run's verdict: what gates, what a baseline covers, what `--require` asks for. */
import { blamesOf, sentence } from './reasons.ts';
import type { GapResult, RunVerdict } from './report.ts';
import { type Row, type Rows, rowKind } from './rows.ts';

/** A known failure, and where the baseline lists it, as `file:line`. */
export interface BaselineEntry {
  readonly id: string;
  readonly place: string;
}

/** What must not be skipped (`--require`), and what may be broken (`--baseline`). */
export interface Gate {
  /** `all`, or names of permissions, plans and requirements. */
  readonly required: readonly string[];
  readonly baseline: readonly BaselineEntry[];
}

/** The rows with what the gate asks for, what explains them, and what is known of them. */
export const gated = (rows: Rows, { required, baseline }: Gate): Row[] =>
  withBaseline(withConsequences(rows.map((row) => asRequired(row, required))), baseline);

/**
 * A required row that was skipped becomes inconclusive, for a gate that must not shrink; so does one of a plan that is
 * named, and of which the profile has no key.
 */
function asRequired(row: Row, required: Gate['required']): Row {
  const { verdict, plan, id } = row;
  const isAsked = required.some((name) => {
    if (verdict === 'skipped') return name === 'all' || concerns(row, name);
    return verdict === 'not-applicable' && plan !== undefined && [plan, id].includes(name);
  });
  return isAsked ? { ...row, verdict: 'inconclusive', required: true } : row;
}

/** Whether a row is that requirement, or needs that permission or a key of that plan or role. */
function concerns({ id, plan, permit, why }: Row, name: string): boolean {
  return (
    [id, plan, permit].includes(name) ||
    why.some((reason) => {
      if (reason.kind === 'not-permitted') return reason.permission === name;
      return reason.kind === 'no-key' && (reason.wanted.plan === name || reason.wanted.role === name);
    })
  );
}

/**
 * Names the failure that explains a row: the first of a chain, so that a cause is never a consequence itself. Only what
 * failed explains anything, and another client on a key is explained by no failure.
 */
function withConsequences(rows: Rows): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const causeOf = (row: Row, passed: readonly string[]): string | undefined => {
    if (row.why.some(({ kind }) => kind === 'interference')) return undefined;
    for (const id of row.why.flatMap(blamesOf)) {
      const next = byId.get(id);
      if (next === undefined || isFine(next) || passed.includes(id)) continue;
      const cause = causeOf(next, [...passed, id]) ?? (next.verdict === 'fail' ? id : undefined);
      if (cause !== undefined) return cause;
    }
    return undefined;
  };
  return rows.map((row) => {
    const why = row.why.map((reason) => {
      const blames = blamesOf(reason).filter((id) => !isFine(byId.get(id)));
      return 'blames' in reason ? { ...reason, blames } : reason;
    });
    const isOpen = row.verdict === 'fail' || row.verdict === 'inconclusive';
    const cause = isOpen ? causeOf(row, [row.id]) : undefined;
    const told = row.verdict === 'fail' ? row : { ...row, why, reason: sentence(why) };
    return cause === undefined ? told : { ...told, consequenceOf: cause };
  });
}

/** Whether a row explains nothing. */
const isFine = (row: Row | undefined) => row?.verdict !== 'fail' && row?.verdict !== 'inconclusive';

/** Marks the failures that the baseline lists, and what they explain. */
function withBaseline(rows: Rows, baseline: Gate['baseline']): Row[] {
  const listed = new Set(baseline.map(({ id }) => id));
  return rows.map((row) => {
    const known = row.verdict === 'fail' && listed.has(row.id);
    const explained = row.consequenceOf !== undefined && listed.has(row.consequenceOf);
    return known || explained ? { ...row, baselined: true } : row;
  });
}

/** What is wrong with the baseline itself: an entry that passes would hide a later failure. */
export function staleEntries(rows: Rows, baseline: Gate['baseline']): string[] {
  const passed = new Set(rows.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id));
  return baseline
    .filter(({ id }) => passed.has(id))
    .map(({ id, place }) => `delete ${id} from the baseline (${place}), it passes now`);
}

/** Whether nothing was left out. */
export const isComplete = (rows: Rows): boolean =>
  rows.every(({ verdict, required }) => verdict !== 'skipped' && required !== true);

/** Whether all that was asked for was judged, and binds no target with these keys. */
function bindsNobody(rows: Rows): boolean {
  const asked = rows.filter(({ why }) => !why.some(({ kind }) => kind === 'left-out'));
  return asked.length > 0 && asked.every(({ verdict }) => verdict === 'not-applicable');
}

/** The verdict of a run; one in which nothing was verified is never conformant. */
export function verdictOf(rows: Rows, gaps: readonly GapResult[], problems: readonly string[]): RunVerdict {
  const kinds = new Set(rows.map(rowKind));
  if (kinds.has('fail') || gaps.some(({ verdict }) => verdict === 'drifted')) return 'not-conformant';
  if (problems.length > 0 || kinds.has('inconclusive')) return 'inconclusive';
  if (rows.every(({ verdict }) => verdict !== 'pass'))
    return bindsNobody(rows) ? 'nothing-broken' : 'inconclusive';
  return isComplete(rows) && !kinds.has('known') ? 'conformant' : 'nothing-broken';
}
