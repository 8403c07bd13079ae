/** The highest rate that holds an objective: the steps of a search, paid by what earlier ones left of the keys. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Way } from '../../../checks/wire/exchange-shape.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import type { PlannedKey } from '../../lib/messages.ts';
import { latencyBounds, parseSlo, round } from '../../lib/slo.ts';
import { sum } from '../../lib/statistics.ts';
import { type LoadRun, runLoad } from '../load-run.ts';
import type { LoadTarget } from '../quota/load-target.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import { type BudgetKey, type Demand, payFor, Unpayable } from '../quota/quota.ts';
import { judgeStep } from './judge-steps.ts';
import { CAPACITY_FORMAT_VERSION, type CapacityResult, type CapacityStep } from './result.ts';
import { MOST_RATE, NO_NUMBER, type SearchEnd, searchCapacity } from './search.ts';

/** No step at the knee begins later than this. */
const BUDGET_SECONDS = 170;
/** No search sends more than this. */
export const MOST_REQUESTS = MOST_RATE * BUDGET_SECONDS;
/** Added to a minute, since the target's clock may differ from ours. */
const ROOM_MS = 500;

/** What a step sent with a key, and when the step ended, in milliseconds since 1970. */
export interface Spent {
  readonly at: number;
  readonly name: string;
  readonly sent: number;
}

type Payers = Pick<LoadTarget, 'keys' | 'clockSpeed'>;

const minuteMs = (clockSpeed: number) => 60_000 / clockSpeed + ROOM_MS;

/** The keys with what steps left of their minutes and days, as it will be at a time, milliseconds since 1970. */
function keysAt({ keys, clockSpeed }: Payers, spent: readonly Spent[], at: number): BudgetKey[] {
  const spentOf = (name: string, since: number) =>
    sum(spent.map((step) => (step.name === name && step.at >= since ? step.sent : 0)));
  return keys.map((key) => ({
    ...key,
    minuteLeft: key.perMinute - spentOf(key.name, at - minuteMs(clockSpeed)),
    dayLeft: key.perDay - spentOf(key.name, 0),
  }));
}

/**
 * In how many seconds the keys can pay for a step, and why not before. 0 is now; infinity is never, as no minute is
 * large enough or the day is spent.
 */
export function waitFor(
  step: Pick<Demand, 'rate' | 'seconds'>,
  payers: Payers,
  spent: readonly Spent[],
  now: number,
): { readonly waitSeconds: number; readonly reason: string } {
  const { clockSpeed } = payers;
  const over = spent.map(({ at }) => at + minuteMs(clockSpeed) + 1);
  let reason = '';
  for (const at of [now, ...over.filter((time) => time > now)]) {
    try {
      payFor({ facts: CAPACITY_STEP, ...step, clockSpeed }, keysAt(payers, spent, at));
      return { waitSeconds: (at - now) / 1000, reason };
    } catch (error) {
      if (!(error instanceof Unpayable)) throw error;
      reason = error.reason;
    }
  }
  return { waitSeconds: Number.POSITIVE_INFINITY, reason };
}

/**
 * The most that a search can spend of its keys. The number of steps and their rates depend on the target. They are
 * bounded by the time of the search and by what is left of the keys' minutes.
 *
 * @param step the bill of the first step, which names the keys
 * @param clockSpeed seconds of the target's clock in a real one
 */
export function searchBill(step: readonly PlannedKey[], clockSpeed: number): PlannedKey[] {
  const minutes = Math.ceil((BUDGET_SECONDS * clockSpeed) / 60);
  return step.map((key) => ({
    ...key,
    requests: Math.min(key.perDay, key.perMinute * minutes, MOST_REQUESTS),
    busiestMinute: Math.min(key.perMinute, key.perDay, Math.ceil((MOST_RATE * 60) / clockSpeed)),
  }));
}

/** A search: each of its steps is such a load. Its rate is a first guess. */
interface CapacityRequest extends Omit<LoadRun, 'facts'> {
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
 * The interval has two parts. One is what the steps leave open: a 95 % credible interval, see judge-steps.ts. The other is the
 * resolution of the criterion: it misses a queue that grows too slowly to break the objective within a minute.
 */
export async function measureCapacity(request: CapacityRequest, run = runLoad): Promise<CapacityResult> {
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

  /** Takes a step once the keys can pay for it, and repeats it if the machine itself stumbled. */
  async function take(rate: number, seconds: number): Promise<SearchEnd | undefined> {
    let stumble = '';
    for (let stumbles = 0; stumbles <= MOST_STUMBLES; stumbles += 1) {
      const { waitSeconds, reason } = waitFor({ rate, seconds }, target, spent, Date.now());
      if (waitSeconds > 0) {
        if (waitSeconds + seconds > left()) return { outcome: 'quota-limited', reason };
        request.onWait?.(waitSeconds);
        await sleep(waitSeconds * 1000, undefined, stop === undefined ? {} : { signal: stop });
      }
      const result = await run({
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

  const search = { taken, take, startRate: request.rate, left };
  const found = await searchCapacity(search, clauses).catch((error: unknown) => {
    // The earlier steps remain true.
    const isLost = error instanceof TargetNotReady && taken.length > 0;
    if (stop?.aborted !== true && !isLost) throw error;
    const reason = stop?.aborted !== true && isLost ? error.message : 'by a signal';
    return { outcome: 'interrupted' as const, reason, ...NO_NUMBER };
  });
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
