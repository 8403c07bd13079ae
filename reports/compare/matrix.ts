/** Implementations × requirements: what not all of them meet. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import type { Cell } from '../html/table.ts';
import { REPORT_FILE, type Report, readReport } from '../report.ts';
import { ROW_KINDS, type Row, rowKind } from '../rows.ts';
import type { Sheet } from '../sheet.ts';
import { harmless, shownLine } from '../visible-text.ts';

/** Runs by the name of their implementation's folder. */
type Columns = readonly { readonly name: string; readonly report: Report }[];

/**
 * Every report.json below the folder, named after the folder that holds it.
 *
 * @param leftOut is told of each file that is not a report
 * @throws UsageError if there is no report
 */
export function readMatrix(folder: string, leftOut: (problem: string) => void): Columns {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`${folder}: is not a folder`);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => basename(path) === REPORT_FILE)
    .sort((a, b) => a.localeCompare(b));
  const columns = files.flatMap((file) => {
    const name = shownLine(dirname(file), 60);
    try {
      return [{ name, report: readReport(join(folder, file)) }];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      leftOut(error.message);
      return [];
    }
  });
  if (columns.length === 0) throw new UsageError(`${folder}: holds no report.json that can be read`);
  return columns;
}

/** What each came to, the requirements that not all of them meet, and their answers to what the document leaves open. */
export function matrixOf(columns: Columns): Sheet {
  const reports = columns.map(({ report }) => harmless(report));
  const requirements = new Map(reports.flatMap((report) => report.requirements.map((row) => [row.id, row])));
  const gaps = new Map(reports.flatMap((report) => report.gaps.map((gap) => [gap.id, gap])));
  const table = {
    title: Object.values(ROW_KINDS)
      .map(({ sign, words }) => `${sign} ${words.toLowerCase()}`)
      .join(', '),
    head: ['Row', '§', ...columns.map(({ name }) => name)],
    rows: [
      ['Verdict', '', ...reports.map(verdictWords)],
      ['When', '', ...reports.map(({ run }) => moment(run.startedAt))],
      ...[...requirements.values()]
        .map(({ id, title, section }): Cell[] => [
          `${title} (${id})`,
          section,
          ...reports.map((report) => signOf(report.requirements.find((row) => row.id === id))),
        ])
        .filter((cells) => cells.slice(2).some((cell) => !MET.includes(cell))),
      ...[...gaps.values()].map(({ id, question, section }) => [
        `${question} (${id})`,
        section,
        ...reports.map((report) => report.gaps.find((gap) => gap.id === id)?.observed ?? ''),
      ]),
    ],
  };
  const headline = `${count(columns.length, 'implementation')}, ${count(requirements.size, 'requirement')}`;
  return { name: 'report --matrix', headline, problems: [], facts: {}, notices: [], tables: [table] };
}

const MET: readonly Cell[] = [ROW_KINDS.pass.sign, ROW_KINDS['not-applicable'].sign];

function signOf(row: Row | undefined): Cell {
  if (row === undefined) return 'not in its run';
  const { sign } = ROW_KINDS[rowKind(row)];
  return row.verdict === 'fail' ? { wrong: sign } : sign;
}
