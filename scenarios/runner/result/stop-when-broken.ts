import { judgeClause, type SloClause } from '../../lib/slo.ts';
import { percentileOf } from './figures.ts';
import type { SampleStore } from './sample-store.ts';

const LOOK_EVERY_MS = 1_000;
const RECENT_MS = 3_000;
const LEAST_REQUESTS = 20;
/** One bad look may be a hiccup. */
const LOOKS = 2;

export interface Broken {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly clause: string;
  readonly actual: string;
}

/**
 * Ends a run as soon as the last seconds break its objective twice in a row.
 *
 * @returns ends the looking and tells what broke, undefined where nothing did
 */
export function stopWhenBroken(
  store: SampleStore,
  clauses: readonly SloClause[],
  stop: () => void,
): () => Broken | undefined {
  let brokenLooks = 0;
  let broken: Broken | undefined;
  const timer = setInterval(() => {
    const { histogram, errors } = store.since(Date.now() - RECENT_MS);
    const requests = histogram.totalCount;
    if (requests < LEAST_REQUESTS) return;
    const figures = {
      requests,
      errors,
      violations: 0,
      latency: (percentile: number) => percentileOf(histogram, percentile),
    };
    const outcome = clauses.map((clause) => judgeClause(clause, figures)).find(({ held }) => !held);
    brokenLooks = outcome === undefined ? 0 : brokenLooks + 1;
    if (outcome === undefined || brokenLooks < LOOKS) return;
    broken ??= { at: Date.now() - RECENT_MS, clause: outcome.clause, actual: outcome.actual };
    clearInterval(timer);
    stop();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return broken;
  };
}
