import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

const LOOK_EVERY_MS = 100;
/** Beside what its users take: k6 itself, its figures, and a target's ordinary bodies. */
const K6_BYTES = 2 * 2 ** 30;
const USER_BYTES = 8 * 2 ** 20;

/**
 * The most that a k6 with so many virtual users may hold: several times what it needs, never half of the machine. k6
 * reads a body to its end; one without end would have all there is.
 *
 * @param processes that share the machine
 */
export function mostMemory(users: number, processes: number): number {
  return Math.min(K6_BYTES + users * USER_BYTES, totalmem() / 2) / processes;
}

/** What a process holds at this moment, in bytes; undefined where the system does not tell. */
function held(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/**
 * Looks at a process ten times a second until it holds more than it may.
 *
 * @param most bytes
 * @param onTooMuch called once at most
 * @returns ends the looking
 */
export function guardMemory(pid: number | undefined, most: number, onTooMuch: () => void): () => void {
  const timer = setInterval(() => {
    if (pid === undefined || (held(pid) ?? 0) <= most) return;
    clearInterval(timer);
    onTooMuch();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
