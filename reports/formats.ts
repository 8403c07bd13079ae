import type { BuiltReport } from './build-report.ts';
import { renderHtml, renderMarkdown } from './html/html.ts';
import type { LoadReport } from './load/load-report.ts';
import { renderBadge } from './pipelines/badge.ts';
import { renderGithubAnnotations } from './pipelines/github.ts';
import { renderJunit } from './pipelines/junit.ts';
import { renderSarif } from './pipelines/sarif.ts';
import { renderTap } from './pipelines/tap.ts';
import { renderSheetMarkdown, renderSheetPage, renderSheetText, type Sheet } from './sheet.ts';
import { renderTerminal, type Screen } from './terminal.ts';

/** A check or a load, as formats show it. */
export type Shown = BuiltReport | LoadReport;

/** A format: its file in a folder of results, whether every run writes it, and its template. */
export interface Format {
  readonly file: string;
  readonly written: boolean;
  readonly render: (run: Shown, screen?: Screen) => string;
}

/** A template for checks, and one for sheets. */
const either =
  (check: (run: BuiltReport, screen?: Screen) => string, sheet: (run: Sheet, screen?: Screen) => string) =>
  (run: BuiltReport | Sheet, screen?: Screen): string =>
    'tables' in run ? sheet(run, screen) : check(run, screen);

/** Every format, by the name that `report --format` takes, the usual one first. Those for pipelines need only test cases. */
export const FORMATS = {
  terminal: { file: 'summary.txt', written: false, render: either(renderTerminal, renderSheetText) },
  html: { file: 'report.html', written: true, render: either(renderHtml, renderSheetPage) },
  markdown: { file: 'summary.md', written: true, render: either(renderMarkdown, renderSheetMarkdown) },
  junit: { file: 'junit.xml', written: true, render: renderJunit },
  tap: { file: 'results.tap', written: true, render: renderTap },
  sarif: { file: 'results.sarif', written: true, render: renderSarif },
  badge: { file: 'badge.json', written: true, render: renderBadge },
  github: { file: 'annotations.txt', written: false, render: renderGithubAnnotations },
} as const satisfies Readonly<Record<string, Format>>;
