/** Starts a service made of libraries that nobody here wrote, in a thread of its own. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../../spec/package-root.ts';
import { type Clock, sharedClock } from '../../run/clock.ts';
import { KEYS } from './callers.ts';
import type { StyleName } from './catalogue.ts';
import type { ServiceData } from './service.ts';

/** Built, since a thread does not inherit what makes Node read TypeScript. */
const SERVICE = new URL('dist/checks/accuracy/frameworks/service.js', packageRoot);

export interface FrameworkService {
  readonly baseUrl: string;
  readonly keys: readonly { readonly name: string; readonly value: string }[];
  /** Of which the service's Date is a part: where both wait, the time is there at once. */
  readonly clock: Clock;
  close(): Promise<void>;
}

export async function startFrameworkService(style: StyleName, fault?: string): Promise<FrameworkService> {
  const ahead = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const data: ServiceData = { style, ahead, ...(fault === undefined ? {} : { fault }) };
  const worker = new Worker(SERVICE, {
    workerData: data,
  });
  const [port]: unknown[] = await once(worker, 'message');
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keys: [...KEYS].map(([name, value]) => ({ name, value })),
    clock: sharedClock((milliseconds) => {
      ahead[0] = milliseconds;
    }),
    close: async () => {
      await worker.terminate();
    },
  };
}
