/** Whether a target that was driven hard answers as before once the load is usual again, and how soon. */
import { quantile } from 'simple-statistics';
import { AROUND_PEAK } from '../../lib/load-profiles.ts';
import type { ScenarioFacts } from '../../lib/scenario.ts';
import { round } from '../../lib/slo.ts';
import type { LoadBlock, LoadSeries, ThresholdOutcome } from '../result/load-result.ts';
import { compareBlocks } from './compare-blocks.ts';
import type { Undecided } from './judges.ts';

/** The tolerated slow-down of the median after the peak; four times that for p99. */
const TOLERATED = 0.5;
/** A block after the peak is as fast as before if its p99 is at most this many times the usual one. */
const USUAL_FACTOR = 2;

function blocksBetween(series: readonly LoadSeries[], from: number, to: number): LoadSeries[] {
  return series.map((each) => ({ ...each, blocks: each.blocks.filter(({ at }) => at >= from && at < to) }));
}

/** Seconds from `since` to the end of the last block that was slower than usual or had errors. */
function troubledFor(before: readonly LoadBlock[], after: readonly LoadBlock[], since: number): number {
  const usual = quantile(
    before.map(({ p99 }) => p99),
    0.95,
  );
  const troubled = after.filter(({ p99, errors }) => p99 > usual * USUAL_FACTOR || errors > 0);
  const ends = troubled.map(({ at }) => {
    const next = after.find((block) => block.at > at);
    return (next?.at ?? at) - since;
  });
  return Math.max(0, ...ends) / 1000;
}

/**
 * Judges the blocks after a peak against those before it.
 *
 * @param seconds how long the run was to last
 * @param start when its first request began, milliseconds since 1970
 */
export function judgeRecovery(
  { streams }: ScenarioFacts,
  series: readonly LoadSeries[],
  seconds: number,
  start: number,
): (ThresholdOutcome | Undecided)[] {
  const name = 'latency and errors recover after the peak';
  const profile = streams.find((stream) => stream.kind === 'rate')?.profile;
  const parts = profile === undefined ? undefined : AROUND_PEAK[profile];
  if (parts === undefined) return [];
  const at = (part: number) => start + part * seconds * 1000;
  const before = blocksBetween(series, at(parts.before[0]), at(parts.before[1]));
  const after = blocksBetween(series, at(parts.after), Number.POSITIVE_INFINITY);
  const { findings } = compareBlocks(before, after, { toleratedSlowdown: TOLERATED });
  if (findings.length === 0) {
    return [{ name, undecided: 'too few time blocks around the peak: run it longer' }];
  }
  const largest = after.toSorted((a, b) => b.blocks.length - a.blocks.length)[0];
  const same = before.find(
    ({ operation, plan }) => operation === largest?.operation && plan === largest.plan,
  );
  const trouble =
    largest === undefined || same === undefined || same.blocks.length === 0
      ? ''
      : `; slower than usual for ${round(troubledFor(same.blocks, largest.blocks, at(parts.after)))} s`;
  const alarms = findings.filter(({ alarm }) => alarm);
  const shown = alarms.length > 0 ? alarms : findings.slice(0, 1);
  return [
    {
      name,
      held: alarms.length === 0,
      expected: 'as before it',
      actual: shown.map(({ metric, actual }) => `${metric} ${actual}`).join('; ') + trouble,
    },
  ];
}
