import { readFileSync } from 'node:fs';
import t from 'tap';
import { packageRoot } from '../spec/package-root.ts';
import { REPORT_SCHEMA, readReport } from './report.ts';
import { conformantReport, notConformantReport, render } from './testing/sample-reports.ts';

const published: unknown = JSON.parse(
  readFileSync(new URL('reports/report.schema.json', packageRoot), 'utf8'),
);

t.test('the published schema is that of the code: run npm run schemas', async (t) => {
  t.strictSame(published, JSON.parse(JSON.stringify(REPORT_SCHEMA)));
});

t.test('a report comes back as it was, and what a newer one added is passed over', async (t) => {
  const report = notConformantReport();
  const [first, ...rows] = report.requirements;
  const newer = {
    ...report,
    weather: 'added later',
    requirements: [{ ...first, mood: 'added later' }, ...rows],
  };
  for (const stored of [report, newer]) {
    const read = readReport(t.testdir({ 'report.json': JSON.stringify(stored) }));
    t.equal(render(read, 'html'), render(report, 'html'));
  }
});

t.test('a file that cannot be read is one line that says why', async (t) => {
  const good = conformantReport();
  for (const [text, problem] of [
    [JSON.stringify({ ...good, formatVersion: 2 }), /has format version 2, .* reads 3; run it again, or/],
    [JSON.stringify({ ...good, formatVersion: 9 }), /has format version 9, .* reads 3; use a newer/],
    [JSON.stringify({ ...good, verdict: 'fine' }), /is not a report of petstore-harness: \/verdict/],
    [JSON.stringify({ ...good, run: { ...good.run, startedAt: 'today' } }), /\/run\/startedAt/],
    ['{"formatVersion":"3"}', /no formatVersion/],
    ['{"format', /is not JSON; was it cut off/],
  ] as const) {
    const folder = t.testdir({ 'report.json': text });
    t.throws(() => readReport(folder), { name: 'UsageError', message: problem });
  }
  t.throws(() => readReport(`${t.testdir({})}/nowhere`), { message: /nowhere: no such file/ });
});
