/** The language of `--slo` and of thresholds: `p99<200ms,errors<0.1%,violations==0`. */
import { UsageError } from '../../checks/profile/usage-error.ts';
import { quoted } from '../../checks/wire/answer.ts';
import type { ThresholdOutcome } from './messages.ts';
import { SLO_METRICS } from './scenario.ts';

export interface SloClause {
  readonly text: string;
  readonly metric: (typeof SLO_METRICS)[number];
  /** Of latency. */
  readonly percentile: number;
  /** Milliseconds for latency, a part of 1 for errors, a count for violations. */
  readonly bound: number;
  /** Whether the bound itself is still good (`==0`, `<=`). */
  readonly inclusive: boolean;
}

const CLAUSE = new RegExp(
  '^(p(?<percentile>\\d{1,2}(\\.\\d{1,3})?)|(?<part>errors|violations))' +
    '\\s*(?<sign><=?|==)\\s*(?<value>\\d+(\\.\\d+)?)\\s*(?<unit>us|ms|s|%|)$',
);

/** What a unit is in milliseconds, or in parts of 1. */
const UNITS: Readonly<Record<SloClause['metric'], Readonly<Record<string, number>>>> = {
  latency: { us: 0.001, ms: 1, s: 1000 },
  errors: { '': 1, '%': 0.01 },
  violations: { '': 1 },
};

/**
 * Reads an objective.
 *
 * @throws UsageError naming the clause that cannot be read
 */
export function parseSlo(text: string): SloClause[] {
  const clauses = text.split(',').map((part) => part.trim());
  const given = clauses.filter((part) => part !== '' || clauses.length === 1);
  return given.map((text): SloClause => {
    const { percentile, part, sign, value, unit = '' } = CLAUSE.exec(text)?.groups ?? {};
    const metric = SLO_METRICS.find((name) => name === part) ?? 'latency';
    const factor = UNITS[metric][unit];
    const isPossible = metric !== 'latency' || (Number(percentile) > 0 && sign !== '==');
    if (factor === undefined || !isPossible)
      throw new UsageError(`cannot read ${quoted(text)}: write p99<200ms, errors<0.1% or violations==0`);
    const bound = Number(value) * factor;
    return { text, metric, percentile: Number(percentile ?? 0), bound, inclusive: sign !== '<' };
  });
}

/** The bounds of clauses on latency, in milliseconds. */
export const latencyBounds = (clauses: readonly SloClause[]): number[] =>
  clauses.flatMap(({ metric, bound }) => (metric === 'latency' ? [bound] : []));

/** The bounds of an objective on latency, in milliseconds; none if a stored text can no longer be read. */
export function boundsIn(text: string): number[] {
  try {
    return latencyBounds(parseSlo(text));
  } catch {
    return [];
  }
}

export interface SloFigures {
  readonly requests: number;
  readonly errors: number;
  readonly violations: number;
  /** Milliseconds. */
  readonly latency: (percentile: number) => number;
}

/** The first clause that does not hold. */
export const firstBroken = (
  clauses: readonly SloClause[],
  figures: SloFigures,
): ThresholdOutcome | undefined =>
  clauses.map((clause) => judgeClause(clause, figures)).find(({ held }) => !held);

/** Judges a clause. Without any request it does not hold. */
export function judgeClause(
  { text: name, metric, percentile, bound, inclusive }: SloClause,
  { requests, errors, violations, latency }: SloFigures,
): ThresholdOutcome {
  const judged = { kind: 'objective', metric, name } as const;
  if (requests === 0) return { ...judged, held: false, actual: 'no request was made' };
  const part = errors / requests;
  const value = { latency: latency(percentile), errors: part, violations }[metric];
  const actual = {
    latency: Number.isNaN(value) ? 'no request was answered' : `${round(value)} ms`,
    errors: `${round(part * 100)} % (${errors} of ${requests})`,
    violations: String(violations),
  }[metric];
  return { ...judged, held: inclusive ? value <= bound : value < bound, actual };
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
