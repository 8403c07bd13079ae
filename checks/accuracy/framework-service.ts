/** Starts a service built on third-party libraries, in a process of its own whose time follows the run's. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../spec/package-root.ts';
import { PLANS } from '../../spec/plans.ts';
import { sharedClock } from '../run/clock.ts';
import { KEYS } from './frameworks/parts.ts';
import { NODE_STYLES } from './frameworks/styles.ts';

/** A program that prints its port and ends with its standard input. */
interface Program {
  readonly command: string;
  /** Its arguments; the file `ahead` tells it the shared time. */
  readonly args: (ahead: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Builds it, or installs what it needs. */
  readonly provide?: () => Promise<unknown>;
}

const run = promisify(execFile);
const at = (path: string) => fileURLToPath(new URL(path, packageRoot));
const sources = at('checks/accuracy/frameworks/');

/** As TypeScript if this is, and bundled if this is. */
const service = fileURLToPath(new URL(`frameworks/service${extname(import.meta.url)}`, import.meta.url));
const inNode = (style: string): Program => ({
  command: process.execPath,
  args: (ahead) => [...process.execArgv, service, style, ahead],
});

/** As `key=requests a minute`; without a key for callers that send none. */
const LIMITED_KEYS = [{ value: '', plan: 'free' } as const, ...KEYS].map(
  ({ value, plan }) => `${value}=${PLANS[plan].perMinute}`,
);

const goProgram = at('.cache/pets-in-go');

// What is installed for one list of packages is never right for another one.
const packages = readFileSync(join(sources, 'python/requirements.txt'));
const python = at(`.cache/python-${createHash('sha256').update(packages).digest('hex').slice(0, 8)}`);
const inPython = (workers: number): Program => ({
  command: join(python, 'bin/python'),
  args: () => ['-B', join(sources, 'python/serve.py')],
  env: { WORKERS: String(workers), KEYS: LIMITED_KEYS.join(' ') },
  provide: async () => {
    if (existsSync(join(python, 'bin/uvicorn'))) return;
    await run('python3', ['-m', 'venv', python]);
    await run(join(python, 'bin/pip'), ['install', '-r', join(sources, 'python/requirements.txt')]);
  },
});

const PROGRAMS: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(Object.keys(NODE_STYLES).map((style) => [style, inNode(style)])),
  'go-x-time-rate': {
    command: goProgram,
    args: (ahead) => [ahead, ...LIMITED_KEYS],
    provide: () => run('go', ['build', '-o', goProgram, '.'], { cwd: join(sources, 'go') }),
  },
  'fastapi-limits': inPython(1),
  'fastapi-two-workers': inPython(2),
};

/** The services by name. */
export const STYLES: readonly string[] = Object.keys(PROGRAMS);

/** Builds or installs what these services need; returns those that this machine cannot run, and why. */
export async function provide(styles: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const style of styles)
    await PROGRAMS[style]?.provide?.().catch((error: unknown) => problems.set(style, String(error)));
  return problems;
}

/** Starts a service. Its shared clock jumps ahead when both sides wait. */
export async function startFrameworkService(style: string) {
  const program = PROGRAMS[style];
  if (program === undefined) throw new Error(`no service is called ${style}`);
  const directory = await mkdtemp(join(tmpdir(), 'pets-'));
  const ahead = join(directory, 'ahead');
  writeFileSync(ahead, '0');
  const child = spawn(program.command, program.args(ahead), {
    env: { ...process.env, ...program.env, AHEAD: ahead, DATABASE: join(directory, 'pets.sqlite') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port]: unknown[] = await once(createInterface(child.stdout), 'line');
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keys: KEYS,
    // Put in place as a whole: a reader that found it empty would be back in the machine's own time.
    clock: sharedClock((milliseconds) => {
      writeFileSync(`${ahead}.new`, String(Math.ceil(milliseconds)));
      renameSync(`${ahead}.new`, ahead);
    }),
    close: async () => {
      child.stdin.end();
      await once(child, 'exit');
      await rm(directory, { recursive: true });
    },
  };
}
