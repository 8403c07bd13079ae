/** Counts and latencies: recorded, added up, and read back from a result. */
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import { sum } from 'simple-statistics';
import { groupBy } from '../../../spec/group-by.ts';
import { OUTCOMES, type Outcome } from '../../lib/scenario.ts';
import type { SloFigures } from '../../lib/slo.ts';
import type { Latency, LoadBlock, LoadFigures } from './load-result.ts';

/** For durations in microseconds, three significant digits. */
export function newHistogram(): Histogram {
  return build({
    bitBucketSize: 32,
    autoResize: true,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  });
}

/** The histogram of a result: V2, deflated, base64. */
export function histogramFrom(encoded: string): Histogram {
  return decodeFromCompressedBase64(encoded, 32, false);
}

/** Histograms of a result as one. */
export function mergedHistogram(parts: Iterable<{ readonly histogram: string }>): Histogram {
  const merged = newHistogram();
  for (const { histogram } of parts) merged.add(histogramFrom(histogram));
  return merged;
}

/** A percentile in milliseconds. */
export const percentileOf = (histogram: Histogram, percentile: number): number =>
  histogram.getValueAtPercentile(percentile) / 1000;

/** What an objective is judged on: latencies and errors. */
export const sloFigures = (histogram: Histogram, errors: number): SloFigures => ({
  requests: histogram.totalCount,
  errors,
  violations: 0,
  latency: (percentile) => percentileOf(histogram, percentile),
});

/** The usual figures of a histogram; null for an empty one. */
export function latencyOf(histogram: Histogram): Latency | null {
  if (histogram.totalCount === 0) return null;
  const at = (percentile: number) => percentileOf(histogram, percentile);
  return {
    mean: histogram.mean / 1000,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: histogram.maxValue / 1000,
    histogram: encodeIntoCompressedBase64(histogram),
  };
}

/** A time block from the durations of its requests. */
export function blockOf(
  at: number,
  { histogram, errors, refused }: { readonly histogram: Histogram } & Pick<LoadBlock, 'errors' | 'refused'>,
): LoadBlock {
  return {
    at,
    requests: histogram.totalCount,
    errors,
    refused,
    mean: histogram.mean / 1000,
    p50: percentileOf(histogram, 50),
    p99: percentileOf(histogram, 99),
    histogram: encodeIntoCompressedBase64(histogram),
  };
}

/** The blocks of several series as one, in time. */
export function mergedBlocks(series: readonly { readonly blocks: readonly LoadBlock[] }[]): LoadBlock[] {
  const byTime = groupBy(
    series.flatMap(({ blocks }) => blocks),
    ({ at }) => at,
  );
  return [...byTime]
    .map(([at, blocks]) =>
      blocks.length === 1
        ? blocks[0]
        : blockOf(at, {
            histogram: mergedHistogram(blocks),
            errors: sum(blocks.map(({ errors }) => errors)),
            refused: sum(blocks.map(({ refused }) => refused)),
          }),
    )
    .toSorted((a, b) => a.at - b.at);
}

type Outcomes = Readonly<Record<Outcome, number>>;

export const noOutcomes = (): Record<Outcome, number> => ({
  ok: 0,
  refused: 0,
  'unexpected-429': 0,
  error: 0,
  violation: 0,
  unfinished: 0,
});

const ERRORS: readonly Outcome[] = ['error', 'unexpected-429', 'unfinished'];

/** Whether it counts as an error. A violation is counted on its own. */
export const isError = (outcome: Outcome): boolean => ERRORS.includes(outcome);

/** How many of the requests count as errors. */
export const errorsIn = (outcomes: Outcomes): number => sum(ERRORS.map((outcome) => outcomes[outcome]));

/** What was counted of some requests. */
export interface Sums {
  readonly statuses: ReadonlyMap<number, number>;
  readonly outcomes: Outcomes;
  readonly histogram: Histogram;
}

/** An HTTP status, not k6's code for a response that never came. */
const isAnswer = (status: number) => status > 0 && status < 1000;

export function figuresOf({ statuses, outcomes, histogram }: Sums, seconds: number): LoadFigures {
  const requests = sum([...statuses.values()]);
  return {
    requests,
    perSecond: seconds === 0 ? 0 : requests / seconds,
    statuses: Object.fromEntries([...statuses].toSorted(([a], [b]) => a - b)),
    outcomes: { ...outcomes },
    // The time until a request failed is not a latency.
    latency: [...statuses.keys()].some(isAnswer) ? latencyOf(histogram) : null,
  };
}

/**
 * Adds up the counts and histograms of several figures. Counts are exact. Percentiles have the histograms' three digits,
 * as if one process had recorded all samples.
 */
export function combine(parts: readonly LoadFigures[], seconds: number): LoadFigures {
  const statuses = new Map<number, number>();
  const outcomes = noOutcomes();
  for (const part of parts) {
    for (const [text, count] of Object.entries(part.statuses)) {
      const status = Number(text);
      statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
    for (const outcome of OUTCOMES) outcomes[outcome] += part.outcomes[outcome];
  }
  const histogram = mergedHistogram(parts.flatMap(({ latency }) => latency ?? []));
  return figuresOf({ statuses, outcomes, histogram }, seconds);
}
