/** Judgements over all samples of a run, in addition to its objective: one part of it is compared with another. */

import { scenarioNamed } from '../../lib/catalogue.ts';
import { AROUND_PEAK } from '../../lib/load-profiles.ts';
import type { ThresholdOutcome } from '../../lib/messages.ts';
import { ARRIVALS } from '../../lib/scenario.ts';
import { round } from '../../lib/slo.ts';
import { median, quantile } from '../../lib/statistics.ts';
import { blocksOf, type LoadBlock } from '../result/figures.ts';
import type { LoadResult, LoadSeries } from '../result/load-result.ts';
import { compareSeries } from './compare-series.ts';

type Run = LoadResult['run'];

/**
 * Whether a part of the run is as good as another. `held` is null where the run was too short to tell.
 *
 * @param toleratedSlowdown of the median; four times that for p99
 * @param more is added to what was seen
 */
function judgeParts(
  name: string,
  usual: readonly LoadSeries[],
  judged: readonly LoadSeries[],
  toleratedSlowdown: number,
  more = '',
): ThresholdOutcome {
  const { findings, notCompared } = compareSeries(usual, judged, { toleratedSlowdown });
  if (findings.length === 0)
    return { kind: 'run', name, held: null, actual: `${notCompared.join('; ')}: run it longer` };
  const worse = findings.filter(({ verdict }) => verdict === 'worse');
  const shown = worse.length > 0 ? worse : findings.slice(0, 1);
  const actual = shown.map((finding) => `${finding.metric} ${finding.actual}`).join('; ') + more;
  return { kind: 'run', name, held: worse.length === 0, expected: 'no slower, no more errors', actual };
}

function between(series: readonly LoadSeries[], from: number, to: number): LoadSeries[] {
  return series.map((each) => ({ ...each, blocks: each.blocks.filter(({ at }) => at >= from && at < to) }));
}

/** Latency creeps up if it grows by half over the run, which is a quarter from its first half to its second. */
const GROWTH_ALLOWED = 0.25;
const NOISE_ALLOWED = 0.25;

/** Compares the second half of the requests at a rate with the first; with a noisy neighbour they are those with its noise. */
const judgeHalves = (name: string, allowed: number) => (_: Run, series: readonly LoadSeries[]) => {
  const arrivals = series.filter(({ stream }) => stream === ARRIVALS);
  const middle = median(arrivals.flatMap(({ blocks }) => blocks.map(({ at }) => at)));
  const later = between(arrivals, middle, Number.POSITIVE_INFINITY);
  return judgeParts(name, between(arrivals, 0, middle), later, allowed);
};

const TOLERATED_AFTER_PEAK = 0.5;
/** A block after the peak is as fast as before if its p99 is at most this many times the usual one. */
const USUAL_FACTOR = 2;

/** Seconds from `since` to the end of the last block that was slower than usual or had errors. */
function troubledFor(before: readonly LoadBlock[], after: readonly LoadBlock[], since: number): number {
  const usual = quantile(
    before.map(({ latency }) => latency(99)),
    0.95,
  );
  const troubled = after.filter(({ latency, errors }) => latency(99) > usual * USUAL_FACTOR || errors > 0);
  const ends = troubled.map(({ at }) => (after.find((block) => block.at > at)?.at ?? at) - since);
  return Math.max(0, ...ends) / 1000;
}

/** Whether a target that was driven hard answers as before once the load is usual again, and how soon. */
function judgeRecovery({ scenario, seconds, startedAt }: Run, series: readonly LoadSeries[]) {
  const profile = scenarioNamed(scenario)?.profile;
  const parts = profile && AROUND_PEAK[profile];
  if (parts === undefined) return [];
  const at = (part: number) => Date.parse(startedAt) + part * seconds * 1000;
  const before = between(series, at(parts.before[0]), at(parts.before[1]));
  const after = between(series, at(parts.after), Number.POSITIVE_INFINITY);
  const [usual, later] = [blocksOf(before), blocksOf(after)];
  const slow = `; slower than usual for ${round(troubledFor(usual, later, at(parts.after)))} s`;
  const name = 'latency and errors recover after the peak';
  return judgeParts(name, before, after, TOLERATED_AFTER_PEAK, slow);
}

const JUDGES = {
  'latency-trend': judgeHalves('latency does not creep up', GROWTH_ALLOWED),
  neighbour: judgeHalves("the neighbour's noise does not reach others", NOISE_ALLOWED),
  recovery: judgeRecovery,
};

/** What the scenario of a run judges over all samples together. */
export const judgeWhole = (run: Run, series: readonly LoadSeries[]): ThresholdOutcome[] =>
  (scenarioNamed(run.scenario)?.judges ?? []).flatMap((judge) =>
    judge === 'unique-ids' ? [] : JUDGES[judge](run, series),
  );
