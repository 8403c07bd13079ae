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
 * Reads the report of an earlier run and validates it against reports/report.schema.json: a file may come from
 * anywhere. Fields that a newer harness of the same format version added are passed over.
 *
 * @param path a report.json, or a folder that holds one
 */
export function readReport(path: string): ReadReport {
  let file = path;
  let text: string;
  try {
    if (statSync(path).isDirectory()) file = join(path, REPORT_FILE);
    text = fileText(file);
  } catch (error) {
    return { ok: false, problem: `${file}: ${readProblem(error)}` };
  }
  const parsed = parseReport(text);
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
  const version = formatVersion(value);
  if (version === undefined)
    return { ok: false, problem: 'is no report of petstore-harness (no formatVersion)' };
  if (version !== REPORT_FORMAT_VERSION && version !== 1) {
    return {
      ok: false,
      problem: `has format version ${version}, this petstore-harness reads 1 and ${REPORT_FORMAT_VERSION}; use a newer petstore-harness`,
    };
  }
  const current = version === 1 ? fromVersion1(value) : value;
  if (!isReport(current))
    return { ok: false, problem: `is no valid report: ${schemaProblem(isReport.errors?.[0])}` };
  return { ok: true, report: version === 1 ? withVerdict(current) : current };
}

/** Version 1 had no skipped rows: what a permission was missing for was inconclusive. */
function fromVersion1(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('requirements' in value)) return value;
  const { requirements: rows } = value;
  const requirements = Array.isArray(rows) ? rows.map(skippedWhereNotPermitted) : rows;
  return { ...value, formatVersion: REPORT_FORMAT_VERSION, complete: false, problems: [], requirements };
}

function skippedWhereNotPermitted(row: unknown): unknown {
  if (typeof row !== 'object' || row === null || !('verdict' in row) || !('reason' in row)) return row;
  const skipped =
    row.verdict === 'inconclusive' &&
    typeof row.reason === 'string' &&
    row.reason.startsWith('needs the permission');
  return skipped ? { ...row, verdict: 'skipped' } : row;
}

/** The verdict by today's rule. A run of version 1 that failed without a failed row had a stale baseline. */
function withVerdict(report: Report): Report {
  const { requirements, gaps, run } = report;
  const judged = verdictOf(requirements, gaps, []);
  const unexplained = report.verdict === 'not-conformant' && judged !== 'not-conformant';
  return {
    ...report,
    verdict: unexplained || run.interrupted !== undefined ? report.verdict : judged,
    complete: isComplete(requirements) && run.only === undefined,
    problems: unexplained ? ['The baseline of the run listed what passes'] : [],
  };
}

function formatVersion(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('formatVersion' in value)) return undefined;
  return typeof value.formatVersion === 'number' ? value.formatVersion : undefined;
}

function schemaProblem(error: ErrorObject | undefined): string {
  if (error === undefined) return 'it does not match the schema';
  return `${error.instancePath || '/'} ${error.message ?? 'does not match'}`;
}

function readProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file; give a report.json or the folder that `check --out` wrote';
  if (code === 'EACCES') return 'may not be read (permission denied)';
  return error instanceof Error ? error.message : String(error);
}
