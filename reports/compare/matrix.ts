import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuiltReport, buildReport } from '../build-report.ts';
import { REPORT_FILE, readReport } from '../read-report.ts';
import type { GapResult, RequirementResult } from '../report.ts';
import { rowKind } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';

/** One implementation: the name of its folder or file, and its run. */
export interface MatrixColumn {
  readonly name: string;
  readonly built: BuiltReport;
}

/** What is read from a folder, and a line for each file that is not a report; or why there is no report. */
type Read<What> =
  | ({ readonly ok: true; readonly damaged: readonly string[] } & What)
  | { readonly ok: false; readonly problem: string };

/**
 * Every report.json below the folder, named after the folder that holds it, and every other .json beside them, named
 * after itself.
 */
export function readMatrix(folder: string): Read<{ readonly columns: readonly MatrixColumn[] }> {
  let files: string[];
  try {
    if (!statSync(folder).isDirectory()) return { ok: false, problem: `${folder}: is not a folder` };
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => basename(path) === REPORT_FILE || (dirname(path) === '.' && path.endsWith('.json')))
      .sort((a, b) => a.localeCompare(b));
  } catch (error) {
    return { ok: false, problem: `${folder}: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (files.length === 0) return { ok: false, problem: `${folder}: holds no report.json` };
  const columns: MatrixColumn[] = [];
  const damaged: string[] = [];
  for (const file of files) {
    const read = readReport(join(folder, file));
    if (!read.ok) {
      damaged.push(read.problem);
      continue;
    }
    const named = basename(file) === REPORT_FILE && dirname(file) !== '.';
    const name = named ? dirname(file) : basename(file, '.json');
    columns.push({ name: shownLine(name, 60), built: buildReport(read.report) });
  }
  const [problem] = damaged;
  return columns.length === 0 && problem !== undefined
    ? { ok: false, problem }
    : { ok: true, columns, damaged };
}

/** A requirement and how it stands in each implementation. */
export interface MatrixRow {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly level: RequirementResult['level'];
  /** By column; undefined if that run had no such requirement. */
  readonly cells: readonly (RequirementResult | undefined)[];
  readonly alike: boolean;
}

/** Every requirement of any of the runs. */
export function matrixRows(columns: readonly MatrixColumn[]): MatrixRow[] {
  const byColumn = columns.map(({ built }) => new Map(built.report.requirements.map((row) => [row.id, row])));
  const rows = new Map(byColumn.flatMap((column) => [...column]));
  return [...rows.values()].map(({ id, section, title, level }) => {
    const cells = byColumn.map((column) => column.get(id));
    const kinds = new Set(cells.map((cell) => (cell === undefined ? 'absent' : rowKind(cell))));
    return { id, section, title, level, cells, alike: kinds.size === 1 };
  });
}

/** A question that the document leaves open, and each implementation's answer; null if none was seen. */
export interface MatrixAnswers extends Pick<GapResult, 'id' | 'section' | 'question'> {
  readonly answers: readonly (string | null)[];
  readonly alike: boolean;
}

/** The questions that at least one implementation was seen to answer. */
export function matrixAnswers(columns: readonly MatrixColumn[]): MatrixAnswers[] {
  const gaps = new Map(columns.flatMap(({ built }) => built.report.gaps.map((gap) => [gap.id, gap])));
  return [...gaps.values()]
    .map(({ id, section, question }) => {
      const answers = columns.map(
        ({ built }) => built.report.gaps.find((gap) => gap.id === id)?.observed ?? null,
      );
      return { id, section, question, answers, alike: new Set(answers).size === 1 };
    })
    .filter(({ answers }) => answers.some((answer) => answer !== null));
}
