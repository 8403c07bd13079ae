import { renderHar } from './har.ts';
import { renderHtml } from './html/html.ts';
import { renderMarkdown } from './markdown.ts';
import { renderBadge } from './pipelines/badge.ts';
import { renderGithubAnnotations } from './pipelines/github.ts';
import { renderJunit } from './pipelines/junit.ts';
import { renderSarif } from './pipelines/sarif.ts';
import { renderTap } from './pipelines/tap.ts';
import type { Report } from './report.ts';
import { renderTerminal, type Screen } from './terminal.ts';
import { checkRun } from './test-run.ts';

/** What a format may use in addition to the report. */
export interface RenderContext {
  /** Earlier runs of the same target, the oldest first. */
  readonly history: readonly Report[];
  readonly screen: Screen;
}

/** A format of a report: its file in a folder of results, and its renderer. */
export interface Format {
  readonly file: string;
  readonly render: (report: Report, context: RenderContext) => string;
}

/** Every format of a report, by the name that `report --format` takes. */
export const FORMATS = {
  html: { file: 'report.html', render: (report, { history }) => renderHtml(report, history) },
  junit: { file: 'junit.xml', render: (report) => renderJunit(checkRun(report)) },
  tap: { file: 'results.tap', render: (report) => renderTap(checkRun(report)) },
  markdown: { file: 'summary.md', render: renderMarkdown },
  sarif: { file: 'results.sarif', render: (report) => renderSarif(checkRun(report), 'report.json', 'check') },
  github: { file: 'annotations.txt', render: (report) => renderGithubAnnotations(checkRun(report)) },
  badge: { file: 'badge.json', render: (report) => renderBadge(checkRun(report)) },
  har: { file: 'exchanges.har', render: renderHar },
  terminal: { file: 'summary.txt', render: (report, { screen }) => renderTerminal(report, screen) },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name);
}

/** Stands for the screen if the output is not a terminal. */
export const NO_SCREEN: Screen = { colour: false, columns: 120, rows: Number.POSITIVE_INFINITY };
