import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** What a process used. A part of 1 is all cores. Null if the system does not say. */
export interface ProcessUsage {
  /** User and system time. */
  readonly cpuSeconds: number | null;
  readonly cpuMeanPart: number | null;
  readonly cpuPeakPart: number | null;
  readonly memoryPeakBytes: number | null;
}

/** For k6 itself, its figures and ordinary bodies. */
const K6_BYTES = 2 * 2 ** 30;
const USER_BYTES = 8 * 2 ** 20;

/**
 * The most memory that k6 may hold with this many virtual users: several times what it needs, but never more than half
 * of the machine. k6 reads a body to its end, so that an endless body would take all memory.
 *
 * @param processes how many k6 processes share the machine
 */
export function mostMemory(users: number, processes: number): number {
  return Math.min(K6_BYTES + users * USER_BYTES, totalmem() / 2) / processes;
}

/** An endless body fills a machine within seconds. */
const LOOK_EVERY_MS = 100;
/** Over less time the result would be too coarse: CPU time is counted in ticks. */
const CPU_OVER_MS = 500;
/** Linux reports CPU time in these, whatever the kernel's own tick is (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

interface Reading {
  readonly at: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly memoryPeakBytes: number;
}

/** Reads /proc; undefined on systems without it, or when the process is gone. */
function read(pid: number): Reading | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name, may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [memoryBytes, memoryPeakBytes] = ['VmRSS', 'VmHWM'].map(
      (field) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024,
    );
    // A process that is about to end shows no memory.
    if (!memoryBytes || !memoryPeakBytes) return undefined;
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return { at: performance.now(), cpuSeconds, memoryBytes, memoryPeakBytes };
  } catch {
    return undefined;
  }
}

function cpuPart(from: Reading, to: Reading): number {
  return (to.cpuSeconds - from.cpuSeconds) / ((to.at - from.at) / 1000) / availableParallelism();
}

/**
 * Looks at a process ten times a second.
 *
 * @param mostBytes that it may hold
 * @param onTooMuch is called at most once
 * @returns a function that ends the watch and returns what the process used
 */
export function watchProcess(
  pid: number | undefined,
  mostBytes: number,
  onTooMuch: () => void,
): () => ProcessUsage {
  let first: Reading | undefined;
  let last: Reading | undefined;
  let counted: Reading | undefined;
  let cpuPeakPart = 0;
  let isTooMuch = false;
  const look = () => {
    const now = pid === undefined ? undefined : read(pid);
    if (now === undefined) return;
    first ??= now;
    last = now;
    counted ??= now;
    if (now.at - counted.at >= CPU_OVER_MS) {
      cpuPeakPart = Math.max(cpuPeakPart, cpuPart(counted, now));
      counted = now;
    }
    if (isTooMuch || now.memoryBytes <= mostBytes) return;
    isTooMuch = true;
    onTooMuch();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  look();
  return () => {
    clearInterval(timer);
    const memoryPeakBytes = last?.memoryPeakBytes ?? null;
    if (first === undefined || last === undefined || last.at <= first.at)
      return { cpuSeconds: null, cpuMeanPart: null, cpuPeakPart: null, memoryPeakBytes };
    return { cpuSeconds: last.cpuSeconds, cpuMeanPart: cpuPart(first, last), cpuPeakPart, memoryPeakBytes };
  };
}
