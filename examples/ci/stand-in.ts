/**
 * The command line of the tests in this folder: the real `report`, and a `check` that writes a sample run instead of
 * making one, so that every exit code can be had.
 */
import { Command } from 'commander';
import { reportCommand } from '../../cli/report/report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
} from '../../reports/testing/sample-reports.ts';
import { writeReports } from '../../reports/write-reports.ts';

const RUNS = {
  0: conformantReport,
  1: notConformantReport,
  3: inconclusiveReport,
} as const;

const check = new Command('check')
  .requiredOption('--out <dir>')
  .option('--profile <file>')
  .option('--target <url>')
  .option('--permit <names>')
  .option('--only <ids>')
  .option('--baseline <file>')
  .action(async (options: Readonly<Record<string, string>> & { out: string }) => {
    const wanted = Number(process.env['STAND_IN_EXIT_CODE'] ?? 0);
    process.exitCode = wanted;
    if (wanted !== 0 && wanted !== 1 && wanted !== 3) return;
    await writeReports(
      { ...RUNS[wanted](), run: { ...RUNS[wanted]().run, command: JSON.stringify(options) } },
      options.out,
    );
  });

await new Command('petstore-harness').addCommand(check).addCommand(reportCommand).parseAsync();
