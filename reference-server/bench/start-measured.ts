import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A server in a process of its own. */
export interface MeasuredServer {
  readonly url: string;
  readonly key: string;
  close(): void;
}

/** Starts a reference server with a key and some animals, or a bare one that always answers with one body. */
export async function startMeasured(
  name: 'bare-with-rate-headers' | 'reference',
  { body, key, animals }: { readonly body: string; readonly key: string; readonly animals: number },
): Promise<MeasuredServer> {
  const child = fork(new URL('./measured-server.js', import.meta.url), [name, body, key, String(animals)]);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with exit code ${code}`);
  });
  ended.catch(() => undefined);
  const [url]: unknown[] = await Promise.race([once(child, 'message'), ended]);
  return {
    url: String(url),
    key,
    close: () => child.disconnect(),
  };
}
