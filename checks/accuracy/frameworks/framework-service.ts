/** Starts a service built on third-party libraries, in a thread or process of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../../spec/package-root.ts';
import { type Clock, sharedClock } from '../../run/clock.ts';
import { KEYS } from './callers.ts';
import { GO_STYLE, type NodeStyle, PYTHON_STYLES, type PythonStyle, type StyleName } from './catalogue.ts';
import type { Ahead, Asked } from './service.ts';

/** The compiled file, because a thread does not inherit Node's TypeScript loader. */
const SERVICE = new URL('dist/checks/accuracy/frameworks/service.js', packageRoot);
const GO_SOURCE = fileURLToPath(new URL('checks/accuracy/frameworks/go', packageRoot));
const GO_PROGRAM = fileURLToPath(new URL('dist/checks/accuracy/frameworks/pets-in-go', packageRoot));
const PYTHON_SOURCE = fileURLToPath(new URL('checks/accuracy/frameworks/python', packageRoot));
const PYTHON_VENV = fileURLToPath(new URL('.cache/pets-in-python', packageRoot));
const PYTHON = join(PYTHON_VENV, 'bin', 'python');

export interface FrameworkService {
  readonly baseUrl: string;
  readonly keys: readonly { readonly name: string; readonly value: string }[];
  /** The shared clock that the service follows; it jumps ahead when both sides wait. */
  readonly clock: Clock;
  close(): Promise<void>;
}

const baseUrl = (port: unknown) => `http://127.0.0.1:${port}/v1`;
const keys = [...KEYS].map(([name, value]) => ({ name, value }));

export const startFrameworkService = (style: StyleName, fault?: string): Promise<FrameworkService> =>
  style === GO_STYLE
    ? startInGo(fault)
    : isInPython(style)
      ? startInPython(style, fault)
      : startInThread(style, fault);

/** Whether a service is written in Python. */
export const isInPython = (style: StyleName): style is PythonStyle =>
  PYTHON_STYLES.some((one) => one === style);

interface Thread {
  readonly worker: Worker;
  readonly ahead: Ahead;
}

/** Threads without a service. To start one and read three frameworks takes longer than a case. */
const idle: Thread[] = [];

function newThread(): Thread {
  const ahead = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  return { worker: new Worker(SERVICE, { workerData: ahead }), ahead };
}

async function startInThread(style: NodeStyle, fault?: string): Promise<FrameworkService> {
  const thread = idle.pop() ?? newThread();
  const { worker, ahead } = thread;
  ahead[0] = 0;
  worker.ref();
  const ask = async (asked: Asked): Promise<unknown> => {
    worker.postMessage(asked);
    const [answer]: unknown[] = await once(worker, 'message');
    return answer;
  };
  return {
    baseUrl: baseUrl(await ask({ style, fault })),
    keys,
    clock: sharedClock((milliseconds) => {
      ahead[0] = milliseconds;
    }),
    close: async () => {
      await ask(undefined);
      worker.unref();
      idle.push(thread);
    },
  };
}

const run = promisify(execFile);
const problemOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => String(error),
  );

/** Builds the service in Go; returns the reason if that fails. */
export const buildInGo = () => problemOf(run('go', ['build', '-o', GO_PROGRAM, '.'], { cwd: GO_SOURCE }));

/** Installs what the services in Python need into the cache folder; returns the reason if that fails. */
export const installForPython = () =>
  problemOf(
    access(PYTHON)
      .catch(() => run('python3', ['-m', 'venv', PYTHON_VENV]))
      .then(() => run(PYTHON, ['-m', 'pip', 'install', '-r', join(PYTHON_SOURCE, 'requirements.txt')])),
  );

const startInGo = (fault = '') =>
  startProcess(GO_PROGRAM, ({ ahead }) => ({ args: [fault, ahead, ...KEYS.values()] }));

const startInPython = (style: PythonStyle, fault = '') =>
  startProcess(PYTHON, ({ directory, ahead }) => ({
    args: ['-B', join(PYTHON_SOURCE, 'serve.py')],
    env: {
      FAULT: fault,
      WORKERS: style === 'fastapi-two-workers' ? '2' : '1',
      AHEAD: ahead,
      DATABASE: join(directory, 'pets.sqlite'),
      KEYS: [...KEYS.values()].join(' '),
    },
  }));

interface Arguments {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program that prints its port and ends with its standard input. The file `ahead` tells it the shared time. */
async function startProcess(
  program: string,
  given: (files: { readonly directory: string; readonly ahead: string }) => Arguments,
): Promise<FrameworkService> {
  const directory = await mkdtemp(join(tmpdir(), 'pets-'));
  const ahead = join(directory, 'ahead');
  writeFileSync(ahead, '0');
  const { args, env } = given({ directory, ahead });
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const [port]: unknown[] = await once(createInterface(child.stdout), 'line');
  return {
    baseUrl: baseUrl(port),
    keys,
    // Put in place as a whole: a reader that found it empty would be back in the machine's own time.
    clock: sharedClock((milliseconds) => {
      writeFileSync(`${ahead}.new`, String(Math.ceil(milliseconds)));
      renameSync(`${ahead}.new`, ahead);
    }),
    close: async () => {
      child.stdin.end();
      await once(child, 'exit');
      await rm(directory, { recursive: true });
    },
  };
}
