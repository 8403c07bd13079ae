import { once } from 'node:events';
import { Command } from '@commander-js/extra-typings';
import { EVERY_FAULT } from '../../reference-server/deviations/faults/index.ts';
import { EVERY_VARIANT } from '../../reference-server/deviations/variants/index.ts';
import { MOST_ANIMALS } from '../../reference-server/pet-store.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { currentId } from '../../spec/contract.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { refusedPort } from '../shared/failure.ts';
import { interruptedBy, untilInterrupted } from '../shared/interruption.ts';
import { numberFrom, wholeNumber } from '../shared/option-values.ts';
import { printTable } from '../shared/screen.ts';
import { writeServeProfile } from './serve-profile.ts';

const usage = new Command('serve')
  .option('--port <n>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 0)
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option(
    '--profile-out <file>',
    'write a target profile to FILE, and the keys to FILE.env, without those that a run could not exhaust in time',
  )
  .option('--fault <name...>', 'break exactly one requirement; may be repeated')
  .option('--variant <name>', 'answer what the document leaves open in another way; still conforming')
  .option('--clock-speed <n>', 'seconds of the server in one real second', numberFrom(1, 100_000), 1)
  .option(
    '--animals <n>',
    'animals in the store at the start; it holds a million, or 100 MB of names',
    wholeNumber(0, MOST_ANIMALS),
    120,
  )
  .option('--list-faults', 'print every fault, and the requirement that it breaks')
  .option('--list-variants', 'print every variant, and what it answers in another way');

const EXAMPLES = `
Examples:
  $ petstore-harness serve --port 8080
  $ petstore-harness serve --profile-out local.yaml    then, in another shell:
  $ set -a; . ./local.yaml.env; petstore-harness check --profile local.yaml
  $ petstore-harness serve --clock-speed 60            a second is a minute
  $ petstore-harness serve --variant token-bucket --fault reset-in-milliseconds`;

/** How a variant answers what the document leaves open, where that is not the usual way. */
const inWords = (answers: Readonly<Record<string, string>>) =>
  Object.entries(answers)
    .map(([question, answer]) => `${question}: ${answer}`)
    .join(', ');

async function serve(options: ReturnType<typeof usage.opts>): Promise<void> {
  if (options.listFaults === true)
    return printTable(EVERY_FAULT.map(({ name, breaks }) => [name, currentId(breaks)]));
  if (options.listVariants === true)
    return printTable(EVERY_VARIANT.map(({ name, answers }) => [name, inWords(answers)]));
  const { port, host, clockSpeed, animals, fault, variant } = options;
  const server = await startReferenceServer({ port, host, clockSpeed, animals, fault, variant }).catch(
    refusedPort,
  );
  const { signal, release } = untilInterrupted();
  try {
    if (options.profileOut !== undefined) {
      const secrets = writeServeProfile(options.profileOut, server);
      process.stderr.write(`profile: ${options.profileOut}\nkeys:    set -a; . ${secrets}\n`);
    }
    // Alone on its line, and after the profile: a program that started this one may wait for it.
    process.stdout.write(`${server.baseUrl}\n`);
    await once(signal, 'abort');
    process.exitCode = interruptedBy(signal) === 'SIGTERM' ? 0 : EXIT.interrupted;
  } finally {
    // A second signal does not wait for requests under way.
    await server.close();
    release();
  }
}

/** `serve`: the reference server in the foreground. It conforms unless an option names a fault. */
export const command = usage.addHelpText('after', EXAMPLES).action(serve);
