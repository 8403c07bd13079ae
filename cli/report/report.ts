import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { buildReport } from '../../reports/build-report.ts';
import { diffReports } from '../../reports/compare/diff.ts';
import { matrixOf, readMatrix } from '../../reports/compare/matrix.ts';
import { FORMATS, type Format } from '../../reports/formats.ts';
import { readReport } from '../../reports/report.ts';
import { NO_SCREEN, type Screen } from '../../reports/terminal.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { writeNamed } from '../../reports/write-reports.ts';
import { names } from '../check/check-options.ts';
import { storedLoad } from '../load/load-folder.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { knownName } from '../shared/option-values.ts';
import { screenOf } from '../shared/screen.ts';

const usage = new Command('report')
  .argument(
    '[results]',
    'a folder that check or load wrote, or its report.json, load-report.json or capacity.json',
  )
  .option('--format <names>', 'format, or several, comma-separated', names)
  .option('--out <path>', 'file to write, or folder; standard output without it')
  .option('--diff <reports...>', 'what changed between two runs: OLD NEW')
  .option('--matrix <folder>', 'implementations and requirements, from all report.json below a folder');

const EXAMPLES = `
Formats: ${Object.keys(FORMATS).join(', ')};
of --diff text, html; of --matrix html, markdown. The format github prints
annotations, and adds the Markdown to $GITHUB_STEP_SUMMARY where that is set.

Examples:
  $ petstore-harness report petstore-results/latest    the summary again
  $ petstore-harness report petstore-results/latest --format junit --out j.xml
  $ petstore-harness report petstore-results/latest --format html,sarif --out .
  $ petstore-harness report petstore-results/load --format junit --out load.xml
  $ petstore-harness report --diff main/report.json petstore-results/latest
  $ petstore-harness report --matrix implementations/ --out matrix.html

Exit codes: 0 rendered, or no regression; 1 a regression (--diff); 2 wrong
usage, or no report to read.`;

/** What can be rendered, by format. The first one is the usual. */
type Templates = Readonly<Record<string, () => string>>;

const ALL_FORMATS: Readonly<Record<string, Format | undefined>> = FORMATS;

/** A stored run in every format. */
function runTemplates(path: string, screen: Screen): Templates {
  const run = storedLoad(path) ?? buildReport(readReport(path));
  return Object.fromEntries(
    Object.entries<Format>(FORMATS).map(([name, { render }]) => [name, () => render(run, screen)]),
  );
}

function diffTemplates([before, after, ...more]: readonly string[], screen: Screen): Templates {
  if (before === undefined || after === undefined || more.length > 0)
    throw new UsageError('--diff compares two reports: --diff OLD NEW');
  const diff = diffReports(readReport(before), readReport(after));
  if (diff.verdict === 'fail') process.exitCode = EXIT.notConformant;
  return { text: () => FORMATS.terminal.render(diff, screen), html: () => FORMATS.html.render(diff) };
}

function matrixTemplates(folder: string): Templates {
  const columns = readMatrix(folder, (problem) =>
    process.stderr.write(`warning: ${shownLine(problem, 300)}; left out\n`),
  );
  const matrix = matrixOf(columns);
  return { html: () => FORMATS.html.render(matrix), markdown: () => FORMATS.markdown.render(matrix) };
}

/** Whether a path is a folder. If something is wrong with it, writing to it will say so. */
const isFolder = (path: string) =>
  path.endsWith('/') || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

async function report(
  results: string | undefined,
  { diff, matrix, format, out }: ReturnType<typeof usage.opts>,
): Promise<void> {
  if ([results, diff, matrix].filter((one) => one !== undefined).length !== 1)
    throw new UsageError('give either the results of a run, or --diff OLD NEW, or --matrix FOLDER');
  const screen = out === undefined ? screenOf(process.stdout) : NO_SCREEN;
  const templates =
    diff === undefined
      ? matrix === undefined
        ? runTemplates(results ?? '', screen)
        : matrixTemplates(matrix)
      : diffTemplates(diff, screen);
  const known = Object.keys(templates);
  const named = (format ?? known.slice(0, 1)).map((name) => knownName('format', name, known));
  if (named.length > 1 && out === undefined) throw new UsageError('several formats need --out with a folder');
  for (const name of named) {
    const text = templates[name]?.() ?? '';
    const file = ALL_FORMATS[name]?.file ?? name;
    if (out === undefined) process.stdout.write(text);
    else await writeNamed(named.length > 1 || isFolder(out) ? join(out, file) : out, text);
    const summary = process.env['GITHUB_STEP_SUMMARY'];
    if (name === 'github' && summary) appendFileSync(summary, templates['markdown']?.() ?? '');
  }
}

/** `report`: renders a stored run, compares two, or shows many side by side. */
export const command = usage.addHelpText('after', EXAMPLES).action(report);
