import { readFileSync } from 'node:fs';
import AjvDraft04 from 'ajv-draft-04';
import { parse } from 'junit2json';
import t from 'tap';
import { Parser } from 'tap-parser';
import { buildReport, decidedCase } from '../build-report.ts';
import { broken, render, reportWith, row, unpermitted, untold } from '../testing/sample-reports.ts';
import { liveTap } from './tap.ts';

const mixed = () =>
  reportWith([
    row('one'),
    broken('two'),
    untold('three', 'lost'),
    unpermitted('four', 'ban'),
    broken('five', { baselined: true }),
    row('six', { verdict: 'not-applicable', reason: 'no such plan' }),
  ]);

t.test(
  'JUnit: what does not gate is skipped, what could not be judged is an error, and all has a time',
  async (t) => {
    const text = render(mixed(), 'junit');
    const read = await parse(text);
    t.match(read, { tests: 7, failures: 1, errors: 1, skipped: 3, time: 119.4 });
    if (read === null || read === undefined || !('testsuite' in read)) throw new Error('no suites');
    for (const { name, time, testcase } of read.testsuite ?? []) {
      t.type(time, 'number', name ?? '');
      for (const one of testcase ?? []) t.type(one.time, 'number', one.name ?? '');
    }
    t.match(
      text,
      /<testcase name="two \(4\.1\) Title of two"[^>]*time="0\.250">\n\s*<failure message="two came otherwise; asked for: as two asks" type="fail">\nThe document: The clause of two\./,
    );
  },
);

/** The points of a TAP text: ok, and why not to count. */
function points(text: string): readonly (readonly [ok: boolean, why: string])[] {
  const found: (readonly [boolean, string])[] = [];
  const parser = new Parser();
  parser.on('assert', ({ ok, skip, todo }) => found.push([ok, skip ? 'skip' : todo ? 'todo' : '']));
  parser.end(text);
  t.ok(parser.results?.plan !== null, 'it has a plan');
  return found;
}

t.test('TAP: a point for the run and each case', async (t) => {
  t.strictSame(points(render(mixed(), 'tap')), [
    [true, ''],
    [false, ''],
    [false, ''],
    [true, 'skip'],
    [false, 'todo'],
    [true, 'skip'],
    [true, ''],
  ]);
});

t.test('TAP during a run: each case once, and again where it came to stand otherwise', async (t) => {
  let text = '';
  const tap = liveTap((more) => {
    text += more;
  });
  tap.decided(decidedCase(row('one'), undefined));
  tap.decided(decidedCase(row('two'), undefined));
  tap.end(buildReport(reportWith([row('one'), broken('two')])));
  t.match(
    text,
    /^TAP version 14\nok 1 - one \(4\.1\) Title of one\nok 2 - two [\s\S]*not ok 3 - two [\s\S]*ok 4 - the run as a whole\n1\.\.4\n$/,
  );
  t.equal(points(text).length, 4);
});

/** The OASIS schema of SARIF 2.1.0, as a package of Microsoft's SARIF tools ships it. */
const sarifSchema = JSON.parse(
  readFileSync(
    new URL('lib/schemas/sarif-2.1.0-rtm.5.json', import.meta.resolve('@microsoft/jest-sarif/package.json')),
    'utf8',
  ),
);
const isSarif = new AjvDraft04.default({
  strict: false,
  validateFormats: false,
  unicodeRegExp: false,
}).compile(sarifSchema);

t.test('SARIF: findings point at the profile, rules say what the document says', async (t) => {
  const report = mixed();
  const log = JSON.parse(render({ ...report, run: { ...report.run, profile: 'ci/staging.yaml' } }, 'sarif'));
  t.ok(isSarif(log), { errors: isSarif.errors });
  const [run] = log.runs;
  t.strictSame(
    run.results.map(({ ruleId, kind }: { ruleId: string; kind: string }) => [ruleId, kind]),
    [
      ['two', 'fail'],
      ['three', 'open'],
      ['five', 'fail'],
    ],
  );
  const [first, , known] = run.results;
  t.equal(first.locations[0].physicalLocation.artifactLocation.uri, 'ci/staging.yaml');
  t.match(first.message.text, /\nHTTP 200 OK\n/);
  t.match(known.suppressions, [{ kind: 'external' }]);
  t.match(run.tool.driver.rules[1].help.text, 'The document: The clause of two.');
});

t.test('GitHub: one annotation for a reason', async (t) => {
  t.match(
    render(reportWith([untold('a', 'lost'), untold('b', 'lost'), row('c')]), 'github'),
    /^::warning title=Not verified%3A 2 cases::Not verified: lost%0Aa, b\n$/,
  );
});
