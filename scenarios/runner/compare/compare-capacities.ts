import { round } from '../../lib/slo.ts';
import type { CapacityResult } from '../capacity/capacity.ts';
import {
  type CompareFinding,
  type CompareOptions,
  type Comparison,
  percent,
  verdictOn,
} from './compare-series.ts';

/** Half of a 95 % interval, in the logarithm. */
const reach = ([low, high]: readonly [number, number]) => Math.log(high / low) / 2;

/** Compares two capacities. Both intervals make the interval of their ratio, as of two independent estimates. */
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
  // A lower capacity counts as a loss, as a longer latency does.
  const loss = Math.log(base.capacity / head.capacity);
  const both = Math.hypot(reach(base.interval), reach(head.interval));
  const [low, high, tolerated] = [loss - both, loss + both, -Math.log(1 - toleratedSlowdown)];
  const finding: CompareFinding = {
    metric: 'capacity',
    verdict: verdictOn({ low, high }, tolerated, high > tolerated),
    actual:
      `${round(base.capacity)}/s → ${round(head.capacity)}/s, ${percent(-loss)} ` +
      `(95 %: ${percent(-high)} to ${percent(-low)}; tolerated ${percent(-tolerated)})`,
  };
  return { findings: [finding], notCompared: [] };
}
