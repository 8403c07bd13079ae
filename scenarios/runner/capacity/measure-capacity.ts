/** The highest rate that holds an objective: bracket, then repeat around the knee. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWhole } from '../../../checks/run/write-whole.ts';
import { HARNESS_VERSION } from '../../../spec/harness-version.ts';
import { CAPACITY_STEP } from '../../lib/catalogue.ts';
import type { Mix } from '../../lib/scenario.ts';
import { latencyBounds, parseSlo, round, type SloClause } from '../../lib/slo.ts';
import type { LoadTarget } from '../quota/load-target.ts';
import { TargetNotReady } from '../quota/preflight.ts';
import type { LoadRequest } from '../quota/prepare.ts';
import type { LoadResult } from '../result/load-result.ts';
import {
  CAPACITY_FORMAT_VERSION,
  type CapacityFound,
  type CapacityResult,
  type CapacityStep,
} from './capacity.ts';
import { BUDGET_SECONDS, MinuteBooks } from './capacity-books.ts';
import { NO_NUMBER, SearchEnded, type SearchSteps, searchCapacity } from './capacity-search.ts';
import { judgeStep } from './judge-step.ts';

export interface CapacityRequest {
  readonly target: LoadTarget;
  readonly runId: string;
  readonly slo: string;
  /** Folder for results; made if it does not exist. */
  readonly out: string;
  readonly k6Version: string;
  readonly run: (step: LoadRequest & { readonly out: string }) => Promise<LoadResult>;
  /** Default: plain lists only. */
  readonly mix?: Mix;
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

/** Runs steps, and knows what all of them spent of the keys. */
class Steps implements SearchSteps {
  readonly #request: CapacityRequest;
  readonly #clauses: readonly SloClause[];
  readonly #books: MinuteBooks;
  /** Seconds that the search may still take. */
  readonly #left: () => number;
  readonly taken: CapacityStep[] = [];
  /** The last step, if it could not be run properly. */
  failed: CapacityResult['failedStep'];

  constructor(request: CapacityRequest, left: () => number) {
    this.#left = left;
    this.#request = request;
    this.#clauses = parseSlo(request.slo);
    this.#books = new MinuteBooks(request.target);
  }

  /** Waits until the keys can pay for a step. */
  async #afford(rate: number, seconds: number): Promise<void> {
    const { waitSeconds, reason } = this.#books.wait({ rate, seconds }, Date.now());
    if (waitSeconds === 0) return;
    if (waitSeconds === undefined || waitSeconds + seconds > this.#left())
      throw new SearchEnded('quota-limited', reason);
    this.#request.onWait?.(waitSeconds);
    const { stop } = this.#request;
    await sleep(waitSeconds * 1000, undefined, stop === undefined ? {} : { signal: stop });
  }

  /** Takes a step, and repeats it if the machine itself stumbled. */
  async take(rate: number, seconds: number, phase: CapacityStep['phase']): Promise<CapacityStep> {
    for (let stumbles = 0; stumbles <= MOST_STUMBLES; stumbles += 1) {
      const step = await this.#take(rate, seconds, phase);
      if (!('limit' in step)) {
        this.failed = undefined;
        this.taken.push(step);
        this.#request.onStep?.(step);
        return step;
      }
      this.failed = { rate, phase, seconds, reason: step.limit };
      if (!step.again) break;
    }
    throw new SearchEnded('generator-limited', this.failed?.reason ?? '');
  }

  /** One step, or why this machine could not make it. */
  async #take(
    rate: number,
    seconds: number,
    phase: CapacityStep['phase'],
  ): Promise<CapacityStep | { readonly limit: string; readonly again: boolean }> {
    const { target, out, stop, run, mix } = this.#request;
    const bounds = latencyBounds(this.#clauses);
    await this.#afford(rate, seconds);
    const result = await run({
      facts: CAPACITY_STEP,
      runId: this.#request.runId,
      ...(mix === undefined ? {} : { mix }),
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
    this.#books.spend(result.bill.keys, Date.now());
    const { limit, scheduleLagP95Ms: lag, errorLines } = result.generator;
    if (result.verdict === 'failed-to-run')
      return { limit: `a step could not be run: ${errorLines[0] ?? 'no request was made'}`, again: false };
    const judgement = judgeStep(result, this.#clauses);
    const lagAllowed = Math.max(LEAST_LAG_MS, Math.min(...bounds) / 10);
    if (!judgement.held && (limit !== null || (lag ?? 0) > lagAllowed))
      return { limit: limit ?? `arrivals began up to ${round(lag ?? 0)} ms late`, again: true };
    return { rate, phase, seconds, requests: result.total.requests, ...judgement };
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
  const steps = new Steps(request, left);
  return write(await search());

  async function search(): Promise<CapacityFound> {
    try {
      return await searchCapacity(steps, clauses, { startRate, left, stop });
    } catch (error) {
      if (stop?.aborted) return { outcome: 'interrupted', reason: 'by a signal', ...NO_NUMBER };
      // The earlier steps remain true.
      if (!(error instanceof TargetNotReady) || steps.taken.length === 0) throw error;
      return { outcome: 'interrupted', reason: error.message, ...NO_NUMBER };
    }
  }

  async function write(found: CapacityFound): Promise<CapacityResult> {
    const { target, slo, k6Version, mix = CAPACITY_STEP.mix } = request;
    const made: CapacityResult = {
      formatVersion: CAPACITY_FORMAT_VERSION,
      run: {
        target: target.address,
        slo,
        mix,
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
