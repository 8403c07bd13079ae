import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { suggestion } from '../../checks/profile/suggestion.ts';
import { diffReports } from '../../reports/compare/diff.ts';
import { renderDiffHtml, renderDiffJson, renderDiffText } from '../../reports/compare/diff-renderers.ts';
import { readMatrix, renderMatrixHtml, renderMatrixMarkdown } from '../../reports/compare/matrix.ts';
import { FORMATS, type FormatName, isFormatName, render } from '../../reports/formats.ts';
import { readReport } from '../../reports/read-report.ts';
import type { Report } from '../../reports/report.ts';
import { NO_SCREEN } from '../../reports/terminal.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { unwritable, writeNamed } from '../../reports/write-reports.ts';
import { names } from '../check/check-options.ts';
import { EXIT, UsageError } from '../shared/exit-codes.ts';
import { screenOf } from '../shared/screen.ts';
import { print } from '../shared/standard-output.ts';
import { isLoadResult, type Stored, storedLoad } from './report-load.ts';

const DIFF_FORMATS = ['text', 'html', 'json'] as const;
const MATRIX_FORMATS = ['html', 'markdown'] as const;

interface ReportOptions {
  readonly format?: readonly string[];
  readonly out?: string;
  readonly diff?: readonly string[];
  readonly matrix?: string;
}

export const KNOWN_FORMATS = Object.keys(FORMATS);

const EXAMPLES = `
Formats: ${KNOWN_FORMATS.join(', ')}; of --diff ${DIFF_FORMATS.join(', ')}; of --matrix ${MATRIX_FORMATS.join(', ')}.
The format github prints annotations, and adds the Markdown to $GITHUB_STEP_SUMMARY where that is set.

Examples:
  $ petstore-harness report petstore-results                          the summary again
  $ petstore-harness report petstore-results --format junit --out junit.xml
  $ petstore-harness report petstore-results --format html,sarif --out public/
  $ petstore-harness report petstore-results/load --format junit --out load.xml
  $ petstore-harness report --diff main/report.json petstore-results
  $ petstore-harness report --matrix implementations/ --out matrix.html

Exit codes: 0 rendered, or no regression between the two; 1 a regression (--diff); 2 wrong usage, or no report to read.`;

const fail = (message: string): never => {
  throw new UsageError(shownLine(message, 500));
};

function oneOf<Name extends string>(
  names: readonly Name[],
  [format, ...more]: readonly string[] = names.slice(0, 1),
  of: string,
): Name {
  const name = names.find((candidate) => candidate === format);
  if (name !== undefined && more.length === 0) return name;
  return fail(`${of} has one of the formats ${names.join(', ')}`);
}

function read(path: string): Report {
  const result = readReport(path);
  return result.ok ? result.report : fail(result.problem);
}

/** Writes to a file, private and whole, or to standard output. */
async function writeOut(text: string, out: string | undefined): Promise<void> {
  if (out === undefined) await print(text);
  else await writeNamed(out, text);
}

function isFolder(path: string): boolean {
  if (path.endsWith('/')) return true;
  try {
    return statSync(path).isDirectory();
  } catch {
    // If something is wrong with the path, writing to it will say so.
    return false;
  }
}

const formatNamed = (name: string): FormatName =>
  isFormatName(name) ? name : fail(`there is no format ${name}; ${suggestion(name, KNOWN_FORMATS)}`);

async function renderFormats(path: string, { format, out }: ReportOptions): Promise<void> {
  const named = format?.map(formatNamed);
  const several = named !== undefined && named.length > 1;
  if (several && out === undefined) fail('several formats need --out with a folder');
  const stored = isLoadResult(path) ? storedLoad(path) : storedCheck(path, out);
  for (const name of named ?? [stored.usual]) {
    const text = stored.render(name);
    await writeOut(
      text,
      out !== undefined && (several || isFolder(out)) ? join(out, FORMATS[name].file) : out,
    );
    const summary = process.env['GITHUB_STEP_SUMMARY'];
    if (name === 'github' && summary) addToStepSummary(summary, stored.render('markdown'));
  }
}

function storedCheck(path: string, out: string | undefined): Stored {
  const report = read(path);
  const screen = out === undefined ? screenOf(process.stdout) : NO_SCREEN;
  return { usual: 'terminal', render: (name) => render(report, name, screen) };
}

function addToStepSummary(path: string, markdown: string): void {
  try {
    appendFileSync(path, markdown);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function renderDiff(
  [before, after, ...more]: readonly string[],
  { format, out }: ReportOptions,
): Promise<void> {
  if (before === undefined || after === undefined || more.length > 0)
    return fail('--diff compares two reports: --diff OLD NEW');
  const name = oneOf(DIFF_FORMATS, format, '--diff');
  const diff = diffReports(read(before), read(after));
  const text = {
    text: () => renderDiffText(diff),
    html: () => renderDiffHtml(diff),
    json: () => renderDiffJson(diff),
  }[name]();
  await writeOut(text, out);
  if (diff.regression) process.exitCode = EXIT.notConformant;
}

/** Warns of damaged files. The others are still used. */
function warnOf(damaged: readonly string[]): void {
  for (const problem of damaged) process.stderr.write(`warning: ${shownLine(problem, 300)}; left out\n`);
}

async function renderMatrix(folder: string, { format, out }: ReportOptions): Promise<void> {
  const name = oneOf(MATRIX_FORMATS, format, '--matrix');
  const matrix = readMatrix(folder);
  if (!matrix.ok) return fail(matrix.problem);
  warnOf(matrix.damaged);
  await writeOut({ html: renderMatrixHtml, markdown: renderMatrixMarkdown }[name](matrix.columns), out);
}

async function report(results: string | undefined, options: ReportOptions): Promise<void> {
  const { diff, matrix } = options;
  if ([results, diff, matrix].filter((one) => one !== undefined).length !== 1)
    fail('give either the results of a run, or --diff OLD NEW, or --matrix FOLDER');
  if (diff !== undefined) await renderDiff(diff, options);
  else if (matrix !== undefined) await renderMatrix(matrix, options);
  else if (results !== undefined) await renderFormats(results, options);
}

/** `report`: renders a stored run, compares two, or shows many side by side. */
export const reportCommand = new Command('report')
  .argument(
    '[results]',
    'a folder that check or load wrote, or its report.json, load-report.json or capacity.json',
  )
  .option('--format <names>', 'format, or several, comma-separated', names)
  .option('--out <path>', 'file to write, or folder; standard output without it')
  .option('--diff <reports...>', 'what changed between two runs: OLD NEW')
  .option('--matrix <folder>', 'implementations and requirements, from all report.json below a folder')
  .addHelpText('after', EXAMPLES)
  .action(report);
