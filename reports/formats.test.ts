import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { redactorOf } from '../checks/wire/redaction.ts';
import { packageRoot } from '../spec/package-root.ts';
import { diffReports } from './compare/diff.ts';
import { matrixOf } from './compare/matrix.ts';
import { FORMATS } from './formats.ts';
import { type Report, readReport } from './report.ts';
import { anyReport } from './testing/any-report.ts';
import { UNSEEN_CHARACTER } from './testing/hostile-text.ts';
import {
  broken,
  conformantReport,
  exchange,
  render,
  reportWith,
  row,
  unpermitted,
  untold,
} from './testing/sample-reports.ts';

const names = Object.keys(FORMATS);

/** Everything that is made of reports, by its name. */
const everything = (report: Report): readonly (readonly [name: string, text: string])[] => {
  const diff = diffReports(conformantReport(), report);
  const matrix = matrixOf([{ name: 'one', report }]);
  return [
    ...names.map((name) => [name, render(report, name)] as const),
    ['diff', FORMATS.terminal.render(diff)],
    ['diff page', FORMATS.html.render(diff)],
    ['matrix', FORMATS.html.render(matrix)],
    ['matrix markdown', FORMATS.markdown.render(matrix)],
  ];
};

t.test('any report renders in every format, without a character that cannot be seen', async (t) => {
  fc.assert(
    fc.property(anyReport, (report) => {
      for (const [name, text] of everything(report)) {
        const unseen = UNSEEN_CHARACTER.exec(text);
        if (unseen !== null)
          throw new Error(`${name}: ${JSON.stringify(text.slice(unseen.index - 60, unseen.index + 9))}`);
      }
    }),
    { numRuns: 25 },
  );
  t.pass('any report');
});

t.test('what made a run red is told in every format', async (t) => {
  const problem = 'delete one from the baseline (known.yaml:3), it passes now';
  const stale = reportWith([row('one')], { problems: [problem] });
  const interrupted = { ...conformantReport(), verdict: 'inconclusive' as const };
  const cases: readonly (readonly [report: Report, told: RegExp, short: string])[] = [
    [stale, /delete one from the baseline/, 'Inconclusive: delete one'],
    [
      { ...interrupted, run: { ...interrupted.run, interrupted: 'SIGINT' } },
      /The run ended early: SIGINT/,
      'Inconclusive',
    ],
    [reportWith([broken('one')]), /one came otherwise/, '1 of 1 requirement broken'],
    [reportWith([row('one'), untold('two', 'two was lost')]), /two was lost/, 'Inconclusive'],
  ];
  for (const [report, told, short] of cases)
    for (const name of names) t.match(render(report, name), name === 'badge' ? short : told, name);
});

t.test('no format says that a run conforms which left something out', async (t) => {
  const report = reportWith([row('one'), unpermitted('two', 'ban')]);
  t.match(report, { verdict: 'nothing-broken', complete: false });
  for (const name of names) t.notMatch(render(report, name), /conformant(?!")|Conformant/, name);
});

t.test('a real run: every format names what it broke, and the page shows the animal', async (t) => {
  const report = readReport(fileURLToPath(new URL('reports/testing/report.json', packageRoot)));
  const broken = report.requirements.filter(({ verdict }) => verdict === 'fail');
  t.ok(broken.some(({ id }) => id === 'list-pet-schema'));
  for (const name of names)
    for (const { id } of broken)
      t.match(render(report, name), name === 'badge' ? 'broken' : id, `${name}: ${id}`);
  t.match(render(report, 'html'), /\{&quot;id&quot;:\d+,[^<]*<mark>&quot;[A-Z]+&quot;<\/mark>/);
});

t.test('names of test cases never change, whatever a run found', async (t) => {
  const named = (report: Report, name: string) =>
    name === 'junit'
      ? [...render(report, name).matchAll(/<testcase name="([^"]*)"/g)].map(([, one]) => one)
      : [...render(report, name).matchAll(/^(?:not )?ok \d+ - (.*?)(?: # .*)?$/gm)].map(([, one]) => one);
  const reports = [
    reportWith([row('one'), row('two')]),
    reportWith([broken('one', { title: 'Title of one' }), untold('two', 'lost')], { problems: ['a', 'b'] }),
    reportWith([unpermitted('one', 'ban'), row('two', { verdict: 'not-applicable' })]),
  ];
  for (const name of ['junit', 'tap'] as const) {
    const [first, ...others] = reports.map((report) => named(report, name));
    t.equal(first?.length, 3, name);
    for (const other of others) t.strictSame(other, first, name);
  }
});

t.test('no key shows in any format, however a target writes it back', async (t) => {
  const forms: readonly ((key: string) => string)[] = [
    (key) => key,
    (key) => key.toUpperCase(),
    encodeURIComponent,
    (key) => JSON.stringify(key).slice(1, -1),
    (key) => Buffer.from(key).toString('base64'),
  ];
  const anyKey = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~+/="\\'), minLength: 12, maxLength: 40 });
  fc.assert(
    fc.property(anyKey, fc.constantFrom(...forms), (key, form) => {
      const redact = redactorOf([key]);
      const written = redact(`before ${form(key)} after`);
      const answer = exchange('lists#1', written, [['x-echo', written]]);
      const came = broken('one', { actual: written, reason: written, curl: written });
      const report = reportWith([came, untold('two', written)], { exchanges: [answer] });
      for (const [name, text] of everything(report))
        if (text.includes(form(key)) || text.includes(key)) throw new Error(`${name}: ${form(key)}`);
    }),
    { numRuns: 30 },
  );
  t.pass('any key in any form');
});
