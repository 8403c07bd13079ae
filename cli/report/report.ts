import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { diffReports } from '../../reports/compare/diff.ts';
import { renderDiffJson, renderDiffMarkdown, renderDiffText } from '../../reports/compare/diff-renderers.ts';
import { earlierRuns, readMatrix } from '../../reports/compare/matrix.ts';
import { renderMatrixHtml } from '../../reports/compare/matrix-html.ts';
import { renderMatrixMarkdown } from '../../reports/compare/matrix-markdown.ts';
import { FORMATS, type Format, type FormatName, isFormatName, NO_SCREEN } from '../../reports/formats.ts';
import { renderMarkdown } from '../../reports/markdown.ts';
import { readReport } from '../../reports/read-report.ts';
import type { Report } from '../../reports/report.ts';
import type { Screen } from '../../reports/terminal.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { UnwritableReport, unwritable } from '../../reports/write-reports.ts';
import { wantsColour } from '../check/live-view.ts';
import { isLoadResult, loadRenderings } from './report-load.ts';
import { type Fail, put } from './report-output.ts';

const REGRESSION = 1;
const USAGE_ERROR = 2;

const DIFF_FORMATS = ['text', 'markdown', 'json'] as const;
const MATRIX_FORMATS = ['html', 'markdown'] as const;

interface ReportOptions {
  readonly format?: readonly string[];
  readonly out?: string;
  readonly history?: string;
  readonly diff?: readonly string[];
  readonly matrix?: string;
  readonly base?: string;
}

const EXAMPLES = `
Formats: ${Object.keys(FORMATS).join(', ')}; of --diff ${DIFF_FORMATS.join(', ')}; of --matrix ${MATRIX_FORMATS.join(', ')}.
The format github prints annotations, and adds the Markdown to $GITHUB_STEP_SUMMARY where that is set.

Examples:
  $ petstore-harness report petstore-results                          the summary again
  $ petstore-harness report petstore-results --format junit --out junit.xml
  $ petstore-harness report petstore-results --format html,sarif --out public/
  $ petstore-harness report petstore-results --format html --history archive/ --out report.html
  $ petstore-harness report petstore-results/load --format junit --out load.xml
  $ petstore-harness report petstore-results/load --base main/load --out load.html
  $ petstore-harness report --diff main/report.json petstore-results --format markdown
  $ petstore-harness report --matrix implementations/ --out matrix.html

Exit codes: 0 rendered, or no regression between the two; 1 a regression (--diff); 2 wrong usage, or no report to read.`;

function list(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === ''))
    throw new InvalidArgumentError('Write names with commas between them.');
  return names;
}

function oneOf<Name extends string>(
  fail: Fail,
  names: readonly Name[],
  format: readonly string[] | undefined,
  of: string,
): Name {
  const [first, ...more] = format ?? [names[0] ?? ''];
  const name = names.find((candidate) => candidate === first);
  if (name === undefined || more.length > 0) fail(`${of} has one of the formats ${names.join(', ')}`);
  return name;
}

function read(fail: Fail, path: string): Report {
  const result = readReport(path);
  return result.ok ? result.report : fail(result.problem);
}

function screen(): Screen {
  const colour = wantsColour(process.stdout);
  if (!process.stdout.isTTY) return { ...NO_SCREEN, colour };
  return { colour, columns: process.stdout.columns, rows: process.stdout.rows };
}

function isFolder(path: string): boolean {
  if (path.endsWith('/')) return true;
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever stands in the way is told, with the file's name, by the attempt to write it.
    return false;
  }
}

function formatNames(fail: Fail, format: readonly string[] | undefined): FormatName[] | undefined {
  return format?.map(
    (name): FormatName =>
      isFormatName(name)
        ? name
        : fail(`there is no format ${name}; known: ${Object.keys(FORMATS).join(', ')}`),
  );
}

async function renderFormats(fail: Fail, path: string, options: ReportOptions): Promise<void> {
  const { out, base, history } = options;
  const formats = formatNames(fail, options.format);
  const several = (formats ?? []).length > 1;
  if (several && out === undefined) fail('several formats need --out with a folder');
  const renderings = isLoadResult(path)
    ? await loadRenderings(fail, path, { formats, base })
    : checkRenderings(fail, path, { formats: formats ?? ['terminal'], history, out });
  for (const { file, text, markdown } of renderings) {
    await put(text, out !== undefined && (several || isFolder(out)) ? join(out, file) : out);
    const summary = process.env['GITHUB_STEP_SUMMARY'];
    if (file === FORMATS.github.file && summary) addToStepSummary(summary, markdown());
  }
}

function checkRenderings(
  fail: Fail,
  path: string,
  {
    formats,
    history,
    out,
  }: {
    readonly formats: readonly FormatName[];
    readonly history: string | undefined;
    readonly out: string | undefined;
  },
) {
  const report = read(fail, path);
  const earlier = history === undefined ? undefined : earlierRuns(report, history);
  if (earlier?.ok === false) fail(earlier.problem);
  if (earlier?.ok === true) warnOf(earlier.damaged);
  const context = {
    history: earlier?.ok === true ? earlier.history : [],
    screen: out === undefined ? screen() : NO_SCREEN,
  };
  return formats.map((name) => {
    const format: Format = FORMATS[name];
    return {
      file: format.file,
      text: format.render(report, context),
      markdown: () => renderMarkdown(report),
    };
  });
}

function addToStepSummary(path: string, markdown: string): void {
  try {
    appendFileSync(path, markdown);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function renderDiff(fail: Fail, paths: readonly string[], options: ReportOptions): Promise<void> {
  const [before, after, ...more] = paths;
  if (before === undefined || after === undefined || more.length > 0) {
    return fail('--diff compares two reports: --diff OLD NEW');
  }
  const format = oneOf(fail, DIFF_FORMATS, options.format, '--diff');
  const diff = diffReports(read(fail, before), read(fail, after));
  const render = { markdown: renderDiffMarkdown, json: renderDiffJson, text: renderDiffText }[format];
  const colour = options.out === undefined && wantsColour(process.stdout);
  await put(format === 'text' ? renderDiffText(diff, colour) : render(diff), options.out);
  if (diff.regression) process.exitCode = REGRESSION;
}

/** One damaged file is no reason to leave the others out. */
function warnOf(damaged: readonly string[]): void {
  for (const problem of damaged) process.stderr.write(`warning: ${shownLine(problem, 300)}; left out\n`);
}

async function renderMatrix(fail: Fail, folder: string, options: ReportOptions): Promise<void> {
  const format = oneOf(fail, MATRIX_FORMATS, options.format, '--matrix');
  const matrix = readMatrix(folder);
  if (!matrix.ok) return fail(matrix.problem);
  warnOf(matrix.damaged);
  await put(
    format === 'html' ? renderMatrixHtml(matrix.columns) : renderMatrixMarkdown(matrix.columns),
    options.out,
  );
}

async function report(results: string | undefined, options: ReportOptions, command: Command): Promise<void> {
  const fail: Fail = (message) =>
    command.error(`error: ${shownLine(message, 500)}`, { exitCode: USAGE_ERROR });
  const asked = [results, options.diff, options.matrix].filter((one) => one !== undefined);
  if (asked.length !== 1) fail('give either the results of a run, or --diff OLD NEW, or --matrix FOLDER');
  try {
    if (options.diff !== undefined) await renderDiff(fail, options.diff, options);
    else if (options.matrix !== undefined) await renderMatrix(fail, options.matrix, options);
    else if (results !== undefined) await renderFormats(fail, results, options);
  } catch (error) {
    if (error instanceof UnwritableReport) fail(error.message);
    throw error;
  }
}

/** `report`: renders a stored run again, compares two, or sets many side by side. */
export const reportCommand = new Command('report')
  .argument(
    '[results]',
    'a folder that check or load wrote, or its report.json, load-report.json or capacity.json',
  )
  .addOption(new Option('--format <names>', 'format, or several with commas between them').argParser(list))
  .option('--out <path>', 'file to write, or folder; standard output without it')
  .option('--history <folder>', 'earlier results: the HTML report shows how each requirement fared')
  .option('--base <results>', 'of a load result, in HTML: an earlier one to compare with')
  .option('--diff <reports...>', 'what changed between two runs: OLD NEW')
  .option('--matrix <folder>', 'implementations and requirements, from all report.json below a folder')
  .addHelpText('after', EXAMPLES)
  .action(report);
