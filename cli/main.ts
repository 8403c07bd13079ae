#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import { crash } from './shared/crash.ts';
import { EXIT } from './shared/exit-codes.ts';

/** A command, and what is loaded only for whoever asks for it. */
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
    description: 'render the results of a run again, compare two runs, or many implementations',
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
};

// Node 24 lets what is new grow to a hundred megabytes before it is collected: bodies of a megabyte would
// stay that long.
setFlagsFromString('--semi-space-growth-factor=1');
// A reader that has seen enough (`| head`) does not end a run whose results are still to be written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.on('uncaughtException', (error) => crash(error));

async function main(): Promise<void> {
  const program = new Command('petstore-harness')
    .description('Checks and loads an implementation of the Pet Store Service Interface.')
    .version(HARNESS_VERSION)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.usage));
  const asked = process.argv.slice(2).find((word) => Object.hasOwn(COMMANDS, word));
  for (const [name, { description, load }] of Object.entries(COMMANDS))
    program.addCommand((name === asked ? await load() : new Command(name)).description(description));
  await program.parseAsync();
}

await main().catch((error: unknown) => crash(error));
