import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from '@commander-js/extra-typings';
import { DIRECT } from '../../checks/wire/access.ts';
import { checkThis } from '../check/check.ts';
import { required } from '../check/check-options.ts';
import { type CheckSubject, checkSubject } from '../check/check-subject.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { refusedPort } from '../shared/failure.ts';
import { durationSeconds, wholeNumber } from '../shared/option-values.ts';
import { startProxy } from './proxy.ts';

const usage = new Command('watch')
  .argument('[command...]', 'what runs the clients, after --; it has the proxy’s address in PETSTORE_URL')
  .option('--target <url>', 'base address with the version segment; overrides the profile')
  .option('--port <n>', 'port of the proxy on this machine; 0 takes a free one', wholeNumber(0, 65_535), 0)
  .option('--for <time>', 'end after this time, such as 10m', durationSeconds)
  .option('--profile <file>', 'target profile: address, plans of the keys, declined readings')
  .option('--env-file <file>', 'file with the variables that hold the keys; the environment takes precedence')
  .option('--require <names>', 'all, or permissions, plans, ids: must not be skipped', required)
  .option('--out <dir>', 'folder for results')
  .addOption(new Option('--format <name>', 'human on a terminal, tap otherwise').choices(['human', 'tap']))
  .option('--baseline <file>', 'YAML list of known failures, which do not fail the run');

const EXAMPLES = `
Every answer that passes is judged by itself: media type, schemas, Error bodies,
statuses, headers, filter and limit of lists. Each broken requirement is shown
once, when its first answer passes. The end brings the report and the exit code
of a check. What needs requests of our own is skipped.

Examples:
  $ petstore-harness watch --target https://staging.example.com/v1 -- pytest
  $ petstore-harness watch --profile staging.yaml --port 8080    until Ctrl-C
  $ petstore-harness watch --profile staging.yaml --port 8080 --for 10m

With a profile keys have names and plans. If the command fails, its exit code
is that of watch.

Exit codes: 0 nothing broken, 1 not conformant, 2 wrong usage, 3 inconclusive,
4 no answer passed, 70 the harness itself failed.`;

/** Starts the command that asks at the address. @returns the child, and the exit code with which it failed, if it did */
function startClient([name = '', ...args]: readonly string[], address: string) {
  const env = { ...process.env, PETSTORE_URL: address };
  // What it prints goes to standard error: standard output is the report's.
  const child = spawn(name, args, { stdio: ['inherit', 2, 2], env });
  const failed = new Promise<number | undefined>((resolve) => {
    child.once('error', ({ message }) => {
      process.stderr.write(`error: ${name} could not be started: ${message}\n`);
      resolve(EXIT.usage);
    });
    child.once('close', (code) =>
      resolve(code === 0 || child.killed ? undefined : (code ?? EXIT.interrupted)),
    );
  });
  return { child, failed };
}

async function watch(command: readonly string[], options: ReturnType<typeof usage.opts>): Promise<void> {
  const { port, for: seconds } = options;
  let client: ReturnType<typeof startClient> | undefined;
  const traffic: CheckSubject['traffic'] = async (judge, { profile: { target }, access, signal }) => {
    const ended = new AbortController();
    const proxy = await startProxy({
      ...{ target, access: access ?? DIRECT, port },
      onPassed: (passed) => {
        try {
          judge(passed);
        } catch (error) {
          ended.abort(error);
        }
      },
      onLost: (what) => void process.stderr.write(`warning: no answer to ${what}\n`),
    }).catch(refusedPort);
    process.stderr.write(`${proxy.address} passes on to ${target}; Ctrl-C ends and reports\n`);
    const ends: Promise<unknown>[] = [once(ended.signal, 'abort')];
    if (signal !== undefined) ends.push(once(signal, 'abort'));
    if (seconds !== undefined) ends.push(sleep(seconds * 1000, undefined, { ref: false }));
    if (command.length > 0) {
      client = startClient(command, proxy.address);
      ends.push(client.failed);
    }
    await Promise.race(ends);
    client?.child.kill();
    await proxy.close();
    ended.signal.throwIfAborted();
  };
  await checkThis(await checkSubject(options, { traffic }), options);
  process.exitCode = (await client?.failed) ?? process.exitCode;
}

/** `watch`: judges the answers that other clients get. */
export const command = usage.addHelpText('after', EXAMPLES).action(watch);
