import { writeWhole } from '../../../checks/run/write-whole.ts';
import type { LoadResult } from './load-result.ts';

/** The most that a killed run loses, in milliseconds. */
const KEEP_EVERY_MS = 5_000;
/** Making the result may take at most this part of the time; a large one is made less often. */
const PART_OF_TIME = 0.01;

/**
 * Writes the result so far at intervals, whole each time, so that a killed run leaves what it measured. A write that
 * fails is not reported: the write at the end of the run will fail too.
 *
 * @param every milliseconds between two writes, or more if the result takes long to make
 * @returns a function that stops this, and resolves once nothing is being written
 */
export function keepSoFar(file: string, soFar: () => LoadResult, every = KEEP_EVERY_MS): () => Promise<void> {
  let writing = Promise.resolve();
  let idle = true;
  let next = performance.now() + every;
  const keep = async () => {
    const began = performance.now();
    const text = `${JSON.stringify(soFar(), null, 1)}\n`;
    const took = performance.now() - began;
    // Only the time of this process counts, not the disk's: it has k6's samples to take in.
    next = began + Math.max(every, took / PART_OF_TIME);
    await writeWhole(file, text).catch(() => undefined);
    idle = true;
  };
  const timer = setInterval(() => {
    if (!idle || performance.now() < next) return;
    idle = false;
    writing = keep();
  }, every / 10);
  timer.unref();
  return () => {
    clearInterval(timer);
    return writing;
  };
}
