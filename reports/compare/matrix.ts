/** Implementations × requirements: what not all of them meet, in the same tables as a page and in Markdown. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuiltReport, buildReport, verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import { tablesPage } from '../html/page-shell.ts';
import type { Cell, Table } from '../html/table.ts';
import { tableMarkdown } from '../markdown-text.ts';
import { REPORT_FILE, readReport } from '../read-report.ts';
import { ROW_KINDS, type Row, rowKind } from '../rows.ts';
import { clip, shownLine } from '../visible-text.ts';

/** How many failures of an implementation are explained; its own report has all. */
const MOST_TOLD = 40;

/** One implementation: the name of its folder or file, and its run. */
export interface MatrixColumn {
  readonly name: string;
  readonly built: BuiltReport;
}

/** What is read from a folder, and a line for each file that is not a report; or why there is no report. */
type Read =
  | { readonly ok: true; readonly columns: readonly MatrixColumn[]; readonly damaged: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Every report.json below the folder, named after the folder that holds it, and every other .json beside them, named
 * after itself.
 */
export function readMatrix(folder: string): Read {
  let files: string[];
  try {
    if (!statSync(folder).isDirectory()) return { ok: false, problem: `${folder}: is not a folder` };
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => basename(path) === REPORT_FILE || (dirname(path) === '.' && path.endsWith('.json')))
      .sort((a, b) => a.localeCompare(b));
  } catch (error) {
    return { ok: false, problem: `${folder}: ${error instanceof Error ? error.message : String(error)}` };
  }
  const columns: MatrixColumn[] = [];
  const damaged: string[] = [];
  for (const file of files) {
    const read = readReport(join(folder, file));
    const named = basename(file) === REPORT_FILE && dirname(file) !== '.';
    const name = named ? dirname(file) : basename(file, '.json');
    if (read.ok) columns.push({ name: shownLine(name, 60), built: buildReport(read.report) });
    else damaged.push(read.problem);
  }
  const [problem = `${folder}: holds no report.json`] = damaged;
  return columns.length === 0 ? { ok: false, problem } : { ok: true, columns, damaged };
}

/** What each came to, the requirements that not all meet, what each breaks, and answers to what the document leaves open. */
function tablesOf(columns: readonly MatrixColumn[]): Table[] {
  const names = columns.map(({ name }) => name);
  const reports = columns.map(({ built }) => built.report);
  const rows = new Map(reports.flatMap(({ requirements }) => requirements.map((row) => [row.id, row])));
  const gaps = new Map(reports.flatMap((report) => report.gaps.map((gap) => [gap.id, gap])));
  const signs = ({ id, title, section }: Row): Cell[] => [
    `${title} (${id})`,
    section,
    ...reports.map(({ requirements }) => signOf(requirements.find((row) => row.id === id))),
  ];
  const legend = Object.values(ROW_KINDS).map(({ sign, words }) => `${sign} ${words.toLowerCase()}`);
  return [
    {
      title: 'Implementations',
      head: ['The run', ...names],
      rows: [
        ['Verdict', ...reports.map(verdictWords)],
        ['Verified', ...columns.map(({ built }) => String(built.passed.length))],
        ['When', ...reports.map(({ run }) => moment(run.startedAt))],
      ],
    },
    {
      title: `Requirements that not all meet (${legend.join(', ')})`,
      head: ['Requirement', '§', ...names],
      rows: [...rows.values()]
        .map(signs)
        .filter((cells) => cells.slice(2).some((cell) => !MET.includes(cell))),
    },
    {
      title: 'What they break',
      head: ['Implementation', 'Requirement', 'Came', 'Asked'],
      rows: columns.flatMap(({ name, built }) =>
        built.report.requirements
          .filter(({ verdict }) => verdict === 'fail')
          .slice(0, MOST_TOLD)
          .map(({ id, reason, actual = reason, statement, expected = statement }) => [
            name,
            id,
            clip(actual, 240),
            clip(expected, 240),
          ]),
      ),
    },
    {
      title: 'Answers to what the document leaves open',
      head: ['Question', ...names],
      rows: [...gaps.values()].map(({ id, question }) => [
        `${question} (${id})`,
        ...reports.map((report) => clip(report.gaps.find((gap) => gap.id === id)?.observed ?? '', 80)),
      ]),
    },
  ];
}

const MET: readonly Cell[] = [ROW_KINDS.pass.sign, ROW_KINDS['not-applicable'].sign];

function signOf(row: Row | undefined): Cell {
  if (row === undefined) return 'not in its run';
  const { sign } = ROW_KINDS[rowKind(row)];
  return row.verdict === 'fail' ? { wrong: sign } : sign;
}

function titleOf(columns: readonly MatrixColumn[]): string {
  const rows = new Set(columns.flatMap(({ built }) => built.report.requirements.map(({ id }) => id)));
  return `${count(columns.length, 'implementation')}, ${count(rows.size, 'requirement')}`;
}

/** One HTML file, without script and without network. */
export const renderMatrixHtml = (columns: readonly MatrixColumn[]): string =>
  tablesPage(titleOf(columns), '', tablesOf(columns));

export const renderMatrixMarkdown = (columns: readonly MatrixColumn[]): string =>
  `## ${titleOf(columns)}\n\n${tablesOf(columns)
    .map((one) => `### ${one.title}\n\n${tableMarkdown(one, one.rows.length)}`)
    .join('\n\n')}\n`;
