/** The parts of a result that come from samples and events, whoever started the load. */
import { peakRate, slopes } from '../../lib/load-profiles.ts';
import type { ScenarioFacts } from '../../lib/scenario.ts';
import { judgeClause, type SloClause } from '../../lib/slo.ts';
import type { EventLog } from '../k6/event-log.ts';
import { combine, errorsIn, histogramFrom, percentileOf } from './figures.ts';
import { type GeneratorReadings, generatorHealth } from './generator-health.ts';
import type { LoadResult, LoadSeries, ThresholdOutcome } from './load-result.ts';
import type { SampleStore } from './sample-store.ts';

/** Judges an objective on the series of a result. */
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

/** What is known in addition to the samples. */
interface Surroundings extends Pick<GeneratorReadings, 'usages' | 'droppedIterations' | 'vus'> {
  readonly events: EventLog;
  readonly clauses: readonly SloClause[];
  /** Requests per second at the peak; the average if it is not known. */
  readonly peakRate?: number;
  /** The run is still under way. Its many lags are judged at the end only. */
  readonly soFar?: true | undefined;
}

type Recorded = Pick<LoadResult, 'series' | 'total' | 'generator' | 'violations' | 'measurements'> & {
  readonly durationSeconds: number;
  /** The objective, and what clients assert. */
  readonly thresholds: ThresholdOutcome[];
};

/** The parts of a result that follow from what was recorded. */
export function recorded(store: SampleStore, { events, clauses, soFar, ...machine }: Surroundings): Recorded {
  const series = store.series();
  const span = store.span();
  const durationSeconds = span === undefined ? 0 : (span.last - span.first) / 1000;
  const total = combine(series, durationSeconds);
  const { errorLines } = events;
  const lags = soFar === true ? [] : events.lags();
  return {
    series,
    durationSeconds,
    total,
    thresholds: [
      ...judgeClauses(clauses, series),
      ...events.assertions.map(({ kind: _, ...outcome }) => outcome),
    ],
    generator: generatorHealth({ peakRate: total.perSecond, ...machine, lags, errorLines, total }),
    violations: events.violations(),
    measurements: events.measurements.map(({ kind: _, ...measurement }) => measurement),
  };
}

/** The verdict of the figures alone. */
export function verdictOf({
  total,
  generator,
  thresholds,
}: Pick<LoadResult, 'total' | 'generator' | 'thresholds'>): LoadResult['verdict'] {
  if (total.requests === 0 || generator.errorLines.length > 0) return 'failed-to-run';
  if (generator.limit !== null) return 'generator-limited';
  return thresholds.every(({ held }) => held) ? 'held' : 'broken';
}

/** The highest rate of a scenario's streams, requests per second. */
export function peakOf({ streams }: ScenarioFacts, rate: number): number {
  return Math.max(
    0,
    ...streams.flatMap((stream) =>
      stream.kind === 'rate' ? [peakRate(slopes(stream.profile, rate, 1))] : [],
    ),
  );
}
