#!/usr/bin/env node
import { Command } from 'commander';
import { HARNESS_VERSION } from '../checks/harness/harness-version.ts';
import { checkCommand } from './check.ts';
import { compareCommand } from './compare.ts';
import { crash } from './crash.ts';
import { EXIT } from './exit-codes.ts';
import { loadCommand } from './load.ts';
import { mergeCommand } from './merge.ts';
import { reportCommand } from './report.ts';
import { serveCommand } from './serve.ts';

// A reader that has seen enough (`| head`) does not end a run whose results are still to be written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.on('uncaughtException', (error) => crash(error));

await new Command('petstore-harness')
  .description('Checks and loads an implementation of the Pet Store Service Interface.')
  .version(HARNESS_VERSION)
  .addCommand(checkCommand)
  .addCommand(serveCommand)
  .addCommand(loadCommand)
  .addCommand(reportCommand)
  .addCommand(compareCommand)
  .addCommand(mergeCommand)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT.usage))
  .parseAsync()
  .catch((error: unknown) => crash(error));
