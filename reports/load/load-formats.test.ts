import { parse } from 'junit2json';
import t from 'tap';
import { Parser } from 'tap-parser';
import type { CapacityResult } from '../../scenarios/runner/capacity/result.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { FORMATS, type Format } from '../formats.ts';
import { NO_SCREEN } from '../terminal.ts';
import { HOSTILE_STRINGS, UNSEEN_CHARACTER } from '../testing/hostile-text.ts';
import { capacityResult, loadResult } from '../testing/sample-load.ts';
import { capacityReport, type LoadReport, loadReport } from './load-report.ts';

const sample = loadResult();
const load = (more: Partial<LoadResult> = {}) => loadReport({ ...sample, ...more });
const capacity = (more: Partial<CapacityResult> = {}) => capacityReport({ ...capacityResult(), ...more });

const held = load({
  verdict: 'held',
  thresholds: sample.thresholds.filter((one) => one.held),
  violations: [],
});
const broken = load();
const contract = load({
  thresholds: [
    { kind: 'objective', metric: 'violations', name: 'no broken contract', held: false, actual: '3' },
  ],
});
const limited = load({
  verdict: 'generator-limited',
  thresholds: [],
  violations: [],
  generator: { ...sample.generator, limit: '1,200 arrivals were not sent' },
});
const undecided = load({
  verdict: 'failed-to-run',
  thresholds: [{ kind: 'run', name: 'latency does not creep up', held: null, actual: '5 time blocks' }],
  violations: [],
});
const without = { capacity: null, interval: null } as const;
const found = capacity();
const nothing = capacity({ outcome: 'quota-limited', reason: 'does not fit the quota', ...without });
const bounded = capacity({ outcome: 'quota-limited', atLeast: 320, reason: 'too dear', ...without });
const weak = capacity({ outcome: 'generator-limited', atLeast: 320, reason: 'late', ...without });

/** How many of its cases or runs each format for a pipeline calls wrong. */
async function reds(report: LoadReport): Promise<(number | undefined)[]> {
  const suites = await parse(FORMATS.junit.render(report));
  const junit = suites && 'testsuite' in suites ? (suites.failures ?? 0) + (suites.errors ?? 0) : undefined;
  const parser = new Parser({ strict: true });
  parser.end(FORMATS.tap.render(report));
  const errors = FORMATS.github.render(report).match(/^::error/gm)?.length ?? 0;
  const [run] = JSON.parse(FORMATS.sarif.render(report)).runs;
  const sarif = run.results.filter(({ kind }: { kind: string }) => kind === 'fail').length;
  const { executionSuccessful } = run.invocations[0];
  const { isError } = JSON.parse(FORMATS.badge.render(report));
  return [junit, parser.results?.fail, errors, sarif + (executionSuccessful ? 0 : 1)].map((count) =>
    isError ? count : -(count ?? 0),
  );
}

t.test('a stream is named where there are several', async (t) => {
  const [one = sample.series[0], ...others] = sample.series.map((each) => ({ ...each, stream: 'clients' }));
  const shown = (series: LoadResult['series']) => FORMATS.terminal.render(load({ series }));
  if (one === undefined) throw new Error('no series');
  t.notMatch(shown([one, ...others]), 'clients');
  t.match(shown([{ ...one, stream: 'guests' }, ...others]), /guests listPets|guests createPet|guests getPet/);
});

t.test('tables fit a terminal, and no number is parted from its unit', async (t) => {
  const of = { key: 'enterprise-load-1', plan: 'enterprise', perDay: 1e9, perMinute: 1e8 } as const;
  const keys = sample.keys.map((key) => ({ ...key, ...of }));
  const lines = FORMATS.terminal.render(load({ keys }), { ...NO_SCREEN, columns: 80 }).split('\n');
  t.strictSame(
    lines.filter((line) => line.length > 80 || /^ *(ms|s|%)\b| {2}(ms|s|%)( |$)/.test(line)),
    [],
  );
});

t.test('red if and only if the run did not hold, in every format', async (t) => {
  for (const [report, count] of [
    [held, 0],
    [found, 0],
    // All that the plans pay for held.
    [bounded, 0],
    [broken, 1],
    [contract, 2],
    [limited, 1],
    [nothing, 1],
    [weak, 1],
  ] as const)
    t.same(await reds(report), [count, count, count, count].map(Math.abs), report.headline);
  t.ok(
    (await reds(undecided)).every((count) => (count ?? 0) > 0),
    'what could not be told is not green',
  );
});

t.test('headlines say what was found, and whether it only read', async (t) => {
  const mix = { listPets: 80, createPet: 5, getPet: 15 };
  const { run } = capacityResult();
  for (const [report, headline] of [
    [held, /^Held: 3 thresholds$/],
    [broken, /^Broken: 1 of 4 thresholds$/],
    [limited, /^No verdict: the generator was the limit$/],
    [found, /^\d+(\.\d)? requests\/s, reading only \(95 %: \d+(\.\d)? to \d+(\.\d)?\)$/],
    [capacity({ run: { ...run, mix } }), /^\d+(\.\d)? requests\/s \(95 %/],
    [bounded, /^At least 320 requests\/s, reading only: too dear$/],
    [weak, /^At least 320 requests\/s, reading only: late$/],
    [nothing, /^No verdict: the keys’ quotas are used up$/],
  ] as const) {
    t.match(report.headline, headline);
    for (const format of ['terminal', 'html', 'markdown', 'badge'] as const)
      t.ok(words(FORMATS[format].render(report)).includes(words(report.headline)), format);
  }
});

/** The words of a text, whatever its format writes between them. */
const words = (text: string) => text.replace(/&#?\w+;|[^\p{L}\p{N}]+/gu, ' ').trim();

t.test('without steps or requests there is a sentence in place of a picture', async (t) => {
  const none = FORMATS.html.render(
    capacity({ steps: [], ...without, outcome: 'generator-limited', reason: 'late' }),
  );
  t.match(none, 'No step was taken.');
  const empty = FORMATS.html.render(load({ series: [], thresholds: [], verdict: 'failed-to-run' }));
  t.match(empty, /No request was answered\.[\s\S]*There are no time blocks\./);
});

t.test('hostile text is text, and bounded', async (t) => {
  for (const hostile of [...HOSTILE_STRINGS, '<b>'.repeat(400_000)])
    for (const report of [loadReport(loadResult(hostile)), capacityReport(capacityResult(hostile))])
      for (const [format, { render }] of Object.entries<Format>(FORMATS)) {
        const text = render(report);
        t.notMatch(text, UNSEEN_CHARACTER, format);
        t.ok(text.length < 200_000, `${format}: ${text.length} characters`);
        if (['markdown', 'junit', 'html'].includes(format))
          t.notMatch(text, /<(script|img|style>body|b>x|b><b)/);
      }
});
