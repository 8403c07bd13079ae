/** The language of `--slo` and of thresholds: `p99<200ms,errors<0.1%,violations==0`. */

/** What a clause looks at. */
export type SloMetric =
  | { readonly kind: 'latency'; readonly percentile: number }
  | { readonly kind: 'errors' }
  | { readonly kind: 'violations' };

export interface SloClause {
  readonly text: string;
  readonly metric: SloMetric;
  /** Milliseconds for latency, a part of 1 for errors, a count for violations. */
  readonly bound: number;
  /** Whether the bound itself is still good (`==0`, `<=`). */
  readonly inclusive: boolean;
  /** Restricts the clause to one operation: `p99(listPets)<200ms`. */
  readonly operation?: string;
}

/** Text that is no objective. */
export class SloError extends Error {
  override readonly name = 'SloError';
}

const CLAUSE =
  /^(p(?<percentile>\d{1,2}(\.\d{1,3})?)|(?<count>errors|violations))(\((?<operation>listPets|createPet|getPet)\))?\s*(?<sign><=|<|==)\s*(?<value>\d+(\.\d+)?)\s*(?<unit>us|ms|s|%)?$/;

const MILLISECONDS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

/**
 * Reads an objective.
 *
 * @throws SloError naming the clause that cannot be read
 */
export function parseSlo(text: string): SloClause[] {
  const clauses = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (clauses.length === 0)
    throw new SloError('an objective has at least one clause, as in p99<200ms,errors<0.1%');
  return clauses.map(parseClause);
}

/** Longer than any clause is. */
const LONGEST_CLAUSE = 60;

function parseClause(text: string): SloClause {
  if (text.length > LONGEST_CLAUSE)
    throw new SloError(`"${text.slice(0, LONGEST_CLAUSE)}…" is no clause; write one like p99<200ms`);
  const { percentile, count, operation, sign, value, unit } = CLAUSE.exec(text)?.groups ?? {};
  if (sign === undefined || value === undefined) {
    throw new SloError(`cannot read "${text}": write p99<200ms, errors<0.1% or violations==0`);
  }
  const common = { text, inclusive: sign !== '<', ...(operation === undefined ? {} : { operation }) };
  if (percentile !== undefined) {
    const factor = MILLISECONDS[unit ?? ''];
    if (factor === undefined) throw new SloError(`"${text}" needs a unit of time: us, ms or s`);
    if (sign === '==') throw new SloError(`"${text}": a latency can be bounded, not set; write < or <=`);
    if (!(Number(percentile) > 0)) throw new SloError(`"${text}": a percentile lies between 0 and 100`);
    return {
      ...common,
      metric: { kind: 'latency', percentile: Number(percentile) },
      bound: Number(value) * factor,
    };
  }
  if (count === 'violations') {
    if (unit !== undefined) throw new SloError(`"${text}": violations are counted, without a unit`);
    return { ...common, metric: { kind: 'violations' }, bound: Number(value) };
  }
  if (unit !== undefined && unit !== '%')
    throw new SloError(`"${text}": errors are a part, as in errors<0.1%`);
  return { ...common, metric: { kind: 'errors' }, bound: unit === '%' ? Number(value) / 100 : Number(value) };
}

/** The bounds of clauses on latency, in milliseconds. */
export const latencyBounds = (clauses: readonly SloClause[]): number[] =>
  clauses.flatMap(({ metric, bound }) => (metric.kind === 'latency' ? [bound] : []));

/** The latencies, in milliseconds, that an objective bounds; none where a stored one cannot be read any more. */
export function boundsIn(text: string): { readonly text: string; readonly bound: number }[] {
  try {
    return parseSlo(text).flatMap(({ text, metric, bound }) =>
      metric.kind === 'latency' ? [{ text, bound }] : [],
    );
  } catch (error) {
    if (error instanceof SloError) return [];
    throw error;
  }
}

/** The figures that an objective is judged on. */
export interface SloFigures {
  readonly requests: number;
  readonly errors: number;
  readonly violations: number;
  /** Milliseconds. */
  latency(percentile: number): number;
}

/** What came of one clause. */
export interface SloOutcome {
  readonly clause: string;
  readonly held: boolean;
  readonly actual: string;
}

/** Judges a clause; one without a request to judge does not hold. */
export function judgeClause(clause: SloClause, figures: SloFigures): SloOutcome {
  if (figures.requests === 0) return { clause: clause.text, held: false, actual: 'no request was made' };
  const { metric, bound, inclusive } = clause;
  const within = (value: number) => (inclusive ? value <= bound : value < bound);
  if (metric.kind === 'latency') {
    const value = figures.latency(metric.percentile);
    if (Number.isNaN(value)) return { clause: clause.text, held: false, actual: 'no request was answered' };
    return { clause: clause.text, held: within(value), actual: `${round(value)} ms` };
  }
  if (metric.kind === 'violations') {
    return { clause: clause.text, held: within(figures.violations), actual: String(figures.violations) };
  }
  const part = figures.errors / figures.requests;
  return {
    clause: clause.text,
    held: within(part),
    actual: `${round(part * 100)} % (${figures.errors} of ${figures.requests})`,
  };
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
