/** The highest rate that holds an objective. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Way } from '../../../checks/wire/exchange-shape.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import { latencyBounds, parseSlo, round } from '../../lib/slo.ts';
import { type LoadRun, runLoad } from '../load-run.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import {
  CAPACITY_FORMAT_VERSION,
  type CapacityFound,
  type CapacityResult,
  type CapacityStep,
} from './capacity.ts';
import { BUDGET_SECONDS, keysAt, type Spent, waitFor } from './capacity-books.ts';
import { NO_NUMBER, type SearchEnd, searchCapacity } from './capacity-search.ts';
import { judgeStep } from './judge-step.ts';

/** A search: each of its steps is such a load. Its rate is a first guess. */
export interface CapacityRequest extends Omit<LoadRun, 'facts'> {
  readonly onStep?: (step: CapacityStep) => void;
  /** Called before the search waits for the keys' next minute. */
  readonly onWait?: (seconds: number) => void;
}

const MOST_STUMBLES = 6;
/** Arrivals that are late by a tenth of the bound, and by at least this, would distort latencies. */
const LEAST_LAG_MS = 20;

/**
 * Finds the capacity.
 *
 * The interval has two parts. One is what the steps leave open: a 95 % credible interval, see knee.ts. The other is the
 * resolution of the criterion: it misses a queue that grows too slowly to break the objective within a minute.
 */
export async function measureCapacity(request: CapacityRequest): Promise<CapacityResult> {
  const { target, slo = CAPACITY_STEP.thresholds, mix = CAPACITY_STEP.mix, stop } = request;
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const left = () => BUDGET_SECONDS - elapsed();
  const clauses = parseSlo(slo);
  const bounds = latencyBounds(clauses);
  const spent: Spent[] = [];
  const taken: CapacityStep[] = [];
  let way: Way = {};

  /** Waits until the keys can pay for a step, or says why they cannot. */
  async function afford(rate: number, seconds: number): Promise<SearchEnd | undefined> {
    const { waitSeconds, reason } = waitFor({ rate, seconds }, target, spent, Date.now());
    if (waitSeconds === 0) return undefined;
    if (waitSeconds === undefined || waitSeconds + seconds > left())
      return { outcome: 'quota-limited', reason };
    request.onWait?.(waitSeconds);
    await sleep(waitSeconds * 1000, undefined, stop === undefined ? {} : { signal: stop });
    return undefined;
  }

  /** Takes a step, and repeats it if the machine itself stumbled. */
  async function take(rate: number, seconds: number): Promise<SearchEnd | undefined> {
    let stumble = '';
    for (let stumbles = 0; stumbles <= MOST_STUMBLES; stumbles += 1) {
      const end = await afford(rate, seconds);
      if (end !== undefined) return end;
      const result = await runLoad({
        ...request,
        ...{ facts: CAPACITY_STEP, rate, seconds, note: () => {} },
        target: { ...target, keys: keysAt(target, spent, Date.now()) },
        graceSeconds: Math.min(5, Math.max(0.5, Math.max(0, ...bounds) / 500)),
      });
      way = result.run.way ?? {};
      // A step that was cut short says nothing.
      stop?.throwIfAborted();
      const at = Date.now();
      spent.push(...result.keys.map(({ name, sent = 0 }) => ({ at, name, sent })));
      const { limit, scheduleLagP95Ms: lag, errorLines } = result.generator;
      if (result.verdict === 'failed-to-run') {
        const reason = `a step at ${round(rate)}/s could not be run: ${errorLines[0] ?? 'no request was made'}`;
        return { outcome: 'generator-limited', reason };
      }
      const judgement = judgeStep(result, clauses);
      const lagAllowed = Math.max(LEAST_LAG_MS, Math.min(...bounds) / 10);
      if (judgement.held || (limit === null && (lag ?? 0) <= lagAllowed)) {
        const step = { rate, seconds, requests: result.total.requests, ...judgement };
        taken.push(step);
        request.onStep?.(step);
        return undefined;
      }
      stumble = limit ?? `arrivals began up to ${round(lag ?? 0)} ms late`;
    }
    return { outcome: 'generator-limited', reason: `at ${round(rate)}/s ${stumble}` };
  }

  let found: CapacityFound;
  try {
    found = await searchCapacity({ taken, take, startRate: request.rate, left }, clauses);
  } catch (error) {
    // The earlier steps remain true.
    const isLost = error instanceof TargetNotReady && taken.length > 0;
    if (stop?.aborted !== true && !isLost) throw error;
    const reason = stop?.aborted !== true && isLost ? error.message : 'by a signal';
    found = { outcome: 'interrupted', reason, ...NO_NUMBER };
  }
  return {
    formatVersion: CAPACITY_FORMAT_VERSION,
    run: {
      ...{ target: target.address, slo, mix, startedAt, k6Version: request.k6.version },
      way,
      durationSeconds: elapsed(),
      harnessVersion: HARNESS_VERSION,
    },
    ...found,
    steps: taken,
  };
}
