import { firstBroken, type SloClause } from '../../lib/slo.ts';
import { sloFigures } from './figures.ts';
import type { SampleStore } from './sample-store.ts';

const LOOK_EVERY_MS = 1_000;
const RECENT_MS = 3_000;
const LEAST_REQUESTS = 20;
/** Once may be a hiccup. */
const LOOKS = 2;

export interface Broken {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly clause: string;
  readonly actual: string;
}

/**
 * Stops a run as soon as its last seconds break the objective twice in a row.
 *
 * @returns a function that ends the watch and returns what broke, if anything did
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
    if (histogram.totalCount < LEAST_REQUESTS) return;
    const outcome = firstBroken(clauses, sloFigures(histogram, errors));
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
