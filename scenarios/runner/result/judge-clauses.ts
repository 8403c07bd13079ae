/** An objective, judged on what was measured. */
import { judgeClause, type SloClause } from '../../lib/slo.ts';
import { combine, errorsIn, histogramFrom, percentileOf } from './figures.ts';
import type { LoadSeries, ThresholdOutcome } from './load-result.ts';

/** Judges an objective on the series of a result; a refusal that the scenario is about takes part in no latency. */
export function judgeClauses(
  clauses: readonly SloClause[],
  series: readonly LoadSeries[],
): ThresholdOutcome[] {
  return clauses.map((clause) => {
    const { requests, outcomes, latency } = combine(
      series.filter(({ operation }) => clause.operation === undefined || operation === clause.operation),
      1,
    );
    const histogram = latency === null ? undefined : histogramFrom(latency.histogram);
    const {
      clause: name,
      held,
      actual,
    } = judgeClause(clause, {
      requests,
      errors: errorsIn(outcomes),
      violations: outcomes.violation,
      latency: (percentile) => (histogram === undefined ? Number.NaN : percentileOf(histogram, percentile)),
    });
    return { name, held, actual };
  });
}
