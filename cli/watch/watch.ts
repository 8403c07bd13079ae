import { type ChildProcess, spawn } from 'node:child_process';
import { Command, Option } from 'commander';
import { UsageError } from '../../checks/profile/usage-error.ts';
import type { Access } from '../../checks/wire/access.ts';
import type { Observed } from '../../checks/wire/observed.ts';
import { checkThis } from '../check/check.ts';
import { type CheckOptions, required } from '../check/check-options.ts';
import { trafficSubject } from '../check/check-subject.ts';
import { durationSeconds } from '../shared/duration-option.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { wholeNumber } from '../shared/number-option.ts';
import { startProxy } from './proxy.ts';

interface WatchOptions extends CheckOptions {
  readonly port: number;
  /** Seconds. */
  readonly for?: number;
}

const EXAMPLES = `
Every answer that passes is judged by itself: media type, schemas, Error bodies, statuses, headers, filter and limit of
lists. Each broken requirement is shown once, when its first answer passes. The end brings the report and the exit code
of a check. What needs requests of our own is skipped.

Examples:
  $ petstore-harness watch --target https://staging.example.com/v1 -- pytest     ends when it does
  $ petstore-harness watch --profile staging.yaml --port 8080                    until Ctrl-C
  $ petstore-harness watch --profile staging.yaml --port 8080 --for 10m

With a profile keys have names and plans. Of a command that fails the exit code is the command's.

Exit codes: 0 nothing broken, 1 not conformant, 2 wrong usage, 3 inconclusive, 4 no answer passed, 70 the harness itself
failed.`;

/** More answers wait for their turn only where traffic is faster than the judge; those are not judged. */
const MOST_WAITING = 2000;

/** What passes through a proxy until the signal fires, or the time is over. */
async function* passing(
  target: string,
  access: Access,
  { port, for: seconds }: WatchOptions,
  runClient: (address: string, onEnd: () => void) => ChildProcess | undefined,
  signal: AbortSignal,
): AsyncGenerator<Observed> {
  const waiting: Observed[] = [];
  let isOver = false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  const onPassed = (observed: Observed) => {
    if (waiting.length < MOST_WAITING) waiting.push(observed);
    wake();
  };
  const onLost = (what: string) => void process.stderr.write(`warning: no answer to ${what}\n`);
  const proxy = await startProxy({ target, access, port, onPassed, onLost }).catch((error: unknown) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isTaken ? new UsageError(`port ${port} is in use; --port 0 takes a free one`) : error;
  });
  process.stderr.write(`${proxy.address} passes on to ${target}; Ctrl-C ends and reports\n`);
  const client = runClient(proxy.address, end);
  signal.addEventListener('abort', end);
  const timer = seconds === undefined ? undefined : setTimeout(end, seconds * 1000);
  try {
    while (!isOver || waiting.length > 0) {
      const observed = waiting.shift();
      if (observed !== undefined) yield observed;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    clearTimeout(timer);
    client?.kill();
    await proxy.close();
  }
}

async function watch([name, ...args]: readonly string[], options: WatchOptions): Promise<void> {
  let failedWith: number | undefined;
  // What the command prints goes to standard error: standard output is the report's.
  const runClient = (address: string, onEnd: () => void) => {
    if (name === undefined) return undefined;
    const env = { ...process.env, PETSTORE_URL: address };
    const client = spawn(name, args, { stdio: ['inherit', 2, 2], env });
    client.once('error', ({ message }) => {
      process.stderr.write(`error: ${name} could not be started: ${message}\n`);
      failedWith = EXIT.usage;
      onEnd();
    });
    client.once('close', (code) => {
      failedWith ??= code === 0 || client.killed ? undefined : (code ?? EXIT.interrupted);
      onEnd();
    });
    return client;
  };
  const subject = await trafficSubject(
    options,
    (target, access) => (signal) => passing(target, access, options, runClient, signal),
  );
  await checkThis(subject, options);
  process.exitCode = failedWith ?? process.exitCode;
}

/** `watch`: judges the answers that other clients get. */
export const watchCommand = new Command('watch')
  .argument('[command...]', 'what runs the clients, after --; it has the proxy’s address in PETSTORE_URL')
  .option('--target <url>', 'base address with the version segment; overrides the profile')
  .option('--port <n>', 'port of the proxy on this machine; 0 takes a free one', wholeNumber(0, 65_535), 0)
  .option('--for <time>', 'end after this time, such as 10m', durationSeconds)
  .option('--profile <file>', 'target profile: address, plans of the keys, declined readings')
  .option('--env-file <file>', 'file with the variables that hold the keys; the environment takes precedence')
  .option('--require <names>', 'all, or permissions, plans, ids: must not be skipped', required)
  .option('--out <dir>', 'folder for results')
  .addOption(new Option('--format <name>', 'human on a terminal, tap otherwise').choices(['human', 'tap']))
  .option('--baseline <file>', 'YAML list of known failures, which do not fail the run')
  .addHelpText('after', EXAMPLES)
  .action(watch);
