#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { Command, type CommanderError } from 'commander';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import { crash } from './shared/crash.ts';
import { EXIT, isWrongUsage } from './shared/exit-codes.ts';

/** A command. Its code is loaded only if it is called. */
interface Entry {
  readonly description: string;
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  check: {
    description: 'check a target against every requirement of the interface',
    load: async () => (await import('./check/check.ts')).checkCommand,
  },
  serve: {
    description: 'start the reference server on this machine',
    load: async () => (await import('./serve/serve.ts')).serveCommand,
  },
  load: {
    description: 'run a load scenario through k6',
    load: async () => (await import('./load/load.ts')).loadCommand,
  },
  report: {
    description: 'render stored results again, or compare runs or implementations',
    load: async () => (await import('./report/report.ts')).reportCommand,
  },
  compare: {
    description: 'compare two load results; exit code 1 where HEAD is worse',
    load: async () => (await import('./load/compare.ts')).compareCommand,
  },
  merge: {
    description: 'merge the results of several runners of one load',
    load: async () => (await import('./load/merge.ts')).mergeCommand,
  },
  init: {
    description: 'write a target profile: asks on a terminal, takes options elsewhere',
    load: async () => (await import('./init/init.ts')).initCommand,
  },
  explain: {
    description: 'explain a requirement or a gap: what is asked, what is sent, what it costs, what breaks it',
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
  completion: {
    description: 'print what completes commands, options and their values in bash, zsh or fish',
    load: async () =>
      (await import('./completion/completion.ts')).completionCommand((name) =>
        Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.load() : undefined,
      ),
  },
};

// Otherwise Node would keep hundreds of megabytes of garbage. A server under load is faster without this.
if (process.argv[2] !== 'serve') setFlagsFromString('--optimize-for-size');
// If the reader goes away (`| head`), the run goes on, as its results are still to be written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.on('uncaughtException', (error) => crash(error));

/** Every wrong usage is exit code 2, also if the parser notices it. */
const endOfParser = ({ exitCode }: CommanderError): never => process.exit(exitCode === 0 ? 0 : EXIT.usage);

async function main(): Promise<void> {
  const program = new Command('petstore-harness')
    .description('Checks and loads an implementation of the Pet Store Service Interface.')
    .version(HARNESS_VERSION)
    .exitOverride(endOfParser);
  const asked = process.argv.slice(2).find((word) => Object.hasOwn(COMMANDS, word));
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    const command = name === asked ? await load() : new Command(name);
    program.addCommand(command.description(description).exitOverride(endOfParser));
  }
  await program.parseAsync();
}

await main().catch((error: unknown) => {
  if (!isWrongUsage(error)) crash(error);
  for (const line of error.message.split('\n')) process.stderr.write(`error: ${line}\n`);
  process.exitCode = EXIT.usage;
});
