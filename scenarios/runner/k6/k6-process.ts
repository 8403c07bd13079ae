import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { EVENT_MARK, SAMPLES_MARK } from '../../lib/sample.ts';
import { withoutOtherLoad } from '../quota/own-load.ts';
import { type ProcessUsage, watchProcess } from './process-watch.ts';

/** What a k6 process runs, and the callbacks for its output. */
export interface K6Run {
  readonly k6: string;
  /** The bundled script. */
  readonly script: string;
  /** Further options of `k6 run`. */
  readonly options: readonly string[];
  /** Environment variables for k6. Keys reach it in no other way. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of this process that k6 does not inherit: keys that do not pay for its load. */
  readonly withheld?: readonly string[];
  /** If k6 holds more bytes than this, it is killed. */
  readonly mostMemory?: number;
  readonly onSamples: (line: string) => void;
  readonly onEvent: (json: string) => void;
  /** A line of k6's own log: its level and text, secrets not yet removed. */
  readonly onLog: (level: string, message: string) => void;
}

/** Enough for k6's own figures after an hour at 1,000 requests/s (npm run bench:memory), with room for garbage. */
const GO_MEMORY_MIB = 768;
export const GO_MEMORY_BYTES = GO_MEMORY_MIB * 2 ** 20;

/**
 * k6 makes much garbage and keeps little. Collecting it less often saves a fifth of its CPU. k6's own figures grow with
 * every request; the limit keeps a long run within a gigabyte. The user's environment overrides both.
 */
const GO_RUNTIME = { GOGC: '800', GOMEMLIMIT: `${GO_MEMORY_MIB}MiB` } as const;

/**
 * k6's end-of-test summary costs 3 % of its CPU and is not needed: the report is made from the samples, and k6's own
 * metrics come from its API.
 */
export const OWN_FIGURES = '--summary-mode=disabled';

export interface K6Exit {
  /** k6's exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly usage: ProcessUsage;
}

export interface K6Process {
  readonly ended: Promise<K6Exit>;
  /** Lets k6 finish what is under way and report its figures. */
  stop(): void;
  /** Ends k6 at once. */
  kill(): void;
}

/**
 * Becomes k6, and leaves a shell beside it. If this process dies, even by SIGKILL, the pipe at descriptor 3 closes
 * without the word `done`, and that shell kills k6. It listens before k6 begins. `$$` is the shell that becomes k6.
 */
const GUARDED = `( read -r word; [ "$word" = done ] || kill -KILL $$ ) <&3 >/dev/null 2>&1 & exec "$@" 3<&-`;

/** On Windows a k6 whose parent died ends at its next log line, since nobody reads it. */
function commandOf(k6: string, args: readonly string[]): [program: string, args: string[]] {
  return process.platform === 'win32' ? [k6, [...args]] : ['/bin/sh', ['-c', GUARDED, 'sh', k6, ...args]];
}

/** Exit codes of a shell that cannot start a program. */
const NOT_STARTED = [126, 127];

/** One line of k6's log. The logger writes JSON; what k6 prints before it sets up the logger is plain text. */
export function logLine(text: string): { level: string; message: string } {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null && 'msg' in line && 'level' in line) {
      const details = 'error' in line ? ` ${String(line.error)}` : '';
      return { level: String(line.level), message: `${String(line.msg)}${details}` };
    }
  } catch {
    // Not JSON: printed, not logged.
  }
  return { level: 'plain', message: text };
}

/** Starts `k6 run`. Samples and events are in its log, on standard error. */
export function startK6(run: K6Run): K6Process {
  const args = [
    'run',
    '--log-format=json',
    '--no-usage-report',
    // Without its logo, its list of scenarios and its progress bar.
    '--quiet',
    ...run.options,
    run.script,
  ];
  const child = spawn(...commandOf(run.k6, args), {
    env: { ...GO_RUNTIME, ...withoutOtherLoad(process.env, run.withheld), ...run.environment },
    // In a process group of its own, so that Ctrl-C reaches k6 only through stop() and kill().
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [, , log, guard] = child.stdio;
  if (!(log instanceof Readable) || !(guard instanceof Writable))
    throw new Error('k6 was started without pipes');
  guard.on('error', () => {});
  const { mostMemory = Number.POSITIVE_INFINITY } = run;
  const endWatch = watchProcess(child.pid, mostMemory, () => {
    child.kill('SIGKILL');
    const bound = Math.round(mostMemory / 2 ** 20).toLocaleString('en');
    run.onLog(
      'error',
      `k6 held more than ${bound} MiB and was ended: does the target send bodies without end?`,
    );
  });
  const lines = createInterface({ input: log });
  lines.on('line', (text) => {
    const { level, message } = logLine(text);
    if (message.startsWith(SAMPLES_MARK)) run.onSamples(message.slice(SAMPLES_MARK.length));
    else if (message.startsWith(EVENT_MARK)) run.onEvent(message.slice(EVENT_MARK.length));
    else if (message.trim() !== '') run.onLog(level, message);
  });
  const read = new Promise<void>((resolve) => {
    lines.once('close', resolve);
  });
  const ended = new Promise<K6Exit>((resolve) => {
    const end = async (code: number | null, signal: NodeJS.Signals | null) => {
      guard.end('done\n');
      if (code !== null && NOT_STARTED.includes(code)) run.onLog('error', 'k6 could not be started');
      const usage = endWatch();
      await read;
      resolve({ code, signal, usage });
    };
    child.once('error', (error) => {
      run.onLog('error', `k6 could not be started: ${error.message}`);
      lines.close();
      void end(127, null);
    });
    child.once('exit', (code, signal) => void end(code, signal));
  });
  return {
    ended,
    stop: () => void child.kill('SIGINT'),
    kill: () => void child.kill('SIGKILL'),
  };
}
