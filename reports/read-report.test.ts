import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hostileReport } from './fixtures/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from './fixtures/sample-reports.ts';
import { parseReport, readReport } from './read-report.ts';

t.test('every kind of run is a valid report and survives the file', async (t) => {
  for (const make of [conformantReport, notConformantReport, inconclusiveReport, hostileReport]) {
    const report = make();
    const read = parseReport(JSON.stringify(report));
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
    const read = parseReport(typeof value === 'string' ? value : JSON.stringify(value));
    return read.ok ? 'accepted' : read.problem;
  };
  t.match(refused('{"formatVersion":'), /not JSON/);
  t.match(refused([]), /no report of petstore-harness/);
  t.match(refused({ formatVersion: '1' }), /no report of petstore-harness/);
  t.match(refused({ ...good, formatVersion: 2 }), /format version 2.*newer petstore-harness/);
  t.match(refused({ ...good, verdict: 'green' }), /\/verdict must be equal to one of the allowed values/);
  t.match(refused({ ...good, secret: 1 }), /additional properties.*"secret"/);
  t.match(
    refused({ ...good, run: { ...good.run, startedAt: 'yesterday' } }),
    /\/run\/startedAt must match format/,
  );
  t.match(
    refused({ ...good, run: { ...good.run, keys: [{ name: 'a', plan: 'free', roles: [], value: 's' }] } }),
    /"value"/,
  );
  t.match(refused({ ...good, requests: { total: -1, byKey: {} } }), /\/requests\/total must be >= 0/);
  const [first] = good.exchanges;
  t.match(
    refused({ ...good, exchanges: [{ ...first, sentAt: 1e300 }] }),
    /\/exchanges\/0\/sentAt must be <=/,
  );
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
  t.match(problem(join(dir, 'nested')), /is a folder/);
  writeFileSync(join(dir, 'report.json'), Buffer.from([0xff, 0xfe, 0]));
  t.match(problem(dir), /not JSON/);
});
