import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../../spec/package-root.ts';

/** The k6 that go.mod in scenarios/k6 pins; the two change together. */
export const PINNED_K6 = '2.2.0';

/** A k6 2.x, by its path, or by its name where PATH has it. The version is what the program itself says. */
export interface K6Binary {
  readonly path: string;
  readonly version: string;
}

/** There is no k6 2.x, and none can be built; the message says how to install one. */
export class K6Unavailable extends Error {
  override readonly name = 'K6Unavailable';
}

const INSTALL =
  'Install k6 2.x (https://grafana.com/docs/k6/latest/set-up/install-k6/), or set K6_BIN to its path';

const run = promisify(execFile);

/** The program, if it can be run and says that it is k6 2.x. */
async function k6At(path: string): Promise<K6Binary | undefined> {
  const { stdout } = await run(path, ['version'], { timeout: 20_000 }).catch(() => ({ stdout: '' }));
  const version = /^\S+ v(2\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  return version === undefined ? undefined : { path, version };
}

/** Where the k6 that we built is kept. */
function builtPath(): string {
  const { XDG_CACHE_HOME: base } = process.env;
  const cache = base?.startsWith('/') ? base : join(homedir(), '.cache');
  return join(cache, 'petstore-harness', `k6-${PINNED_K6}`, 'k6');
}

/**
 * An installed k6: `K6_BIN`, else the one on PATH, else an earlier build of ours. A k6 1.x on PATH is ignored.
 *
 * @throws K6Unavailable if `K6_BIN` is set and is not k6 2.x
 */
export async function findK6(): Promise<K6Binary | undefined> {
  const { K6_BIN: chosen } = process.env;
  if (chosen === undefined || chosen === '') return (await k6At('k6')) ?? k6At(builtPath());
  const found = await k6At(chosen);
  if (found === undefined)
    throw new K6Unavailable(`K6_BIN=${chosen} is not a k6 2.x that can be run. ${INSTALL}.`);
  return found;
}

/**
 * An installed k6, or else the pinned version. The Go toolchain builds that into the cache folder, once, in about a
 * minute.
 *
 * @param progress is called with each line about the build
 * @throws K6Unavailable if there is neither k6 nor Go, or if the build fails
 */
export async function provideK6(progress: (line: string) => void, signal?: AbortSignal): Promise<K6Binary> {
  const found = await findK6();
  if (found !== undefined) return found;
  if ((await run('go', ['version']).catch(() => undefined)) === undefined)
    throw new K6Unavailable(
      `Load needs k6 2.x, and there is neither k6 nor Go on this machine. ${INSTALL}. With Go 1.25 or later the harness builds k6 ${PINNED_K6} itself, once.`,
    );
  progress(`building k6 ${PINNED_K6} with Go, once; this takes about a minute`);
  const path = builtPath();
  // Two processes may build at the same time. The last one to end wins; both builds are the same.
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // -mod=readonly: exactly what go.sum lists. -buildvcs=false: the folder may be in the user's repository.
  const options = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-o', unfinished];
  try {
    await run('go', ['build', ...options, 'go.k6.io/k6/v2'], {
      cwd: fileURLToPath(new URL('scenarios/k6', packageRoot)),
      env: { CGO_ENABLED: '0', ...process.env, GOWORK: 'off' },
      maxBuffer: 2 ** 26,
      signal,
    });
  } catch (error) {
    await rm(unfinished, { force: true });
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    const why = said.trim().split('\n').slice(-5).join('\n') || String(error);
    throw new K6Unavailable(`Building k6 ${PINNED_K6} with Go failed:\n${why}\n${INSTALL}.`);
  }
  await rename(unfinished, path);
  return { path, version: PINNED_K6 };
}
