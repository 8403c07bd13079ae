import { type ChildProcess, fork } from 'node:child_process';
import type { Listening, Task, Usage } from './servers/measured-server.ts';

/** A server in a process of its own. */
export interface MeasuredServer extends Listening {
  usage(): Promise<Usage>;
  close(): void;
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server ended with exit code ${code}`));
    child.once('exit', ended);
    child.once('message', (value) => {
      child.off('exit', ended);
      resolve(value as T);
    });
  });
}

/** Starts one of the servers of `servers/`. */
export async function startMeasured(
  name: 'bare-with-rate-headers' | 'reference' | 'fastify' | 'express',
  task: Task,
): Promise<MeasuredServer> {
  const child = fork(new URL(`./servers/${name}.js`, import.meta.url), {
    env: { ...process.env, NODE_ENV: 'production', BENCH_TASK: JSON.stringify(task) },
  });
  const listening = await message<Listening>(child);
  return {
    ...listening,
    usage() {
      const answered = message<Usage>(child);
      child.send('usage');
      return answered;
    },
    close: () => child.disconnect(),
  };
}
