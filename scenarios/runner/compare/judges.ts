/** Judgements over all samples of a run, in addition to its objective. `held` is null where the run was too short. */
import { AROUND_PEAK } from '../../lib/load-profiles.ts';
import type { ScenarioFacts } from '../../lib/scenario.ts';
import { round } from '../../lib/slo.ts';
import { median, quantile } from '../../lib/statistics.ts';
import type { LoadBlock, LoadSeries, ThresholdOutcome } from '../result/load-result.ts';
import { compareSeries } from './compare-series.ts';

const tooShort = (name: string, why: string): ThresholdOutcome => ({
  kind: 'run',
  name,
  held: null,
  actual: `${why}: run it longer`,
});

const LEAST_BLOCKS = 12;
/** Latency creeps up if it significantly grows by this part over the run. */
const GROWTH_ALLOWED = 0.5;

/**
 * Whether latency creeps up. Theil and Sen's slope over the blocks' medians is not affected by a few slow blocks;
 * Kendall's test says whether it is a trend.
 */
export function judgeTrend(series: readonly LoadSeries[]): ThresholdOutcome {
  const name = 'latency does not creep up';
  const largest = series.toSorted((a, b) => b.requests - a.requests)[0];
  const points = (largest?.blocks ?? []).filter(({ requests }) => requests >= 3);
  const [first, last] = [points[0], points.at(-1)];
  if (points.length < LEAST_BLOCKS || first === undefined || last === undefined)
    return tooShort(name, `${points.length} time blocks of the ${LEAST_BLOCKS} that it takes`);
  const gradients: number[] = [];
  let sign = 0;
  for (const [index, early] of points.entries()) {
    for (const late of points.slice(index + 1)) {
      gradients.push((late.p50 - early.p50) / (late.at - early.at));
      sign += Math.sign(late.p50 - early.p50);
    }
  }
  const count = points.length;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const z = sign / deviation;
  const usual = median(points.map(({ p50 }) => p50));
  const growth = (median(gradients) * (last.at - first.at)) / usual;
  return {
    kind: 'run',
    name,
    held: !(z > 3 && growth > GROWTH_ALLOWED),
    expected: `less than ${GROWTH_ALLOWED * 100} % over the run`,
    actual: `${round(growth * 100)} % over the run (z = ${round(z)})`,
  };
}

/** Whether a noisy neighbour affects a client: its latency and errors with the noise, compared with those without. */
export function judgeNeighbour(series: readonly LoadSeries[]): ThresholdOutcome[] {
  const of = (stream: string) => series.filter((each) => each.stream === stream);
  const { findings, notCompared } = compareSeries(of('alone'), of('disturbed'), { toleratedSlowdown: 0.25 });
  const name = "the neighbour's noise does not reach others";
  if (findings.length === 0) return [tooShort(name, notCompared.join('; '))];
  return findings.map(({ metric, alarm, actual }) => ({
    kind: 'run',
    name: `${name}: ${metric}`,
    held: !alarm,
    expected: 'as without the noise',
    actual,
  }));
}

/** The tolerated slow-down of the median after the peak; four times that for p99. */
const TOLERATED_AFTER_PEAK = 0.5;
/** A block after the peak is as fast as before if its p99 is at most this many times the usual one. */
const USUAL_FACTOR = 2;

function between(series: readonly LoadSeries[], from: number, to: number): LoadSeries[] {
  return series.map((each) => ({ ...each, blocks: each.blocks.filter(({ at }) => at >= from && at < to) }));
}

/** Seconds from `since` to the end of the last block that was slower than usual or had errors. */
function troubledFor(before: readonly LoadBlock[], after: readonly LoadBlock[], since: number): number {
  const usual = quantile(
    before.map(({ p99 }) => p99),
    0.95,
  );
  const troubled = after.filter(({ p99, errors }) => p99 > usual * USUAL_FACTOR || errors > 0);
  const ends = troubled.map(({ at }) => (after.find((block) => block.at > at)?.at ?? at) - since);
  return Math.max(0, ...ends) / 1000;
}

/**
 * Whether a target that was driven hard answers as before once the load is usual again, and how soon.
 *
 * @param seconds how long the run was to last
 * @param start when its first request began, milliseconds since 1970
 */
export function judgeRecovery(
  { streams }: ScenarioFacts,
  series: readonly LoadSeries[],
  seconds: number,
  start: number,
): ThresholdOutcome[] {
  const name = 'latency and errors recover after the peak';
  const profile = streams.find((stream) => stream.kind === 'rate')?.profile;
  const parts = profile === undefined ? undefined : AROUND_PEAK[profile];
  if (parts === undefined) return [];
  const at = (part: number) => start + part * seconds * 1000;
  const before = between(series, at(parts.before[0]), at(parts.before[1]));
  const after = between(series, at(parts.after), Number.POSITIVE_INFINITY);
  const { findings } = compareSeries(before, after, { toleratedSlowdown: TOLERATED_AFTER_PEAK });
  if (findings.length === 0) return [tooShort(name, 'too few time blocks around the peak')];
  const largest = after.toSorted((a, b) => b.blocks.length - a.blocks.length)[0];
  const same = before.find(
    ({ operation, plan }) => operation === largest?.operation && plan === largest.plan,
  );
  const slow =
    largest === undefined || same === undefined || same.blocks.length === 0
      ? ''
      : `; slower than usual for ${round(troubledFor(same.blocks, largest.blocks, at(parts.after)))} s`;
  const alarms = findings.filter(({ alarm }) => alarm);
  const shown = alarms.length > 0 ? alarms : findings.slice(0, 1);
  const actual = shown.map((finding) => `${finding.metric} ${finding.actual}`).join('; ') + slow;
  return [{ kind: 'run', name, held: alarms.length === 0, expected: 'as before it', actual }];
}
