import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** What a process took of the machine. Parts of 1 are of all cores; null where the system does not tell. */
export interface ProcessUsage {
  /** User and system time. */
  readonly cpuSeconds: number | null;
  readonly cpuMeanPart: number | null;
  readonly cpuPeakPart: number | null;
  readonly memoryPeakBytes: number | null;
}

const EVERY_MS = 500;
/** Linux reports CPU time in these, whatever the kernel's own tick is (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

interface Reading {
  readonly at: number;
  readonly cpuSeconds: number;
  readonly memoryPeakBytes: number;
}

/** Reads /proc; undefined on systems without it, or when the process is gone. */
function read(pid: number): Reading | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name, may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return {
      at: performance.now(),
      cpuSeconds: ticks / TICKS_PER_SECOND,
      memoryPeakBytes: Number(peak ?? 0) * 1024,
    };
  } catch {
    return undefined;
  }
}

/** Looks at a process twice a second. */
export class ProcessMeter {
  readonly #pid: number | undefined;
  readonly #timer: NodeJS.Timeout;
  #first: Reading | undefined;
  #last: Reading | undefined;
  #peak = 0;

  constructor(pid: number | undefined) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
    this.#timer.unref();
    this.#look();
  }

  #look(): void {
    const now = this.#pid === undefined ? undefined : read(this.#pid);
    if (now === undefined) return;
    const before = this.#last;
    if (before !== undefined && now.at > before.at) this.#peak = Math.max(this.#peak, part(before, now));
    this.#first ??= now;
    // A process that is about to be gone shows no memory any more.
    this.#last = { ...now, memoryPeakBytes: Math.max(now.memoryPeakBytes, before?.memoryPeakBytes ?? 0) };
  }

  /** Ends the looking. */
  stop(): ProcessUsage {
    clearInterval(this.#timer);
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined || last.at <= first.at) {
      return {
        cpuSeconds: null,
        cpuMeanPart: null,
        cpuPeakPart: null,
        memoryPeakBytes: last?.memoryPeakBytes ?? null,
      };
    }
    return {
      cpuSeconds: last.cpuSeconds,
      cpuMeanPart: part(first, last),
      cpuPeakPart: this.#peak,
      memoryPeakBytes: last.memoryPeakBytes,
    };
  }
}

function part(from: Reading, to: Reading): number {
  return (to.cpuSeconds - from.cpuSeconds) / ((to.at - from.at) / 1000) / availableParallelism();
}
