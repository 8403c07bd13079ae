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

const INSTALL = `Install k6 2.x in one of these ways, or set K6_BIN to its path:
  Debian, Ubuntu   sudo apt-get install k6        (from k6's package repository)
  Fedora, RHEL     sudo dnf install k6            (from k6's package repository)
  macOS            brew install k6
  Windows          winget install k6
  any, with Go     install Go 1.25 or later; the harness then builds k6 ${PINNED_K6} itself, once
k6's own instructions: https://grafana.com/docs/k6/latest/set-up/install-k6/`;

const run = promisify(execFile);

/** What `k6 version` says; undefined if the program is not k6. */
async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['version'], { timeout: 20_000 });
    return /^\S+ v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Where the k6 that we built is kept. */
function builtPath(): string {
  const { XDG_CACHE_HOME: base } = process.env;
  const cache = base?.startsWith('/') ? base : join(homedir(), '.cache');
  const program = process.platform === 'win32' ? 'k6.exe' : 'k6';
  return join(cache, 'petstore-harness', `k6-${PINNED_K6}`, program);
}

/**
 * An installed k6: `K6_BIN`, else the one on PATH, else an earlier build of ours. A k6 1.x on PATH is ignored.
 *
 * @throws K6Unavailable if `K6_BIN` is set and is not k6 2.x
 */
export async function findK6(): Promise<K6Binary | undefined> {
  const { K6_BIN: chosen } = process.env;
  if (chosen !== undefined && chosen !== '') {
    const version = await versionOf(chosen);
    if (version?.startsWith('2.')) return { path: chosen, version };
    const found = version === undefined ? 'is not a k6 that can be run' : `is k6 ${version}, not 2.x`;
    throw new K6Unavailable(`K6_BIN=${chosen} ${found}.\n${INSTALL}`);
  }
  const installed = await versionOf('k6');
  if (installed?.startsWith('2.')) return { path: 'k6', version: installed };
  const path = builtPath();
  return (await versionOf(path)) === PINNED_K6 ? { path, version: PINNED_K6 } : undefined;
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
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasGo)
    throw new K6Unavailable(`Load needs k6 2.x, and there is neither k6 nor Go on this machine.\n${INSTALL}`);
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
    throw new K6Unavailable(`Building k6 ${PINNED_K6} with Go failed:\n${why}\n${INSTALL}`);
  }
  await rename(unfinished, path);
  return { path, version: PINNED_K6 };
}
