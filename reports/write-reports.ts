import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { renderBadge } from './badge.ts';
import { type HtmlOptions, renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import { REPORT_FILE } from './read-report.ts';
import type { Report } from './report.ts';
import { renderSarif } from './sarif.ts';
import { renderTap } from './tap.ts';

/** A file that could not be written, in one line for a person; `cause` is what the system said. */
export class UnwritableReport extends Error {
  override readonly name = 'UnwritableReport';
}

/** The files beside report.json: name and renderer. */
const RENDERINGS = [
  ['report.html', renderHtml],
  ['junit.xml', renderJunit],
  ['summary.md', renderMarkdown],
  ['results.sarif', renderSarif],
  ['results.tap', renderTap],
  ['badge.json', renderBadge],
] as const satisfies readonly (readonly [
  file: string,
  render: (report: Report, options: HtmlOptions) => string,
])[];

/**
 * Writes report.json first (what was measured must not be lost to a rendering) and then every format beside it.
 * Each file appears whole or not at all, readable by its owner only: a target's answers may be confidential.
 *
 * @returns the paths written, report.json first
 * @throws UnwritableReport that names the file
 */
export async function writeReports(
  report: Report,
  dir: string,
  options: HtmlOptions = {},
): Promise<string[]> {
  const json = join(dir, REPORT_FILE);
  await writePrivately(json, `${JSON.stringify(report, null, 1)}\n`);
  const written = [json];
  for (const [file, render] of RENDERINGS) {
    const path = join(dir, file);
    await writePrivately(path, render(report, options));
    written.push(path);
  }
  return written;
}

/**
 * Writes one file atomically (a temporary one beside it, synced, renamed), mode 0600, its folder 0700 where it had to
 * be made.
 *
 * @throws UnwritableReport that names the file
 */
export async function writePrivately(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(path, text, { mode: 0o600 });
  } catch (error) {
    throw new UnwritableReport(`${path}: ${writeProblem(error)}`, { cause: error });
  }
}

function writeProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'could not be written, the disk is full';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be written (permission denied)';
  if (code === 'EROFS') return 'could not be written, the file system is read-only';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'could not be written, a part of its path is a file';
  if (code === 'EISDIR') return 'could not be written, a folder has its name';
  return `could not be written: ${error instanceof Error ? error.message : String(error)}`;
}
