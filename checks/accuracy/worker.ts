/** A thread of `npm run accuracy`: runs cases, several at a time, until none is left. */
import { parentPort, workerData } from 'node:worker_threads';
import { type AccuracyCase, type CaseResult, runCase } from './case.ts';
import type { Entry } from './matrix.ts';

export interface Work {
  readonly cases: readonly AccuracyCase[];
  /** The position of the next case; threads share it. */
  readonly next: Int32Array;
}

/** Because a part of a case is waiting. */
const CASES_AT_A_TIME = 5;

const { cases, next }: Work = workerData;

async function runCases(): Promise<void> {
  for (;;) {
    const one = cases[Atomics.add(next, 0, 1)];
    if (one === undefined) return;
    const result = await runCase(one).catch(
      (error: unknown): CaseResult => ({
        verdicts: [],
        problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    );
    parentPort?.postMessage({ case: one, result } satisfies Entry);
  }
}

await Promise.all(Array.from({ length: CASES_AT_A_TIME }, runCases));
