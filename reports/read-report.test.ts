import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FORMATS, type Format, NO_SCREEN } from './formats.ts';
import { renderHtml } from './html/html.ts';
import { readReport } from './read-report.ts';
import { hostileReport } from './testing/hostile-report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from './testing/sample-reports.ts';

/** What is read of a folder whose report.json holds this. */
function readBack(t: Test, value: unknown) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return readReport(t.testdir({ 'report.json': text }));
}

t.test('every kind of run is a valid report and survives the file', async (t) => {
  for (const make of [conformantReport, notConformantReport, inconclusiveReport, hostileReport]) {
    const report = make();
    const read = readBack(t, report);
    t.ok(read.ok, make.name, read);
    if (read.ok) t.equal(JSON.stringify(read.report), JSON.stringify(report));
  }
});

t.test('a folder and a file are read alike', async (t) => {
  const dir = t.testdir({ 'report.json': JSON.stringify(conformantReport()) });
  t.match(readReport(dir), { ok: true, file: join(dir, 'report.json') });
  t.match(readReport(join(dir, 'report.json')), { ok: true, report: { verdict: 'conformant' } });
});

t.test('what is no report is refused with the place and the reason', async (t) => {
  const good = conformantReport();
  const refused = (value: unknown) => {
    const read = readBack(t, value);
    return read.ok ? 'accepted' : read.problem;
  };
  t.match(refused('{"formatVersion":'), /not JSON/);
  t.match(refused([]), /not a report of petstore-harness/);
  t.match(refused({ formatVersion: '1' }), /not a report of petstore-harness/);
  t.match(refused({ ...good, formatVersion: 3 }), /format version 3.*newer petstore-harness/);
  t.match(refused({ ...good, verdict: 'green' }), /\/verdict must be equal to one of the allowed values/);
  t.match(
    refused({ ...good, run: { ...good.run, startedAt: 'yesterday' } }),
    /\/run\/startedAt must match format/,
  );
  t.match(refused({ ...good, requests: { total: -1, byKey: {} } }), /\/requests\/total must be >= 0/);
  const [first] = good.exchanges;
  t.match(
    refused({ ...good, exchanges: [{ ...first, sentAt: 1e300 }] }),
    /\/exchanges\/0\/sentAt must be <=/,
  );
});

t.test(
  'a report of an older harness, without the fields that were added since, renders in every format',
  async (t) => {
    // In full, as reports of format version 1 first were: a point for each exchange, nothing that is optional today.
    const {
      run,
      requirements,
      timeline,
      complete: _complete,
      problems: _problems,
      ...rest
    } = notConformantReport();
    const { targetClockSkewMs: _, only: __, interrupted: ___, ...firstRun } = run;
    const old = {
      ...rest,
      formatVersion: 1,
      run: firstRun,
      requirements: requirements.map(
        ({ baselined: _, curl: __, expected: ___, actual: ____, ...row }) => row,
      ),
      timeline: timeline.map(({ at, key, operation, status }) => ({ at, key, operation, status })),
    };
    const read = readBack(t, old);
    if (!read.ok) throw new Error(read.problem);
    for (const [name, { render }] of Object.entries<Format>(FORMATS)) {
      t.match(render(read.report, { history: [read.report], screen: NO_SCREEN }), /\S/, name);
    }
    const picture = renderHtml(read.report);
    const requests = timeline.filter(({ key }) => key === 'pro-1').length;
    t.match(picture, `<b>pro-1</b> pro <span class="quiet">${requests} requests`, 'each point is a request');
  },
);

t.test(
  'a report of version 1: what a permission was missing for was inconclusive, and is skipped',
  async (t) => {
    const { complete: _, problems: __, ...partial } = partialReport();
    const old = {
      ...partial,
      formatVersion: 1,
      verdict: 'inconclusive',
      requirements: partial.requirements.map((row) =>
        row.verdict === 'skipped' ? { ...row, verdict: 'inconclusive' } : row,
      ),
    };
    const read = (report: object) => {
      const parsed = readBack(t, report);
      if (!parsed.ok) throw new Error(parsed.problem);
      return parsed.report;
    };
    t.same(read(old), partialReport());
    t.match(read({ ...old, run: { ...old.run, only: ['add-answers-201'] } }), { complete: false });
    const [first, ...others] = old.requirements;
    const open = { ...first, verdict: 'inconclusive', reason: 'no answer' };
    t.match(read({ ...old, requirements: [open, ...others] }), { verdict: 'inconclusive' });
    t.match(read({ ...old, verdict: 'not-conformant' }), {
      verdict: 'not-conformant',
      problems: [/baseline/],
    });
    const cutShort = { ...old, run: { ...old.run, interrupted: 'SIGTERM' } };
    t.match(read(cutShort), { verdict: 'inconclusive' });
  },
);

t.test('what a newer harness of the same version added is passed over', async (t) => {
  const good = notConformantReport();
  const [point, ...points] = good.timeline;
  const read = readBack(t, {
    ...good,
    weather: 'added later',
    run: { ...good.run, mood: 'added later' },
    timeline: [{ ...point, colour: 'added later' }, ...points],
  });
  if (!read.ok) throw new Error(read.problem);
  for (const [name, { render }] of Object.entries<Format>(FORMATS)) {
    const context = { history: [], screen: NO_SCREEN };
    t.equal(render(read.report, context), render(good, context), name);
  }
});

t.test('a file that cannot be read is one line', async (t) => {
  const dir = t.testdir({});
  const problem = (path: string) => {
    const read = readReport(path);
    return read.ok ? 'read' : read.problem;
  };
  t.match(problem(join(dir, 'nowhere')), /nowhere: no such file/);
  t.match(problem(dir), /report\.json: no such file/);
  mkdirSync(join(dir, 'nested', 'report.json'), { recursive: true });
  t.match(problem(join(dir, 'nested')), /is not a regular file/);
  writeFileSync(join(dir, 'report.json'), Buffer.from([0xff, 0xfe, 0]));
  t.match(problem(dir), /not JSON/);
});
