import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

/** What a server answered in one round. */
export interface Answered {
  readonly requests: number;
  readonly seconds: number;
}

/** Sends GET requests over kept connections for a time. */
export interface LoadGenerator {
  readonly name: string;
  /** @throws where an answer was not 2xx, or a request failed */
  send(url: string, key: string, connections: number, seconds: number): Promise<Answered>;
}

const run = promisify(execFile);

function figure(pattern: RegExp, text: string): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`no figure like ${pattern} in:\n${text}`);
  return Number(found);
}

const wrk: LoadGenerator = {
  name: 'wrk',
  async send(url, key, connections, seconds) {
    const options = ['-t', '1', '-c', String(connections), '-d', String(seconds)];
    const { stdout } = await run('wrk', [...options, '-H', `Authorization: Bearer ${key}`, url]);
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
    const requests = figure(/(\d+) requests in/, stdout);
    return { requests, seconds: requests / figure(/Requests\/sec:\s*([\d.]+)/, stdout) };
  },
};

const inNode: LoadGenerator = {
  name: 'autocannon',
  async send(url, key, connections, seconds) {
    const headers = { authorization: `Bearer ${key}` };
    const result = await autocannon({ url, connections, duration: seconds, headers });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
    return { requests: result['2xx'], seconds: result.duration };
  },
};

/**
 * wrk, where this machine has it: it leaves the cores to the server. autocannon shares them and hides differences, but is
 * always there.
 */
export async function quickestGenerator(): Promise<LoadGenerator> {
  try {
    await run(wrk.name, ['--version']);
  } catch (error) {
    // wrk prints its version and ends with 1.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return inNode;
  }
  return wrk;
}
