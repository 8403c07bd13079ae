import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { fileText } from '../checks/profile/file-text.ts';
import { packageRoot } from '../spec/package-root.ts';
import { REPORT_FORMAT_VERSION, type Report } from './report.ts';
import { isComplete, verdictOf } from './verdict.ts';

/** Name of the report in a folder of results. */
export const REPORT_FILE = 'report.json';

/** A report that was read and holds what it should, or one line that says why there is none. */
export type ReadReport =
  | { readonly ok: true; readonly report: Report; readonly file: string }
  | { readonly ok: false; readonly problem: string };

const schema: unknown = JSON.parse(
  readFileSync(new URL('reports/report.schema.json', packageRoot), 'utf8'),
  // The schema is exact; a report of a newer harness may have fields that are passed over here.
  (key, value: unknown) => (key === 'additionalProperties' && value === false ? undefined : value),
);
if (typeof schema !== 'object' || schema === null) throw new Error('reports/report.schema.json is no schema');

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  formats: { 'date-time': (text: string) => text.endsWith('Z') && !Number.isNaN(Date.parse(text)) },
});
const isReport = ajv.compile<Report>(schema);

/**
 * The text of a file, or of the file with that name in a folder; or one line that says why there is none.
 *
 * @param mostBytes how large it may be
 */
export function storedText(
  path: string,
  name: string,
  mostBytes?: number,
): { readonly file: string } & ({ readonly text: string } | { readonly problem: string }) {
  let file = path;
  try {
    if (statSync(path).isDirectory()) file = join(path, name);
    return { file, text: fileText(file, mostBytes) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT')
      return { file, problem: `no such file; give a ${name} or the folder that a command wrote with --out` };
    if (code === 'EACCES') return { file, problem: 'may not be read (permission denied)' };
    return { file, problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Reads the report of an earlier run and validates it against reports/report.schema.json: a file may come from
 * anywhere. Fields that a newer harness of the same format version added are passed over.
 *
 * @param path a report.json, or a folder that holds one
 */
export function readReport(path: string): ReadReport {
  const { file, ...stored } = storedText(path, REPORT_FILE);
  const parsed = 'text' in stored ? parseReport(stored.text) : { ok: false as const, ...stored };
  return parsed.ok ? { ...parsed, file } : { ok: false, problem: `${file}: ${parsed.problem}` };
}

/** The text of a report.json, validated. */
export function parseReport(
  text: string,
): { readonly ok: true; readonly report: Report } | { readonly ok: false; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'is not JSON; was it cut off?' };
  }
  const written =
    typeof value === 'object' && value !== null ? { formatVersion: undefined, ...value } : undefined;
  const version = written?.formatVersion;
  if (typeof version !== 'number')
    return { ok: false, problem: 'is not a report of petstore-harness (no formatVersion)' };
  if (version !== REPORT_FORMAT_VERSION && version !== 1) {
    return {
      ok: false,
      problem: `has format version ${version}, this petstore-harness reads 1 and ${REPORT_FORMAT_VERSION}; use a newer petstore-harness`,
    };
  }
  const added = { formatVersion: REPORT_FORMAT_VERSION, complete: false, problems: [] };
  const current = version === 1 ? { ...written, ...added } : written;
  if (isReport(current)) return { ok: true, report: version === 1 ? fromVersion1(current) : current };
  return { ok: false, problem: `is not a valid report: ${schemaProblem(isReport.errors)}` };
}

/**
 * Version 1 had no skipped rows: what a permission was missing for was inconclusive. The verdict is by today's rule; a
 * run that failed without a failed row had a stale baseline.
 */
function fromVersion1(report: Report): Report {
  const { gaps, run } = report;
  const requirements = report.requirements.map((row) =>
    row.verdict === 'inconclusive' && row.reason.startsWith('needs the permission')
      ? { ...row, verdict: 'skipped' as const }
      : row,
  );
  const judged = verdictOf(requirements, gaps, []);
  const unexplained = report.verdict === 'not-conformant' && judged !== 'not-conformant';
  return {
    ...report,
    requirements,
    verdict: unexplained || run.interrupted !== undefined ? report.verdict : judged,
    complete: isComplete(requirements) && run.only === undefined,
    problems: unexplained ? ['The baseline of the run listed what passes'] : [],
  };
}

/** The first thing that a schema objects to. */
export function schemaProblem(errors: readonly ErrorObject[] | null | undefined): string {
  const first = errors?.[0];
  return first === undefined
    ? 'it does not match the schema'
    : `${first.instancePath || '/'} ${first.message ?? 'does not match'}`;
}
