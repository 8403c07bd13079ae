/** The command as its users run it, a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { QUIET_ENVIRONMENT } from './in-process.ts';

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
