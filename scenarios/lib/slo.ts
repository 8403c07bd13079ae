/** The language of `--slo` and of thresholds: `p99<200ms,errors<0.1%,violations==0`. */

/** What a clause can bound. */
export const SLO_METRICS = ['latency', 'errors', 'violations'] as const;

export interface SloClause {
  readonly text: string;
  readonly metric: (typeof SLO_METRICS)[number];
  /** Of latency. */
  readonly percentile: number;
  /** Milliseconds for latency, a part of 1 for errors, a count for violations. */
  readonly bound: number;
  /** Whether the bound itself is still good (`==0`, `<=`). */
  readonly inclusive: boolean;
  /** Restricts the clause to one operation: `p99(listPets)<200ms`. */
  readonly operation: string | undefined;
}

/** The text is not an objective. */
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
    throw new SloError(`"${text.slice(0, LONGEST_CLAUSE)}…" is not a clause; write one like p99<200ms`);
  const { percentile, count, operation, sign, value, unit = '' } = CLAUSE.exec(text)?.groups ?? {};
  if (sign === undefined || value === undefined)
    throw new SloError(`cannot read "${text}": write p99<200ms, errors<0.1% or violations==0`);
  const clause = { text, percentile: Number(percentile), inclusive: sign !== '<', operation };
  if (percentile !== undefined) {
    const factor = MILLISECONDS[unit];
    if (factor === undefined) throw new SloError(`"${text}" needs a unit of time: us, ms or s`);
    if (sign === '==') throw new SloError(`"${text}": a latency can be bounded, not set; write < or <=`);
    if (!(clause.percentile > 0)) throw new SloError(`"${text}": a percentile lies between 0 and 100`);
    return { ...clause, metric: 'latency', bound: Number(value) * factor };
  }
  if (count === 'violations') {
    if (unit !== '') throw new SloError(`"${text}": violations are counted, without a unit`);
    return { ...clause, metric: 'violations', bound: Number(value) };
  }
  if (unit !== '' && unit !== '%') throw new SloError(`"${text}": errors are a ratio, as in errors<0.1%`);
  return { ...clause, metric: 'errors', bound: unit === '%' ? Number(value) / 100 : Number(value) };
}

/** The bounds of clauses on latency, in milliseconds. */
export const latencyBounds = (clauses: readonly SloClause[]): number[] =>
  clauses.flatMap(({ metric, bound }) => (metric === 'latency' ? [bound] : []));

/** The clauses of an objective that bound a latency, in milliseconds; none if a stored text can no longer be read. */
export function boundsIn(text: string): { readonly text: string; readonly bound: number }[] {
  try {
    return parseSlo(text).flatMap(({ text, metric, bound }) =>
      metric === 'latency' ? [{ text, bound }] : [],
    );
  } catch (error) {
    if (error instanceof SloError) return [];
    throw error;
  }
}

export interface SloFigures {
  readonly requests: number;
  readonly errors: number;
  readonly violations: number;
  /** Milliseconds. */
  readonly latency: (percentile: number) => number;
}

export interface SloOutcome {
  readonly clause: string;
  readonly held: boolean;
  readonly actual: string;
}

/** The first clause that does not hold. */
export const firstBroken = (clauses: readonly SloClause[], figures: SloFigures): SloOutcome | undefined =>
  clauses.map((clause) => judgeClause(clause, figures)).find(({ held }) => !held);

/** Judges a clause. Without any request it does not hold. */
export function judgeClause(
  { text: clause, metric, percentile, bound, inclusive }: SloClause,
  { requests, errors, violations, latency }: SloFigures,
): SloOutcome {
  if (requests === 0) return { clause, held: false, actual: 'no request was made' };
  const outcome = (value: number, actual: string) => ({
    clause,
    held: inclusive ? value <= bound : value < bound,
    actual,
  });
  if (metric === 'violations') return outcome(violations, String(violations));
  const part = errors / requests;
  if (metric === 'errors') return outcome(part, `${round(part * 100)} % (${errors} of ${requests})`);
  const value = latency(percentile);
  return outcome(value, Number.isNaN(value) ? 'no request was answered' : `${round(value)} ms`);
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
