import { writeWhole } from '../../../checks/run/write-whole.ts';
import type { LoadResult } from './load-result.ts';

/** What a run that is killed without a word loses at most, in milliseconds. */
const KEEP_EVERY_MS = 5_000;
/** A large result is made less often: that may take this part of the time at most. */
const PART_OF_TIME = 0.01;

/**
 * Writes the result so far again and again, whole each time: a run that is killed leaves what it measured by then. What
 * cannot be written now is told when the result at the end cannot be written either.
 *
 * @param every milliseconds; a result that takes long to make is made less often
 * @returns ends that, once what is being written is written
 */
export function keepSoFar(file: string, soFar: () => LoadResult, every = KEEP_EVERY_MS): () => Promise<void> {
  let writing = Promise.resolve();
  let idle = true;
  let next = performance.now() + every;
  const keep = async () => {
    const began = performance.now();
    const text = `${JSON.stringify(soFar(), null, 1)}\n`;
    const took = performance.now() - began;
    // The disk's time is nobody's; this process has k6's samples to take in.
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
