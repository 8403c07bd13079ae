import { quantile, sum } from 'simple-statistics';
import { round } from '../../lib/slo.ts';
import type { ProcessUsage } from '../k6/process-watch.ts';
import type { GeneratorHealth, LoadFigures } from './load-result.ts';

/** What was measured of the machine that made the load. */
export interface GeneratorReadings {
  readonly usages: readonly ProcessUsage[];
  readonly lags: readonly number[];
  readonly droppedIterations: number;
  readonly errorLines: readonly string[];
  readonly total: LoadFigures;
  /** Requests per second at the peak, and virtual users to send them. */
  readonly peakRate: number;
  readonly vus: number;
}

/** If one arrival in twenty is later than this, the rate was not even. */
const LAG_ALLOWED_MS = 250;
const CPU_ALLOWED = 0.9;
const DROPS_ALLOWED = 0.01;

/**
 * Whether the machine that made the load was the limit. Arrivals are also dropped when every virtual user waits for a
 * slow target. Little's law (busy users = rate × latency) tells the two apart.
 */
export function generatorHealth(readings: GeneratorReadings): GeneratorHealth {
  const { usages, lags, droppedIterations, total, peakRate, vus } = readings;
  // The lag follows from the number of arrivals, which says nothing once some were dropped.
  const lag = lags.length === 0 || droppedIterations > 0 ? null : quantile([...lags], 0.95);
  const together = (field: 'cpuMeanPart' | 'cpuPeakPart' | 'memoryPeakBytes') => {
    const known = usages.flatMap((usage) => usage[field] ?? []);
    return known.length === 0 ? null : sum(known);
  };
  const cpuMeanPart = together('cpuMeanPart');
  const dropped = droppedIterations / Math.max(1, droppedIterations + total.requests);
  const waiting = (peakRate * (total.latency?.mean ?? 0)) / 1000;
  const limits: string[] = [];
  if (lag !== null && lag > LAG_ALLOWED_MS)
    limits.push(`arrivals began up to ${round(lag)} ms late (95th percentile)`);
  if (cpuMeanPart !== null && cpuMeanPart > CPU_ALLOWED)
    limits.push(`k6 took ${Math.round(cpuMeanPart * 100)} % of the CPU`);
  if (dropped > DROPS_ALLOWED && waiting < vus / 2) {
    limits.push(
      `${droppedIterations} arrivals were not sent though the target answered fast enough for ${vus} users`,
    );
  }
  return {
    droppedIterations,
    scheduleLagP95Ms: lag,
    cpuMeanPart,
    cpuPeakPart: together('cpuPeakPart'),
    memoryPeakBytes: together('memoryPeakBytes'),
    errorLines: readings.errorLines,
    limit: limits.length === 0 ? null : limits.join('; '),
  };
}
