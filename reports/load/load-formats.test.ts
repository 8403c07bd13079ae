import { readFileSync } from 'node:fs';
import AjvDraft04 from 'ajv-draft-04';
import { makeBadge } from 'badge-maker';
import { parse } from 'junit2json';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import t from 'tap';
import { Parser, type Result } from 'tap-parser';
import { HOSTILE_STRINGS, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { capacityResult, loadResult } from '../testing/sample-load.ts';
import { LOAD_FORMATS } from './load-formats.ts';
import { capacityOutcome, type LoadOutcome, loadOutcome } from './load-outcome.ts';

const sample = loadResult();
const broken = loadOutcome(sample);
const [slow] = sample.thresholds;
if (slow === undefined) throw new Error('no threshold');
const held = loadOutcome({ ...sample, verdict: 'held', thresholds: [slow], violations: [] });
const limited = loadOutcome({
  ...sample,
  verdict: 'generator-limited',
  thresholds: [slow],
  violations: [],
  generator: { ...sample.generator, limit: '1,200 arrivals were not sent' },
});
const contract = loadOutcome({
  ...sample,
  thresholds: [{ name: 'violations==0', held: false, actual: '3' }],
});
const found = capacityOutcome(capacityResult());
const nothing = capacityOutcome({
  ...capacityResult(),
  outcome: 'quota-limited',
  reason: 'does not fit the quota',
  capacity: null,
  interval: null,
});

const bounded = capacityOutcome({
  ...capacityResult(),
  outcome: 'quota-limited',
  reason: '1920 requests in 3 s are more than the load key has',
  capacity: null,
  interval: null,
  atLeast: 320,
});

async function junit(outcome: LoadOutcome) {
  const suites = await parse(LOAD_FORMATS.junit(outcome));
  if (!suites || !('testsuite' in suites)) throw new Error('no suites were read');
  return { suites, cases: (suites.testsuite ?? []).flatMap(({ testcase }) => testcase ?? []) };
}

t.test('a JUnit reader counts what is broken and shows its message', async (t) => {
  const { suites, cases } = await junit(broken);
  t.match(suites, { tests: 4, failures: 1, errors: 0, skipped: 1 });
  const named = (name: string) => cases.find((one) => one.name?.startsWith(name));
  t.match(named('errors<0.1%')?.failure, [{ message: '1.2 %, expected below 0.1 %', type: 'threshold' }]);
  t.match(named('rate-headers-on-200')?.skipped, [
    { message: /at least 3 times: X-RateLimit-Reset is missing/ },
  ]);
  const judged = await junit(contract);
  t.match(judged.suites, { failures: 2 });
  t.match(judged.cases.at(-1)?.failure?.[0]?.inner, /GET \/pets\?limit=20 with key business-1\nHTTP 200/);
});

t.test('red if and only if the run did not hold', async (t) => {
  const reds = async (outcome: LoadOutcome) => {
    const { suites } = await junit(outcome);
    const parser = new Parser({ strict: true });
    parser.end(LOAD_FORMATS.tap(outcome));
    const errors = LOAD_FORMATS.github(outcome).match(/^::error/gm)?.length ?? 0;
    const [run] = JSON.parse(LOAD_FORMATS.sarif(outcome)).runs;
    const sarif = run.results.filter(({ kind }: { kind: string }) => kind === 'fail').length;
    const interrupted = run.invocations[0].executionSuccessful ? 0 : 1;
    return [(suites.failures ?? 0) + (suites.errors ?? 0), parser.results?.fail, errors, sarif + interrupted];
  };
  t.strictSame(await reds(held), [0, 0, 0, 0]);
  t.strictSame(await reds(broken), [1, 1, 1, 1]);
  t.strictSame(await reds(contract), [2, 2, 2, 2]);
  t.strictSame(await reds(limited), [1, 1, 1, 1]);
  t.strictSame(await reds(found), [0, 0, 0, 0]);
  t.strictSame(await reds(nothing), [1, 1, 1, 1]);
  t.strictSame(await reds(bounded), [0, 0, 0, 0], 'all that the plans pay for held');
  t.equal(bounded.headline, 'At least 320 requests/s (limited by the plans’ quotas)');
  const weak = { ...capacityResult(), outcome: 'generator-limited', atLeast: 320 } as const;
  t.strictSame(await reds(capacityOutcome({ ...weak, capacity: null, interval: null })), [1, 1, 1, 1]);
  const open = loadOutcome({
    ...sample,
    verdict: 'failed-to-run',
    thresholds: [],
    violations: [],
    notes: ['a note', 'not judged: latency comes back: run it longer'],
  });
  t.strictSame(await reds(open), [1, 1, 1, 1]);
  t.match(open.problems, [/: not judged: latency comes back: run it longer$/]);
  const unexplained = loadOutcome({ ...sample, thresholds: [slow], violations: [] });
  t.strictSame(await reds(unexplained), [1, 1, 1, 1], 'broken for a reason that no threshold shows');
});

t.test('a TAP reader sees a point for each threshold, with what came', async (t) => {
  const points: Result[] = [];
  const parser = new Parser({ strict: true });
  parser.on('assert', (result: Result) => points.push(result));
  parser.end(LOAD_FORMATS.tap(broken));
  t.strictSame(
    points.map(({ ok }) => ok),
    [true, true, false, true],
  );
  t.match(points[2], { name: 'threshold errors<0.1%', diag: { actual: '1.2 %', expected: 'below 0.1 %' } });
  t.match(points[3], { skip: /at least 3 times/ });
});

t.test('Markdown for a pull request: what is broken first, the figures folded', async (t) => {
  const page = (outcome: LoadOutcome) =>
    micromark(LOAD_FORMATS.markdown(outcome), {
      allowDangerousHtml: true,
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
    });
  const text = page(broken);
  t.match(text, /^<h2>❌ load mixed: Broken: 1 of 2 thresholds<\/h2>/);
  t.match(text, /<tbody>\n<tr>\n<td><strong>errors&lt;0\.1%<\/strong><\/td>\n<td>❌ broken/);
  t.match(
    text,
    /<summary>Figures by operation and plan \(5\)<\/summary>[\s\S]*<td>createPet, pro<\/td>\n<td>600<\/td>/,
  );
  t.match(page(found), /^<h2>✅ load capacity: 410 requests\/s \(95 %: 398 to 421\)<\/h2>/);
  t.match(page(limited), /^<h2>⚠️ [\s\S]*1,200 arrivals were not sent/);
});

t.test('every result is valid SARIF 2.1.0', async (t) => {
  const schema: unknown = JSON.parse(
    readFileSync(
      new URL(
        'lib/schemas/sarif-2.1.0-rtm.5.json',
        import.meta.resolve('@microsoft/jest-sarif/package.json'),
      ),
      'utf8',
    ),
  );
  if (typeof schema !== 'object' || schema === null) throw new Error('no SARIF schema');
  const options = { strict: false, validateFormats: false, unicodeRegExp: false };
  const isSarif = new AjvDraft04.default(options).compile(schema);
  for (const outcome of [held, broken, contract, limited, found, nothing])
    t.ok(isSarif(JSON.parse(LOAD_FORMATS.sarif(outcome))), outcome.headline, { errors: isSarif.errors });
});

t.test('a badge that its renderer takes', async (t) => {
  const { label, message, color, isError } = JSON.parse(LOAD_FORMATS.badge(broken));
  t.match(makeBadge({ label, message, color }), 'Broken: 1 of 2 thresholds');
  t.equal(isError, true);
  t.match(JSON.parse(LOAD_FORMATS.badge(held)), { color: 'brightgreen', isError: false });
  t.match(JSON.parse(LOAD_FORMATS.badge(limited)), { color: 'yellow', isError: true });
});

t.test('hostile text is text, and bounded', async (t) => {
  for (const hostile of [...HOSTILE_STRINGS, '<b>'.repeat(400_000)]) {
    const outcomes = [loadOutcome(loadResult({ hostile })), capacityOutcome(capacityResult(hostile))];
    for (const [name, render] of Object.entries(LOAD_FORMATS)) {
      for (const text of outcomes.map((outcome) => render(outcome))) {
        t.notMatch(text, UNSEEN_CHARACTER, name);
        t.ok(text.length < 100_000, `${name}: ${text.length} characters`);
        if (name === 'markdown' || name === 'junit') t.notMatch(text, /<(script|img|b>)/);
      }
    }
  }
});
