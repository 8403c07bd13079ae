import { type BuiltReport, buildReport } from './build-report.ts';
import { renderHtml, renderMarkdown } from './html/html.ts';
import { renderBadge } from './pipelines/badge.ts';
import { renderGithubAnnotations } from './pipelines/github.ts';
import { renderJunit } from './pipelines/junit.ts';
import { renderSarif } from './pipelines/sarif.ts';
import { renderTap } from './pipelines/tap.ts';
import type { Report } from './report.ts';
import { NO_SCREEN, renderTerminal, type Screen } from './terminal.ts';
import type { TestRun } from './test-run.ts';

/** A format: its file in a folder of results, whether every run writes it, and its template. */
export interface Format<Built> {
  readonly file: string;
  readonly written: boolean;
  readonly render: (built: Built, screen: Screen) => string;
}

/** Formats that need only test cases: checks and loads have them alike. */
export const CASE_FORMATS = {
  junit: { file: 'junit.xml', written: true, render: renderJunit },
  tap: { file: 'results.tap', written: true, render: renderTap },
  sarif: { file: 'results.sarif', written: true, render: renderSarif },
  badge: { file: 'badge.json', written: true, render: renderBadge },
  github: { file: 'annotations.txt', written: false, render: renderGithubAnnotations },
} as const satisfies Readonly<Record<string, Format<TestRun>>>;

/** Every format of a report, by the name that `report --format` takes. */
export const FORMATS = {
  html: { file: 'report.html', written: true, render: renderHtml },
  markdown: { file: 'summary.md', written: true, render: renderMarkdown },
  terminal: { file: 'summary.txt', written: false, render: renderTerminal },
  ...CASE_FORMATS,
} as const satisfies Readonly<Record<string, Format<BuiltReport>>>;

export type FormatName = keyof typeof FORMATS;

export const isFormatName = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);
export const FORMAT_NAMES: readonly FormatName[] = Object.keys(FORMATS).filter(isFormatName);

/** A report in a format. */
export function render(report: Report, name: FormatName, screen = NO_SCREEN): string {
  const format: Format<BuiltReport> = FORMATS[name];
  return format.render(buildReport(report), screen);
}
