/** Starts a service built on third-party libraries, in a thread or process of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../../spec/package-root.ts';
import { type Clock, sharedClock } from '../../run/clock.ts';
import { KEYS } from './callers.ts';
import { GO_STYLE, type NodeStyle, type StyleName } from './catalogue.ts';
import type { ServiceData } from './service.ts';

/** The compiled file, because a thread does not inherit Node's TypeScript loader. */
const SERVICE = new URL('dist/checks/accuracy/frameworks/service.js', packageRoot);
const GO_SOURCE = fileURLToPath(new URL('checks/accuracy/frameworks/go', packageRoot));
const GO_PROGRAM = fileURLToPath(new URL('dist/checks/accuracy/frameworks/pets-in-go', packageRoot));

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
  style === GO_STYLE ? startInGo(fault) : startInThread(style, fault);

async function startInThread(style: NodeStyle, fault?: string): Promise<FrameworkService> {
  const ahead = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const data: ServiceData = { style, ahead, ...(fault === undefined ? {} : { fault }) };
  const worker = new Worker(SERVICE, { workerData: data });
  const [port]: unknown[] = await once(worker, 'message');
  return {
    baseUrl: baseUrl(port),
    keys,
    clock: sharedClock((milliseconds) => {
      ahead[0] = milliseconds;
    }),
    close: async () => {
      await worker.terminate();
    },
  };
}

/** Builds the service in Go; returns the reason if that fails. */
export const buildInGo = (): Promise<string | undefined> =>
  promisify(execFile)('go', ['build', '-o', GO_PROGRAM, '.'], { cwd: GO_SOURCE }).then(
    () => undefined,
    (error: unknown) => String(error),
  );

async function startInGo(fault = ''): Promise<FrameworkService> {
  const directory = await mkdtemp(join(tmpdir(), 'pets-in-go-'));
  const ahead = join(directory, 'ahead');
  const child = spawn(GO_PROGRAM, [fault, ahead, ...KEYS.values()], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port]: unknown[] = await once(createInterface(child.stdout), 'line');
  return {
    baseUrl: baseUrl(port),
    keys,
    clock: sharedClock((milliseconds) => writeFileSync(ahead, String(Math.ceil(milliseconds)))),
    close: async () => {
      child.stdin.end();
      await once(child, 'exit');
      await rm(directory, { recursive: true });
    },
  };
}
