/** The highest rate that holds an objective: bracket, bisect, repeat around the knee. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HARNESS_VERSION } from '../../../checks/run/harness-version.ts';
import { writeWhole } from '../../../reports/write-whole.ts';
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import { type LoadRequest, runLoad } from '../load-run.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import type { LoadResult } from '../result/load-result.ts';
import { parseSlo, round, type SloClause } from '../result/slo.ts';
import { MinuteBooks } from './capacity-books.ts';
import { renderCapacityPicture } from './capacity-picture.ts';
import {
  type CapacityFound,
  GeneratorWasLimit,
  QuotaSpent,
  type SearchSteps,
  STEP_SECONDS,
  searchCapacity,
} from './capacity-search.ts';
import { judgeStep, type StepJudgement } from './judge-step.ts';
import type { StepOutcome } from './knee.ts';

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
  /**
   * found: with an interval; at-least: nothing broke up to the highest rate tried; otherwise what ended the search: with
   * an interval all the same where quotas ended it late.
   */
  readonly outcome: 'found' | 'at-least' | 'below' | 'generator-limited' | 'quota-limited' | 'interrupted';
  readonly reason: string;
  /** Requests per second. */
  readonly capacity: number | null;
  /** 95 % interval, requests per second. */
  readonly interval: readonly [number, number] | null;
  /** Requests per second that held, where there is no interval and no lower rate broke. */
  readonly atLeast?: number;
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
  /** Told before the search waits for the keys' next minute. */
  readonly onWait?: (seconds: number) => void;
}

/** No step goes beyond this many requests a second. */
export const MOST_RATE = 20_000;
/** A search goes on for so long: no step at the knee begins later. */
export const BUDGET_SECONDS = 170;
const BLOCK_SECONDS = 0.5;
const MOST_STUMBLES = 6;
/** A tenth of the bound, at least this: arrivals so late make latencies of their own. */
const LEAST_LAG_MS = 20;

class StepFailed extends Error {}

/** Runs steps, and keeps the books of the keys over all of them. */
class Steps implements SearchSteps {
  readonly #request: CapacityRequest;
  readonly #clauses: readonly SloClause[];
  readonly #books: MinuteBooks;
  readonly #onTaken: () => Promise<void>;
  /** Seconds that the search may still take. */
  readonly #left: () => number;
  readonly taken: CapacityStep[] = [];

  constructor(
    request: CapacityRequest,
    clauses: readonly SloClause[],
    on: { readonly left: () => number; readonly taken: () => Promise<void> },
  ) {
    this.#onTaken = on.taken;
    this.#left = on.left;
    this.#request = request;
    this.#clauses = clauses;
    this.#books = new MinuteBooks(request.target);
  }

  /** Waits until the keys can pay for a step again, where that is soon enough. */
  async #afford(rate: number, seconds: number): Promise<void> {
    const { waitSeconds, reason } = this.#books.wait({ rate, seconds }, Date.now());
    if (waitSeconds === 0) return;
    if (waitSeconds === undefined || waitSeconds + seconds > this.#left()) throw new QuotaSpent(reason);
    this.#request.onWait?.(waitSeconds);
    const { stop } = this.#request;
    await sleep(waitSeconds * 1000, undefined, stop === undefined ? {} : { signal: stop });
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

  async #take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    const folder = join(this.#request.out, `step-${String(this.taken.length + 1).padStart(2, '0')}`);
    const bounds = this.#clauses
      .filter(({ metric }) => metric.kind === 'latency')
      .map(({ bound }) => bound / 1000);
    await this.#afford(rate, seconds);
    const result: LoadResult = await runLoad({
      ...this.#request,
      facts: CAPACITY_STEP,
      target: { ...this.#request.target, keys: this.#books.keys(Date.now()) },
      out: folder,
      rate,
      seconds,
      lists: 'plain',
      blockSeconds: BLOCK_SECONDS,
      graceSeconds: Math.min(5, Math.max(0.5, 2 * Math.max(0, ...bounds))),
      showProgress: false,
    });
    // Half a step says nothing.
    this.#request.stop?.throwIfAborted();
    this.#books.spend(result.bill, Date.now());
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
  const write = async (found: CapacityFound) => {
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
  const finish = async (found: CapacityFound) => {
    const result = await write(found);
    await writeFile(join(request.out, 'capacity.svg'), renderCapacityPicture(result), { mode: 0o600 });
    return result;
  };
  const none = { capacity: null, interval: null };
  // A search that is killed leaves the steps that it took.
  const budget = request.budgetSeconds ?? BUDGET_SECONDS;
  const left = () => budget - elapsed();
  const steps = new Steps(request, clauses, {
    left,
    taken: async () => {
      await write({ outcome: 'interrupted', reason: 'before its end', ...none });
    },
  });
  const { startRate, mostRate = MOST_RATE, stepSeconds = STEP_SECONDS, stop } = request;
  try {
    const limits = { mostRate, stepSeconds, left, ...(startRate === undefined ? {} : { startRate }) };
    return await finish(await searchCapacity(steps, clauses, { ...limits, ...(stop ? { stop } : {}) }));
  } catch (error) {
    if (request.stop?.aborted) return finish({ outcome: 'interrupted', reason: 'by a signal', ...none });
    // What the steps before it showed is not lost.
    if (error instanceof TargetNotReady && steps.taken.length > 0)
      return finish({ outcome: 'interrupted', reason: error.message, ...none });
    if (error instanceof StepFailed)
      return finish({ outcome: 'generator-limited', reason: error.message, ...none });
    throw error;
  }
}
