import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pidusage from 'pidusage';
import { sum } from '../../lib/statistics.ts';

/** What a k6 process runs, and the callbacks for its output. */
export interface K6Run {
  readonly k6: string;
  /** The bundled script. */
  readonly script: string;
  /** Further options of `k6 run`. */
  readonly options: readonly string[];
  /** The variables that k6 gets in addition to those of this process that it needs: keys reach it in no other way. */
  readonly environment: Readonly<Record<string, string>>;
  /** If k6 holds more bytes than this, it is killed. */
  readonly mostMemory?: number;
  /** A line of k6's log, secrets not yet removed. */
  readonly onLine: (line: string) => void;
  /** Something that went wrong on this side of the wire. */
  readonly onProblem: (line: string) => void;
  /** Lets k6 finish what is under way and report its figures. */
  readonly stop?: AbortSignal | undefined;
  /** Ends k6 at once. */
  readonly kill?: AbortSignal | undefined;
}

/** What a process used. A part of 1 is all cores. Null if the system does not say. */
export interface ProcessUsage {
  readonly cpuMeanPart: number | null;
  readonly memoryPeakBytes: number | null;
}

/** What processes on one machine used together. */
export function usedTogether(all: readonly ProcessUsage[]): ProcessUsage {
  const add = (field: keyof ProcessUsage) => {
    const known = all.flatMap((one) => one[field] ?? []);
    return known.length === 0 ? null : sum(known);
  };
  return { cpuMeanPart: add('cpuMeanPart'), memoryPeakBytes: add('memoryPeakBytes') };
}

/**
 * k6 makes much garbage and keeps little. Collecting it less often saves a fifth of its CPU. k6's own figures grow with
 * every request; the limit keeps a long run within a gigabyte. The user's environment overrides both.
 */
const GO_RUNTIME = { GOGC: '800', GOMEMLIMIT: '768MiB' } as const;

/** What k6 and Go read of the environment. Everything else stays here: it may hold other secrets. */
const NEEDED = /^(PATH|HOME|TMPDIR|(HTTPS?|NO)_PROXY|SSL_CERT_(FILE|DIR)|GO[A-Z0-9]+|(K6|OTEL)_\w+)$/i;
/** These would make k6 send another load than the one that was paid for. */
const OTHER_LOAD = /^K6_(VUS|DURATION|ITERATIONS|STAGES|PAUSED)$/i;

/** The part of an environment that k6 gets. */
export function environmentForK6(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const needed = Object.entries(environment).filter(([name]) => NEEDED.test(name) && !OTHER_LOAD.test(name));
  return Object.fromEntries(needed);
}

/** Options of k6 that replace all scenarios of a script: long, or short and perhaps behind others without a value. */
const LOAD_OPTION = /^(--(vus|duration|iterations|stage|paused)(=|$)|-[qvwlh]*[udisp])/;

/** The first of k6's options that would change the load that was paid for. */
export function otherLoad(k6Options: readonly string[]): string | undefined {
  return k6Options.find((option) => LOAD_OPTION.test(option));
}

/** For k6 itself, its figures and ordinary bodies. */
const K6_BYTES = 2 * 2 ** 30;
const USER_BYTES = 8 * 2 ** 20;

/**
 * The most bytes that k6 may hold with this many virtual users: several times what it needs, but never more than half
 * of the machine. k6 reads a body to its end, so that an endless body would take all memory.
 *
 * @param processes how many k6 processes share the machine
 */
export const mostMemory = (users: number, processes: number): number =>
  Math.min(K6_BYTES + users * USER_BYTES, totalmem() / 2) / processes;

/** An endless body fills a machine within seconds. */
const LOOK_EVERY_MS = 200;

/** Looks at a process until it has ended. */
async function watch(
  pid: number,
  hasEnded: AbortSignal,
  onMemory: (bytes: number) => void,
): Promise<ProcessUsage> {
  let usage: ProcessUsage = { cpuMeanPart: null, memoryPeakBytes: null };
  while (!hasEnded.aborted) {
    // The process may be gone by now.
    const now = await pidusage(pid).catch(() => undefined);
    if (now !== undefined && now.memory > 0) {
      usage = {
        cpuMeanPart: now.elapsed > 0 ? now.ctime / now.elapsed / availableParallelism() : null,
        memoryPeakBytes: Math.max(usage.memoryPeakBytes ?? 0, now.memory),
      };
      onMemory(now.memory);
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: hasEnded }).catch(() => undefined);
  }
  return usage;
}

/**
 * Runs `k6 run` to its end. Samples and events are in its log, on standard error. A k6 whose runner died ends at its next
 * line, since nobody reads it.
 *
 * @returns its exit code, null if a signal ended it, and what it used
 */
export async function runK6(run: K6Run): Promise<ProcessUsage & { readonly code: number | null }> {
  const { k6, script, options, environment, mostMemory = Number.POSITIVE_INFINITY } = run;
  // Quiet: without its logo, its list of scenarios and its progress bar.
  const args = ['run', '--log-format=json', '--no-usage-report', '--quiet', ...options, script];
  const child = spawn(k6, args, {
    env: { ...GO_RUNTIME, ...environmentForK6(process.env), ...environment },
    // In a process group of its own, so that Ctrl-C reaches k6 only through the signals that it was given.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const over = new AbortController();
  run.stop?.addEventListener('abort', () => child.kill('SIGINT'), { signal: over.signal });
  run.kill?.addEventListener('abort', () => child.kill('SIGKILL'), { signal: over.signal });
  const usage = watch(child.pid ?? 0, over.signal, (bytes) => {
    if (bytes <= mostMemory || !child.kill('SIGKILL')) return;
    const bound = Math.round(mostMemory / 2 ** 20).toLocaleString('en');
    run.onProblem(`k6 held more than ${bound} MiB and was ended: does the target send bodies without end?`);
  });
  const lines = createInterface({ input: child.stderr });
  lines.on('line', run.onLine);
  const read = once(lines, 'close');
  const { code, problem } = await once(child, 'exit').then(
    () => ({ code: child.exitCode, problem: exitProblem(child.exitCode, child.signalCode) }),
    (error: Error) => ({ code: null, problem: `k6 could not be started: ${error.message}` }),
  );
  over.abort();
  await read;
  if (problem !== undefined) run.onProblem(problem);
  return { code, ...(await usage) };
}

/** k6 ended on the signal that we sent. */
const K6_SIGNALLED = 105;

function exitProblem(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal !== null) return `k6 was ended by ${signal}`;
  return code === 0 || code === K6_SIGNALLED ? undefined : `k6 ended with exit code ${code}`;
}
