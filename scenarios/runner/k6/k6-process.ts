import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { EVENT_MARK, SAMPLES_MARK } from '../../lib/sample.ts';
import { withoutOtherLoad } from '../quota/own-load.ts';
import { type ProcessUsage, watchProcess } from './process-watch.ts';

/** What a k6 process is told, and who listens. */
export interface K6Run {
  readonly k6: string;
  /** The bundled script. */
  readonly script: string;
  /** Further options of `k6 run`. */
  readonly options: readonly string[];
  /** Keys by the name of their environment variable (nothing else brings them to k6), and what else k6 reads there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of this process that k6 does not get: keys that do not pay for its load. */
  readonly withheld?: readonly string[];
  /** Bytes beyond which k6 is ended; as much as it likes where nothing is said. */
  readonly mostMemory?: number;
  readonly onSamples: (line: string) => void;
  readonly onEvent: (json: string) => void;
  /** A line of k6's own log: its level and text, secrets not yet removed. */
  readonly onLog: (level: string, message: string) => void;
}

/** What an hour at 1,000 requests/s leaves in k6's own figures (npm run bench:memory), with room to collect in. */
const GO_MEMORY_MIB = 768;
export const GO_MEMORY_BYTES = GO_MEMORY_MIB * 2 ** 20;

/**
 * k6 makes much garbage and keeps little: collecting it less often spares a fifth of its CPU. The limit keeps a long
 * run, whose own figures grow with every request, within a gigabyte. Both give way to what the environment says.
 */
const GO_RUNTIME = { GOGC: '800', GOMEMLIMIT: `${GO_MEMORY_MIB}MiB` } as const;

/**
 * What k6's end-of-test summary costs, 3 % of its CPU, buys nothing here: the report is made from the samples. Its
 * metrics are kept once, for its API.
 */
export const OWN_FIGURES = '--summary-mode=disabled';

export interface K6Exit {
  /** k6's exit code; null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly usage: ProcessUsage;
}

export interface K6Process {
  readonly ended: Promise<K6Exit>;
  /** Lets k6 finish what is under way and tell its figures. */
  stop(): void;
  /** Ends k6 at once. */
  kill(): void;
}

/**
 * Becomes k6, and leaves a shell beside it that kills it when this process dies without having said so, also by
 * SIGKILL: the pipe at descriptor 3 then closes. The shell listens before k6 begins, so that there is no moment
 * without it. `$$` is the shell that becomes k6.
 */
const GUARDED = `( read -r word; [ "$word" = done ] || kill -KILL $$ ) <&3 >/dev/null 2>&1 & exec "$@" 3<&-`;

/** On Windows k6 ends at its next log line after this process died, for nobody reads that any more. */
function commandOf(k6: string, args: readonly string[]): [program: string, args: string[]] {
  return process.platform === 'win32' ? [k6, [...args]] : ['/bin/sh', ['-c', GUARDED, 'sh', k6, ...args]];
}

/** What a shell answers for a program that it cannot start. */
const NOT_STARTED = [126, 127];

/** One line of k6's log: JSON where it comes from the logger, plain where k6 printed it before that was set up. */
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

/**
 * Starts `k6 run`. Samples and events are in its log, which is on its standard error.
 */
export function startK6(run: K6Run): K6Process {
  const args = [
    'run',
    '--log-format=json',
    '--no-usage-report',
    // Its logo, its own scenarios and its bar of progress are nothing that anybody asked for.
    '--quiet',
    ...run.options,
    run.script,
  ];
  const child = spawn(...commandOf(run.k6, args), {
    env: { ...GO_RUNTIME, ...withoutOtherLoad(process.env, run.withheld), ...run.environment },
    // Its own process group: Ctrl-C reaches it through stop() and kill() only, so that the first one is gentle.
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
