/** The highest rate that holds an objective: bracket, bisect, repeat around the knee. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWhole } from '../../../checks/run/write-whole.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import { latencyBounds, parseSlo, round, type SloClause } from '../../lib/slo.ts';
import type { LoadRequest } from '../quota/load-request.ts';
import type { LoadTarget } from '../quota/load-target.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import type { LoadResult } from '../result/load-result.ts';
import {
  CAPACITY_FORMAT_VERSION,
  type CapacityFound,
  type CapacityResult,
  type CapacityStep,
} from './capacity.ts';
import { BUDGET_SECONDS, MinuteBooks } from './capacity-books.ts';
import { GeneratorWasLimit, none, QuotaSpent, type SearchSteps, searchCapacity } from './capacity-search.ts';
import { judgeStep } from './judge-step.ts';

export interface CapacityRequest {
  readonly target: LoadTarget;
  readonly slo: string;
  /** Folder for results; made if it does not exist. */
  readonly out: string;
  readonly k6Version: string;
  readonly run: (step: LoadRequest & { readonly out: string }) => Promise<LoadResult>;
  readonly stop?: AbortSignal;
  /** A first guess, requests per second; default 20. */
  readonly startRate?: number;
  readonly onStep?: (step: CapacityStep) => void;
  /** Called before the search waits for the keys' next minute. */
  readonly onWait?: (seconds: number) => void;
}

const BLOCK_SECONDS = 0.5;
const MOST_STUMBLES = 6;
/** Arrivals that are late by a tenth of the bound, and by at least this, would distort latencies. */
const LEAST_LAG_MS = 20;

class StepFailed extends Error {}

/** Runs steps, and knows what all of them spent of the keys. */
class Steps implements SearchSteps {
  readonly #request: CapacityRequest;
  readonly #clauses: readonly SloClause[];
  readonly #books: MinuteBooks;
  readonly #onTaken: () => Promise<unknown>;
  /** Seconds that the search may still take. */
  readonly #left: () => number;
  readonly taken: CapacityStep[] = [];
  /** The last step, if it could not be run properly. */
  failed: CapacityResult['failedStep'];

  constructor(request: CapacityRequest, left: () => number, onTaken: () => Promise<unknown>) {
    this.#onTaken = onTaken;
    this.#left = left;
    this.#request = request;
    this.#clauses = parseSlo(request.slo);
    this.#books = new MinuteBooks(request.target);
  }

  /** Waits until the keys can pay for a step. */
  async #afford(rate: number, seconds: number): Promise<void> {
    const { waitSeconds, reason } = this.#books.wait({ rate, seconds }, Date.now());
    if (waitSeconds === 0) return;
    if (waitSeconds === undefined || waitSeconds + seconds > this.#left()) throw new QuotaSpent(reason);
    this.#request.onWait?.(waitSeconds);
    const { stop } = this.#request;
    await sleep(waitSeconds * 1000, undefined, stop === undefined ? {} : { signal: stop });
  }

  /** Takes a step, and repeats it if the machine itself stumbled. */
  async take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    for (let stumbles = 0; ; stumbles += 1) {
      try {
        const step = await this.#take(rate, seconds, phase);
        this.failed = undefined;
        return step;
      } catch (error) {
        if (error instanceof GeneratorWasLimit || error instanceof StepFailed)
          this.failed = { rate, phase, seconds, reason: error.message };
        if (!(error instanceof GeneratorWasLimit) || stumbles === MOST_STUMBLES) throw error;
      }
    }
  }

  async #take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    const { target, out, stop, run, onStep } = this.#request;
    const bounds = latencyBounds(this.#clauses);
    await this.#afford(rate, seconds);
    const result = await run({
      facts: CAPACITY_STEP,
      target: { ...target, keys: this.#books.keys(Date.now()) },
      slo: this.#request.slo,
      out: join(out, `step-${String(this.taken.length + 1).padStart(2, '0')}`),
      rate,
      seconds,
      lists: 'plain',
      blockSeconds: BLOCK_SECONDS,
      graceSeconds: Math.min(5, Math.max(0.5, Math.max(0, ...bounds) / 500)),
    });
    // A step that was cut short says nothing.
    stop?.throwIfAborted();
    this.#books.spend(result.bill, Date.now());
    const { limit, scheduleLagP95Ms: lag, errorLines } = result.generator;
    if (result.verdict === 'failed-to-run')
      throw new StepFailed(`a step could not be run: ${errorLines[0] ?? 'no request was made'}`);
    const judgement = judgeStep(result, this.#clauses);
    const lagAllowed = Math.max(LEAST_LAG_MS, Math.min(...bounds) / 10);
    if (!judgement.held && (limit !== null || (lag ?? 0) > lagAllowed))
      throw new GeneratorWasLimit(limit ?? `arrivals began up to ${round(lag ?? 0)} ms late`);
    const step = { rate, phase, seconds, requests: result.total.requests, ...judgement };
    this.taken.push(step);
    onStep?.(step);
    await this.#onTaken();
    return step;
  }
}

/**
 * Finds the capacity and writes capacity.json and every step's report into the folder.
 *
 * The interval has two parts. One is what the steps leave open: a 95 % credible interval, see knee.ts. The other is the
 * resolution of the criterion: it misses a queue that grows too slowly to break the objective within a minute.
 */
export async function measureCapacity(request: CapacityRequest): Promise<CapacityResult> {
  const { startRate, stop } = request;
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const clauses = parseSlo(request.slo);
  await mkdir(request.out, { recursive: true, mode: 0o700 });
  const elapsed = () => (performance.now() - began) / 1000;
  const left = () => BUDGET_SECONDS - elapsed();
  // If the search is killed, its steps are on disk.
  const steps = new Steps(request, left, () =>
    write({ outcome: 'interrupted', reason: 'before its end', ...none }),
  );
  return write(await search());

  async function search(): Promise<CapacityFound> {
    try {
      return await searchCapacity(steps, clauses, { startRate, left, stop });
    } catch (error) {
      if (stop?.aborted) return { outcome: 'interrupted', reason: 'by a signal', ...none };
      if (error instanceof StepFailed)
        return { outcome: 'generator-limited', reason: error.message, ...none };
      // The earlier steps remain true.
      if (!(error instanceof TargetNotReady) || steps.taken.length === 0) throw error;
      return { outcome: 'interrupted', reason: error.message, ...none };
    }
  }

  async function write(found: CapacityFound): Promise<CapacityResult> {
    const { target, slo, k6Version } = request;
    const made: CapacityResult = {
      formatVersion: CAPACITY_FORMAT_VERSION,
      run: {
        target: target.address,
        slo,
        startedAt,
        durationSeconds: elapsed(),
        harnessVersion: HARNESS_VERSION,
        k6Version,
      },
      ...found,
      steps: steps.taken,
      ...(steps.failed === undefined ? {} : { failedStep: steps.failed }),
    };
    await writeWhole(join(request.out, 'capacity.json'), `${JSON.stringify(made, null, 1)}\n`);
    return made;
  }
}
