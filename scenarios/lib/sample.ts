/**
 * One request as the scripts report it: three whole numbers, so that reporting every request costs little.
 * The first number packs status, stream, key, operation and outcome; then the start, in milliseconds since the sample
 * before it of the same VU; then the duration in microseconds. Where the first number is that of the sample before, all
 * three are one negative number instead: -1, less the start times GAP_FACTOR, less the duration.
 */
import { type LoadOperation, OPERATIONS } from './scenario.ts';

/** The outcome of a request. It is `refused` if a 429 is part of the scenario. */
export const OUTCOMES = ['ok', 'refused', 'unexpected-429', 'error', 'violation', 'unfinished'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Sample {
  /** HTTP status; from 1,000 on k6's error code, as no response came; 0 for an unfinished request. */
  readonly status: number;
  readonly stream: number;
  readonly key: number;
  readonly operation: LoadOperation;
  readonly outcome: Outcome;
}

const OPERATIONS_SPAN = 4;
const OUTCOMES_SPAN = 8;
export const MOST_KEYS = 256;
const MOST_STREAMS = 16;

/** The part of the first number that is the same for every request of a key in a stream. */
export function seriesCode(stream: number, key: number, operation: number): number {
  return ((stream * MOST_KEYS + key) * OPERATIONS_SPAN + operation) * OUTCOMES_SPAN;
}

/** What a status counts for in the first number. */
export const STATUS_FACTOR = MOST_STREAMS * MOST_KEYS * OPERATIONS_SPAN * OUTCOMES_SPAN;

/** The parts of the first number; undefined if it is invalid. */
export function decodeSample(code: number): Sample | undefined {
  const outcome = OUTCOMES[code % OUTCOMES_SPAN];
  const rest = Math.floor(code / OUTCOMES_SPAN);
  const operation = OPERATIONS[rest % OPERATIONS_SPAN];
  const keyed = Math.floor(rest / OPERATIONS_SPAN);
  if (outcome === undefined || operation === undefined) return undefined;
  return {
    outcome,
    operation,
    key: keyed % MOST_KEYS,
    stream: Math.floor(keyed / MOST_KEYS) % MOST_STREAMS,
    status: Math.floor(keyed / MOST_KEYS / MOST_STREAMS),
  };
}

export const GAP_FACTOR = 2 ** 31;
/** A start from which on the negative number would not be exact. */
export const MOST_GAP_MS = 2 ** 21;

/** Marks of the lines that scripts write to k6's log for the runner. */
export const SAMPLES_MARK = 'petstore-samples ';
export const EVENT_MARK = 'petstore-event ';
/** Begins the line on standard output in which a runner says at its end what it ran. */
export const RUN_MARK = 'petstore-run ';
