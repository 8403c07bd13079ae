/** What is judged over all samples of a run, in addition to its objective: one part of it is compared with another. */

import { scenarioNamed } from '../../lib/catalogue.ts';
import type { ThresholdOutcome } from '../../lib/messages.ts';
import { ARRIVALS } from '../../lib/scenario.ts';
import { round } from '../../lib/slo.ts';
import { quantile } from '../../lib/statistics.ts';
import { blocksOf, type LoadBlock } from '../result/figures.ts';
import type { LoadResult, LoadSeries } from '../result/load-result.ts';
import { compareSeries } from './compare-series.ts';

/** A block is as fast as usual if its p99 is at most this many times the usual one. */
const USUAL_FACTOR = 2;

/** Seconds from `since` to the end of the last block that was slower than usual or had errors. */
function troubledFor(usual: readonly LoadBlock[], later: readonly LoadBlock[], since: number): number {
  const p99 = quantile(
    usual.map(({ latency }) => latency(99)),
    0.95,
  );
  const troubled = later.filter(({ latency, errors }) => latency(99) > p99 * USUAL_FACTOR || errors > 0);
  const ends = troubled.map(({ at }) => (later.find((block) => block.at > at)?.at ?? at) - since);
  return Math.max(0, ...ends) / 1000;
}

/** Whether a later part of a run is as good as an earlier one. `held` is null where the run was too short to tell. */
export function judgeWhole(
  { scenario, seconds, startedAt }: LoadResult['run'],
  series: readonly LoadSeries[],
): ThresholdOutcome[] {
  const { compares } = scenarioNamed(scenario);
  if (compares === undefined) return [];
  const { name, earlier, later, tolerated } = compares;
  const [from, to, since] = [...earlier, later].map((part) => Date.parse(startedAt) + part * seconds * 1000);
  const between = (first = 0, last = Number.POSITIVE_INFINITY) =>
    series
      .filter(({ stream }) => stream === ARRIVALS)
      .map((each) => ({ ...each, blocks: each.blocks.filter(({ at }) => at >= first && at < last) }));
  const [usual, judged] = [between(from, to), between(since)];
  const { findings, notCompared } = compareSeries(usual, judged, tolerated);
  if (findings.length === 0)
    return [{ kind: 'run', name, held: null, actual: `${notCompared.join('; ')}: run it longer` }];
  const worse = findings.filter(({ verdict }) => verdict === 'worse');
  const shown = worse.length > 0 ? worse : findings.slice(0, 1);
  const slow = `slower than usual for ${round(troubledFor(blocksOf(usual), blocksOf(judged), since ?? 0))} s`;
  const actual = [...shown.map((finding) => `${finding.metric} ${finding.actual}`), slow].join('; ');
  return [{ kind: 'run', name, held: worse.length === 0, expected: 'no slower, no more errors', actual }];
}
