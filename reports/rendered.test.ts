/** What a reader sees of stored results. */
import { join } from 'node:path';
import t from 'tap';
import type { Reason } from '../checks/run/reason.ts';
import { assertAsStored } from '../checks/testing/as-stored.ts';
import { FORMATS } from './formats.ts';
import { capacityReport, loadReport } from './load/load-report.ts';
import { sentenceOf, whySkipped } from './reasons.ts';
import { readReport } from './report.ts';
import { capacityResult, loadResult } from './testing/sample-load.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  render,
} from './testing/sample-reports.ts';

const stored = join(import.meta.dirname, 'testing');
const screen = { colour: false, columns: 80, rows: 24 };
/** A new format is tried by readers of it, in pipelines.test.ts. */
const NAMES = ['terminal', 'markdown', 'html', 'junit', 'tap', 'sarif', 'github', 'badge'] as const;

const wanted = { role: 'exhaust', perMinuteAtMost: 1000, beyondMinute: true } as const;
// biome-ignore format: a table, a line for two
const REASONS: readonly Reason[] = [
  { kind: 'held', times: 1 }, { kind: 'held', times: 1200 },
  { kind: 'broken', times: 1 }, { kind: 'broken', times: 1200 },
  { kind: 'no-key', wanted }, { kind: 'no-key', wanted: { ...wanted, plan: 'pro', count: 2 } },
  { kind: 'not-permitted', permission: 'ban' }, { kind: 'not-shown', blames: ['one', 'two'] },
  { kind: 'not-stored', scene: 'lists' }, { kind: 'left-out' },
  { kind: 'interference', what: 'one was missing', key: 'free-1' },
];

t.test('every sentence, table and page is as stored', async (t) => {
  const texts: Record<string, string> = {};
  for (const format of NAMES) {
    const load = FORMATS[format];
    texts[`a check in ${format}`] = render(readReport(stored), format, screen);
    texts[`a load in ${format}`] = load.render(loadReport(loadResult()), screen);
    texts[`a capacity in ${format}`] = load.render(capacityReport(capacityResult()), screen);
  }
  for (const report of [conformantReport(), notConformantReport(), inconclusiveReport()])
    for (const format of ['terminal', 'markdown', 'html', 'badge', 'github'])
      texts[`${report.verdict} in ${format}`] = render(report, format, { ...screen, colour: true });
  texts['a link in a heading'] = FORMATS.markdown.render(loadReport(loadResult('http://www.x.test')));
  texts['each reason'] = [...REASONS.map(sentenceOf), whySkipped(REASONS)].join('\n');
  // Styles are for the eye, and the version changes with every release.
  for (const [name, text] of Object.entries(texts))
    texts[name] = text.replace(/<style>.*?<\/style>/gs, '').replace(/\d+\.\d+\.\d+(?=["<])/g, 'V');
  assertAsStored(t, join(stored, 'rendered.txt'), texts);
});
