/** The highest rate that holds an objective: bracket, bisect, repeat around the knee. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HARNESS_VERSION } from '../../checks/harness/harness-version.ts';
import { writeWhole } from '../../reports/write-whole.ts';
import { CAPACITY_STEP } from '../lib/catalogue.ts';
import { renderCapacityPicture } from './capacity-picture.ts';
import { judgeStep, type StepJudgement, SUSTAINED_SECONDS } from './judge-step.ts';
import { Knee, type StepOutcome } from './knee.ts';
import type { LoadResult } from './load-result.ts';
import { type LoadRequest, runLoad } from './load-run.ts';
import { LoadRefused, type LoadTarget } from './load-target.ts';
import { TargetNotReady } from './preflight.ts';
import { parseSlo, round, type SloClause } from './slo.ts';

/** Raised when a reader of an older result could misread a newer one. */
export const CAPACITY_FORMAT_VERSION = 1;

/** One step of the search. */
export interface CapacityStep extends StepJudgement, StepOutcome {
  readonly phase: 'bracket' | 'bisect' | 'knee';
  readonly seconds: number;
  readonly requests: number;
}

/** What capacity.json holds. */
export interface CapacityResult {
  readonly formatVersion: typeof CAPACITY_FORMAT_VERSION;
  readonly run: {
    readonly target: string;
    readonly slo: string;
    readonly startedAt: string;
    readonly durationSeconds: number;
    readonly harnessVersion: string;
    readonly k6Version: string;
  };
  /** found: with an interval; at-least: nothing broke up to the highest rate tried; otherwise why there is none. */
  readonly outcome: 'found' | 'at-least' | 'below' | 'generator-limited' | 'quota-limited' | 'interrupted';
  readonly reason: string;
  /** Requests per second. */
  readonly capacity: number | null;
  /** 95 % interval, requests per second. */
  readonly interval: readonly [number, number] | null;
  readonly steps: readonly CapacityStep[];
}

/** How the search is run. */
export interface CapacityRequest extends Omit<LoadRequest, 'facts' | 'rate' | 'seconds' | 'slo'> {
  readonly slo: string;
  /** A first guess, requests per second; default 20. */
  readonly startRate?: number;
  /** No step goes beyond it; default 20,000. */
  readonly mostRate?: number;
  /** Seconds for the whole search; default 170. */
  readonly budgetSeconds?: number;
  /** Length of a step around the knee; default 5. */
  readonly stepSeconds?: number;
  readonly onStep?: (step: CapacityStep) => void;
}

const START_RATE = 20;
/** No step goes beyond this many requests a second. */
export const MOST_RATE = 20_000;
/** A search goes on for so long: no step at the knee begins later. */
export const BUDGET_SECONDS = 170;
const STEP_SECONDS = 5;
const BRACKET_SECONDS = 3;
const BLOCK_SECONDS = 0.5;
/** Bisecting ends when the bracket is so narrow; what follows are repetitions. */
const BISECTED = 1.1;
/** Good enough: half the interval, as a part of the capacity. */
const PRECISE = 0.02;
/** Still an answer, where the machine does not let the search go on. */
const USABLE = 0.05;
const LEAST_KNEE_STEPS = 6;
const MOST_STUMBLES = 6;
/** A tenth of the bound, at least this: arrivals so late make latencies of their own. */
const LEAST_LAG_MS = 20;

class QuotaSpent extends Error {}
class GeneratorWasLimit extends Error {}
class StepFailed extends Error {}

/** Runs steps, and keeps the books of the keys over all of them. */
class Steps {
  readonly #request: CapacityRequest;
  readonly #clauses: readonly SloClause[];
  readonly #spent: { readonly at: number; readonly key: string; readonly requests: number }[] = [];
  readonly #onTaken: () => Promise<void>;
  readonly taken: CapacityStep[] = [];

  constructor(request: CapacityRequest, clauses: readonly SloClause[], onTaken: () => Promise<void>) {
    this.#onTaken = onTaken;
    this.#request = request;
    this.#clauses = clauses;
  }

  #target(): LoadTarget {
    const { target } = this.#request;
    const minuteAgo = Date.now() - 60_000 / target.clockSpeed;
    const sum = (key: string, since: number) =>
      this.#spent
        .filter((each) => each.key === key && each.at >= since)
        .reduce((all, { requests }) => all + requests, 0);
    return {
      ...target,
      keys: target.keys.map((key) => ({
        ...key,
        minuteLeft: key.perMinute - sum(key.name, minuteAgo),
        dayLeft: key.perDay - sum(key.name, 0),
      })),
    };
  }

  /** Takes a step; one in which the machine itself stumbled is taken again. */
  async take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    for (let stumbles = 0; ; stumbles += 1) {
      try {
        return await this.#take(rate, seconds, phase);
      } catch (error) {
        if (!(error instanceof GeneratorWasLimit) || stumbles === MOST_STUMBLES) throw error;
      }
    }
  }

  /** Whether a rate holds; a step that broke is taken twice, since a pause of the machine breaks one too. */
  async holds(rate: number, phase: CapacityStep['phase']): Promise<boolean> {
    const { held } = await this.take(rate, BRACKET_SECONDS, phase);
    return held || (await this.take(rate, BRACKET_SECONDS, phase)).held;
  }

  async #take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    const folder = join(this.#request.out, `step-${String(this.taken.length + 1).padStart(2, '0')}`);
    const bounds = this.#clauses
      .filter(({ metric }) => metric.kind === 'latency')
      .map(({ bound }) => bound / 1000);
    let result: LoadResult;
    try {
      result = await runLoad({
        ...this.#request,
        facts: CAPACITY_STEP,
        target: this.#target(),
        out: folder,
        rate,
        seconds,
        lists: 'plain',
        blockSeconds: BLOCK_SECONDS,
        graceSeconds: Math.min(5, Math.max(0.5, 2 * Math.max(0, ...bounds))),
        showProgress: false,
      });
    } catch (error) {
      if (error instanceof LoadRefused && error.message.includes('does not fit'))
        throw new QuotaSpent(error.message);
      throw error;
    }
    // Half a step says nothing.
    this.#request.stop?.throwIfAborted();
    const now = Date.now();
    for (const { key, sent = 0 } of result.bill.keys) this.#spent.push({ at: now, key, requests: sent });
    if (result.verdict === 'failed-to-run') {
      throw new StepFailed(
        `a step could not be run: ${result.generator.errorLines[0] ?? 'no request was made'}`,
      );
    }
    const judgement = judgeStep(result, this.#clauses);
    const { limit, scheduleLagP95Ms: lag } = result.generator;
    const lagAllowed = Math.max(LEAST_LAG_MS, Math.min(...bounds) * 100);
    if (!judgement.held && (limit !== null || (lag ?? 0) > lagAllowed)) {
      throw new GeneratorWasLimit(limit ?? `arrivals began up to ${round(lag ?? 0)} ms late`);
    }
    const step = { rate, phase, seconds, requests: result.total.requests, ...judgement };
    this.taken.push(step);
    this.#request.onStep?.(step);
    await this.#onTaken();
    return step;
  }
}

/**
 * Finds the capacity and writes capacity.json, capacity.svg and every step's report into the folder.
 *
 * The interval has two parts: what the steps leave open (a 95 % credible interval, see knee.ts), and how far the
 * criterion itself can resolve: a queue that grows too slowly to break the objective within a minute is not seen.
 */
export async function measureCapacity(request: CapacityRequest): Promise<CapacityResult> {
  const startedAt = new Date();
  const began = performance.now();
  const clauses = parseSlo(request.slo);
  await mkdir(request.out, { recursive: true, mode: 0o700 });
  const elapsed = () => (performance.now() - began) / 1000;
  const write = async (found: Pick<CapacityResult, 'outcome' | 'reason' | 'capacity' | 'interval'>) => {
    const result: CapacityResult = {
      formatVersion: CAPACITY_FORMAT_VERSION,
      run: {
        target: request.target.address,
        slo: request.slo,
        startedAt: startedAt.toISOString(),
        durationSeconds: elapsed(),
        harnessVersion: HARNESS_VERSION,
        k6Version: request.k6.version,
      },
      ...found,
      steps: steps.taken,
    };
    await writeWhole(join(request.out, 'capacity.json'), `${JSON.stringify(result, null, 1)}\n`);
    return result;
  };
  const finish = async (found: Parameters<typeof write>[0]) => {
    const result = await write(found);
    await writeFile(join(request.out, 'capacity.svg'), renderCapacityPicture(result), { mode: 0o600 });
    return result;
  };
  const none = { capacity: null, interval: null };
  // A search that is killed leaves the steps that it took.
  const steps = new Steps(request, clauses, async () => {
    await write({ outcome: 'interrupted', reason: 'before its end', ...none });
  });
  try {
    return await finish(await search(request, clauses, steps, elapsed));
  } catch (error) {
    if (request.stop?.aborted) return finish({ outcome: 'interrupted', reason: 'by a signal', ...none });
    if (error instanceof GeneratorWasLimit) {
      return finish({
        outcome: 'generator-limited',
        reason: `the generator was the limit: ${error.message}`,
        ...none,
      });
    }
    // What the steps before it showed is not lost.
    if (error instanceof TargetNotReady && steps.taken.length > 0)
      return finish({ outcome: 'interrupted', reason: error.message, ...none });
    if (error instanceof StepFailed)
      return finish({ outcome: 'generator-limited', reason: error.message, ...none });
    if (error instanceof QuotaSpent)
      return finish({ outcome: 'quota-limited', reason: error.message, ...none });
    throw error;
  }
}

async function search(
  request: CapacityRequest,
  clauses: readonly SloClause[],
  steps: Steps,
  elapsed: () => number,
): Promise<Pick<CapacityResult, 'outcome' | 'reason' | 'capacity' | 'interval'>> {
  const mostRate = request.mostRate ?? MOST_RATE;
  const stepSeconds = request.stepSeconds ?? STEP_SECONDS;
  const budget = request.budgetSeconds ?? BUDGET_SECONDS;
  let low: number | undefined;
  let high: number | undefined;
  let rate = Math.min(request.startRate ?? START_RATE, mostRate);
  while (low === undefined || high === undefined) {
    request.stop?.throwIfAborted();
    if (await steps.holds(rate, 'bracket')) {
      low = rate;
      if (rate >= mostRate) {
        return {
          outcome: 'at-least',
          reason: `nothing broke up to ${mostRate}/s`,
          capacity: null,
          interval: null,
        };
      }
      rate = Math.min(rate * 2, mostRate);
    } else {
      high = rate;
      rate /= 2;
      if (rate < 0.5)
        return { outcome: 'below', reason: 'not even 1 request/s holds it', capacity: null, interval: null };
    }
    if (low !== undefined && high !== undefined) break;
  }
  while (high / low > BISECTED) {
    request.stop?.throwIfAborted();
    const middle = Math.sqrt(low * high);
    if (await steps.holds(middle, 'bisect')) low = middle;
    else high = middle;
  }
  // Short steps may have been wrong: the knee is looked for beyond the bracket, further where it leans that way.
  let [least, most] = [low / 1.25, high * 1.25];
  const known = () => {
    const made = new Knee(least, most);
    for (const step of steps.taken) made.learn(step);
    return made;
  };
  let knee = known();
  const stepCost = stepSeconds + 2.5;
  for (let taken = 0; ; taken += 1) {
    const { low: from, capacity, high: to } = knee.estimate();
    const precise = (to - from) / 2 / capacity <= PRECISE;
    if ((taken >= LEAST_KNEE_STEPS && precise) || elapsed() + stepCost > budget) break;
    request.stop?.throwIfAborted();
    try {
      await steps.take(knee.nextRate(), stepSeconds, 'knee');
    } catch (error) {
      // A machine that stumbles late in the search takes back nothing of what is known.
      if (!(error instanceof GeneratorWasLimit) || (to - from) / 2 / capacity > USABLE) throw error;
      break;
    }
    const { low: lower, high: upper } = known().estimate();
    if (lower < least * 1.03) least /= 2;
    if (upper > most / 1.03) most *= 2;
    knee = known();
  }
  const { low: from, capacity, high: to } = knee.estimate();
  const bounds = clauses.filter(({ metric }) => metric.kind === 'latency').map(({ bound }) => bound / 1000);
  const resolution = bounds.length === 0 ? 0 : Math.min(...bounds) / SUSTAINED_SECONDS;
  const interval = [from * (1 - resolution), to * (1 + resolution)] as const;
  return {
    outcome: 'found',
    capacity,
    interval,
    reason: `${steps.taken.length} steps; ${round(capacity)}/s, 95 % from ${round(interval[0])} to ${round(interval[1])}`,
  };
}
