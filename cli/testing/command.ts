/** The command as its users run it, a process of its own, and targets to point it at. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { serverProfile, variableOf } from '../../checks/profile/server-profile.ts';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';

// Bundled once a test file, with its packages: finding and translating every module in each process would take minutes.
// In the project, where it finds its packages, and outside of what t.testdir() clears.
const places = join(import.meta.dirname, '..', '..', '.tap', 'commands');
mkdirSync(places, { recursive: true });
const bundle = mkdtempSync(join(places, '-'));
t.teardown(() => rmSync(bundle, { recursive: true }));
export const COMMAND = join(bundle, 'main.mjs');
await build({
  entryPoints: [join(import.meta.dirname, '..', 'main.ts')],
  bundle: true,
  // What a command does not load is not read.
  splitting: true,
  platform: 'node',
  format: 'esm',
  // Some packages are CommonJS.
  banner: { js: 'import{createRequire as R}from"node:module";const require=R(import.meta.url);' },
  outdir: bundle,
  outExtension: { '.js': '.mjs' },
});

type Test = Pick<typeof t, 'testdir' | 'teardown'>;

const KEY_VARIABLE = /^PETSTORE_|^NO_COLOR$|^FORCE_COLOR$/;
const QUIET_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !KEY_VARIABLE.test(name)),
);

export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: { stdout: string; stderr: string };
  /** Exit code once both streams are read. */
  readonly ended: Promise<number | null>;
}

/** What the command is started with, beside its own arguments. */
export interface Surroundings {
  /** Options of Node's own. */
  readonly node?: readonly string[];
  /** A program that becomes the command, and its arguments: `sh -c '…; exec "$0" "$@"'`. */
  readonly through?: readonly string[];
}

/** In milliseconds: nothing that a test runs takes as long. */
const DEADLINE = 120_000;

/**
 * Starts the command in a folder of its own; at the deadline it is killed. The test runner has every Node process load what watches it, which takes
 * 70 MB and half a second: that is left out.
 */
export function start(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { node = [], through = [] }: Surroundings = {},
): Started {
  const words = ['env', '-u', 'NODE_OPTIONS', process.execPath, ...node, '--', COMMAND, ...args];
  const [program = 'env', ...rest] = [...through, ...words];
  const child = spawn(program, rest, {
    cwd: folder,
    env: { ...QUIET_ENVIRONMENT, ...env },
    timeout: DEADLINE,
    killSignal: 'SIGKILL',
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]): number | null =>
    typeof code === 'number' ? code : null,
  );
  return { child, output, ended };
}

/** Runs the command to its end. */
export async function run(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  surroundings: Surroundings = {},
) {
  const { output, ended } = start(folder, args, env, surroundings);
  return { code: await ended, ...output };
}

/** Resolves when the output has come to match. */
export function shows(
  { child, output }: Started,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => pattern.test(output[stream]) && resolve();
    child[stream]?.on('data', look);
    child.once('close', () =>
      reject(new Error(`ended without ${pattern}: ${output.stdout}${output.stderr}`)),
    );
    look();
  });
}

/** A reference server with a profile file. */
export interface TestTarget {
  readonly address: string;
  readonly folder: string;
  /** Path of the profile. */
  readonly profile: string;
  /** The keys' variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

export interface TestTargetOptions {
  readonly keys?: readonly string[];
  readonly permit?: TargetProfile['permit'];
  readonly gaps?: TargetProfile['gaps'];
  readonly clockSpeed?: number;
  readonly fault?: string;
  readonly variant?: string;
  readonly animals?: number;
}

/** Starts a reference server in the test's process, with some of its keys in a profile; closed with the test. */
export async function testTarget(test: Test, options: TestTargetOptions = {}): Promise<TestTarget> {
  const {
    keys: names = ['free-1', 'pro-1'],
    permit = ['writes'],
    gaps = {},
    clockSpeed = 1,
    ...personality
  } = options;
  const server = await startReferenceServer({ clockSpeed, ban: { seconds: 20 }, ...personality });
  test.teardown(() => server.close());
  const keys = server.keys.filter(({ name }) => names.includes(name));
  const folder = test.testdir({});
  const profile = join(folder, 'target.yaml');
  const described = serverProfile({ ...server, keys }, permit);
  writeFileSync(profile, profileYaml({ ...described, gaps, load: { allowed: false } }));
  return {
    address: server.baseUrl,
    folder,
    profile,
    env: Object.fromEntries(keys.map(({ name, value }) => [variableOf(name), value])),
    secrets: keys.map(({ value }) => value),
  };
}
