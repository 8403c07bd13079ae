import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../../spec/package-root.ts';

/** The k6 that go.mod in scenarios/k6 pins; the two change together. */
export const PINNED_K6 = '2.2.0';

/** An executable k6 2.x. The version is what the program itself says. */
export interface K6Binary {
  readonly path: string;
  readonly version: string;
  readonly source: 'K6_BIN' | 'PATH' | 'built';
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
const programName = process.platform === 'win32' ? 'k6.exe' : 'k6';

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** What `k6 version` says; undefined if the file is not k6. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['version'], { timeout: 20_000 });
    return /^\S+ v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

async function onPath(program: string): Promise<string | undefined> {
  const { PATH = '' } = process.env;
  for (const folder of PATH.split(delimiter)) {
    const path = join(folder, program);
    if (folder !== '' && (await isExecutable(path))) return path;
  }
  return undefined;
}

/** Where the k6 that we built is kept. */
function builtPath(): string {
  const { XDG_CACHE_HOME: base } = process.env;
  const cache = base?.startsWith('/') ? base : join(homedir(), '.cache');
  return join(cache, 'petstore-harness', `k6-${PINNED_K6}`, programName);
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
    if (version?.startsWith('2.')) return { path: chosen, version, source: 'K6_BIN' };
    const found = version === undefined ? 'is not a k6 that can be run' : `is k6 ${version}, not 2.x`;
    throw new K6Unavailable(`K6_BIN=${chosen} ${found}.\n${INSTALL}`);
  }
  const installed = await onPath(programName);
  if (installed !== undefined) {
    const version = await versionOf(installed);
    if (version?.startsWith('2.')) return { path: installed, version, source: 'PATH' };
  }
  const built = builtPath();
  const version = (await isExecutable(built)) ? await versionOf(built) : undefined;
  return version === PINNED_K6 ? { path: built, version, source: 'built' } : undefined;
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
  if ((await onPath(process.platform === 'win32' ? 'go.exe' : 'go')) === undefined) {
    throw new K6Unavailable(`Load needs k6 2.x, and there is neither k6 nor Go on this machine.\n${INSTALL}`);
  }
  return build(progress, signal);
}

async function build(progress: (line: string) => void, signal: AbortSignal | undefined): Promise<K6Binary> {
  const path = builtPath();
  // Two processes may build at the same time. The last one to end wins; both builds are the same.
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  progress(`building k6 ${PINNED_K6} with Go, once; this takes about a minute`);
  // -mod=readonly: exactly what go.sum lists. -buildvcs=false: the folder may be in the user's repository.
  const options = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-o', unfinished];
  const go = spawn('go', ['build', ...options, 'go.k6.io/k6/v2'], {
    cwd: fileURLToPath(new URL('scenarios/k6', packageRoot)),
    env: { CGO_ENABLED: '0', ...process.env, GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  const ended = new Promise<number | Error>((resolve) => {
    go.once('error', resolve);
    go.once('close', (code) => resolve(code ?? 1));
  });
  const problems: string[] = [];
  for await (const line of createInterface({ input: go.stderr })) problems.push(line);
  const outcome = await ended;
  if (outcome !== 0) {
    await rm(unfinished, { force: true });
    const why = outcome instanceof Error ? outcome.message : problems.slice(-5).join('\n');
    throw new K6Unavailable(`Building k6 ${PINNED_K6} with Go failed:\n${why}\n${INSTALL}`);
  }
  await rename(unfinished, path);
  return { path, version: PINNED_K6, source: 'built' };
}
