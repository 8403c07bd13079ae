import type { Server } from 'node:http';

/** What a server process tells the one that measures it, and what it can be asked. */

/** Where a server listens; the key is one that is made for this run. */
export interface Listening {
  readonly url: string;
  readonly key: string;
}

/** What a server process has used so far. */
export interface Usage {
  /** User and system time in microseconds. */
  readonly cpuMicros: number;
  /** Resident memory in bytes. */
  readonly rss: number;
}

/** What one of the servers is started with: the answer that all of them give. */
export interface Task {
  readonly body: string;
  readonly key: string;
  readonly animals: number;
}

/** Reads the task, starts the server, and answers questions about its usage until the parent is gone. */
export async function serveMeasured(start: (task: Task) => Promise<string>): Promise<void> {
  const { BENCH_TASK } = process.env;
  const task = readTask(BENCH_TASK ?? '');
  const url = await start(task);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system, rss: process.memoryUsage().rss } satisfies Usage);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ url, key: task.key } satisfies Listening);
}

function readTask(text: string): Task {
  const task: unknown = JSON.parse(text);
  if (typeof task !== 'object' || task === null) throw new Error('no task');
  const { body, key, animals } = Object.assign({ body: '', key: '', animals: 0 }, task);
  return { body: String(body), key: String(key), animals: Number(animals) };
}

/** The base address of a server that listens on a port of loopback. */
export function baseAddressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return `http://127.0.0.1:${address.port}/v1`;
}
