#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { Command, type CommanderError } from 'commander';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import { crash } from './shared/crash.ts';
import { EXIT, UsageError } from './shared/exit-codes.ts';

/** Each command with what it needs: whoever asks for one does not wait for the others to be loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  check: async () => (await import('./check/check.ts')).checkCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  load: async () => (await import('./load/load.ts')).loadCommand,
  report: async () => (await import('./report/report.ts')).reportCommand,
  compare: async () => (await import('./load/compare.ts')).compareCommand,
  init: async () => (await import('./init/init.ts')).initCommand,
  explain: async () => (await import('./explain/explain.ts')).explainCommand,
  merge: async () => (await import('./load/merge.ts')).mergeCommand,
};

// What was read is garbage soon, and Node would keep hundreds of megabytes of it. A server under load is better off so.
if (process.argv[2] !== 'serve') setFlagsFromString('--optimize-for-size');
// A reader that has seen enough (`| head`) does not end a run whose results are still to be written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.on('uncaughtException', (error) => crash(error));

/** Every wrong usage is exit code 2, also where the parser itself notices it. */
const endOfParser = ({ exitCode }: CommanderError): never => process.exit(exitCode === 0 ? 0 : EXIT.usage);

async function main(): Promise<void> {
  const program = new Command('petstore-harness')
    .description('Checks and loads an implementation of the Pet Store Service Interface.')
    .version(HARNESS_VERSION)
    .exitOverride(endOfParser);
  const name = process.argv[2] ?? '';
  const asked = Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]] : Object.values(COMMANDS);
  for (const load of asked)
    if (load !== undefined) program.addCommand((await load()).exitOverride(endOfParser));
  await program.parseAsync();
}

await main().catch((error: unknown) => {
  if (!(error instanceof UsageError)) crash(error);
  for (const line of error.lines) process.stderr.write(`error: ${line}\n`);
  process.exitCode = EXIT.usage;
});
