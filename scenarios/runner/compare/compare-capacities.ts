import { round } from '../../lib/slo.ts';
import type { CapacityResult } from '../capacity/capacity.ts';
import type { CompareFinding, CompareOptions, Comparison } from './compare-series.ts';
import { percent } from './compare-series.ts';

/** Half of a 95 % interval, in the logarithm. */
const reach = ([low, high]: readonly [number, number]) => Math.log(high / low) / 2;

/**
 * Compares two capacities. Both intervals make the interval of their ratio, as of two independent estimates.
 */
export function compareCapacities(
  base: CapacityResult,
  head: CapacityResult,
  { toleratedSlowdown }: CompareOptions,
): Comparison {
  const notCompared = [base, head].flatMap(({ capacity, reason }, index) =>
    capacity === null ? [`${index === 0 ? 'base' : 'head'} has no capacity: ${reason}`] : [],
  );
  if (base.capacity === null || head.capacity === null || base.interval === null || head.interval === null)
    return { findings: [], notCompared };
  const ratio = head.capacity / base.capacity;
  const both = Math.hypot(reach(base.interval), reach(head.interval));
  const interval: [number, number] = [ratio * Math.exp(-both), ratio * Math.exp(both)];
  const least = 1 - toleratedSlowdown;
  const isBetter = interval[0] > 1 + toleratedSlowdown;
  const finding: CompareFinding = {
    metric: 'capacity',
    verdict: interval[1] < least ? 'worse' : interval[0] < least ? 'unclear' : isBetter ? 'better' : 'same',
    actual:
      `${round(base.capacity)}/s → ${round(head.capacity)}/s, ${percent(ratio)} ` +
      `(95 %: ${percent(interval[0])} to ${percent(interval[1])}; tolerated ${percent(least)})`,
  };
  return { findings: [finding], notCompared: [] };
}
