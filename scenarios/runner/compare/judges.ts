/** Judgements over all samples of a run, in addition to its thresholds. */
import { median } from 'simple-statistics';
import { round } from '../../lib/slo.ts';
import type { LoadSeries, ThresholdOutcome } from '../result/load-result.ts';
import { compareBlocks } from './compare-blocks.ts';

/** A question that the run was too short to answer: neither held nor broken. */
export interface Undecided {
  readonly name: string;
  readonly undecided: string;
}

const LEAST_BLOCKS = 12;
/** Latency creeps up if it significantly grows by this part over the run. */
const GROWTH_ALLOWED = 0.5;

/**
 * Whether latency creeps up. Theil and Sen's slope over the blocks' medians is not affected by a few slow blocks;
 * Kendall's test says whether it is a trend.
 */
export function judgeTrend(series: readonly LoadSeries[]): ThresholdOutcome | Undecided {
  const name = 'latency does not creep up';
  const largest = series.toSorted((a, b) => b.requests - a.requests)[0];
  const points = (largest?.blocks ?? [])
    .filter(({ requests }) => requests >= 3)
    .map(({ at, p50 }) => ({ at, p50 }));
  const [first, last] = [points[0], points.at(-1)];
  if (points.length < LEAST_BLOCKS || first === undefined || last === undefined) {
    return {
      name,
      undecided: `${points.length} time blocks of the ${LEAST_BLOCKS} that it takes: run it longer`,
    };
  }
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
  const isTrend = z > 3 && growth > GROWTH_ALLOWED;
  return {
    name,
    held: !isTrend,
    expected: `less than ${GROWTH_ALLOWED * 100} % over the run`,
    actual: `${round(growth * 100)} % over the run (z = ${round(z)})`,
  };
}

/** Whether a noisy neighbour affects a client: its latency and errors with the noise, compared with those without. */
export function judgeNeighbour(series: readonly LoadSeries[]): (ThresholdOutcome | Undecided)[] {
  const of = (stream: string) => series.filter((each) => each.stream === stream);
  const comparison = compareBlocks(of('alone'), of('disturbed'), { toleratedSlowdown: 0.25 });
  const name = "the neighbour's noise does not reach others";
  if (comparison.findings.length === 0)
    return [{ name, undecided: `${comparison.notCompared.join('; ')}: run it longer` }];
  return comparison.findings.map(({ metric, alarm, actual }) => ({
    name: `${name}: ${metric}`,
    held: !alarm,
    expected: 'as without the noise',
    actual,
  }));
}

/** Whether every animal that was added has an id of its own. */
export function judgeIds(ids: readonly string[]): ThresholdOutcome {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of ids) (seen.has(id) ? twice : seen).add(id);
  const examples = [...twice].slice(0, 3).join(', ');
  return {
    name: 'every animal that was added has its own id',
    held: twice.size === 0 && ids.length > 0,
    expected: `${ids.length} ids`,
    actual: twice.size === 0 ? `${seen.size} ids` : `${seen.size} ids; given twice: ${examples}`,
  };
}
