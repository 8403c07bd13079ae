import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildReport } from './build-report.ts';
import { FORMATS } from './formats.ts';
import { readReport } from './report.ts';
import { conformantReport, notConformantReport } from './testing/sample-reports.ts';
import { writePrivately, writeReports } from './write-reports.ts';

const NAMES = [
  'report.json',
  ...Object.values(FORMATS).flatMap(({ file, written }) => (written ? [file] : [])),
];

/** What the README says of a folder of results. */
const PROMISED = 'report.html report.json junit.xml results.sarif results.tap summary.md badge.json'.split(
  ' ',
);

t.test('every format is written, private, and report.json is read back', async (t) => {
  const dir = join(t.testdir(), 'new', 'results');
  const built = await writeReports(notConformantReport(), dir);
  t.equal(JSON.stringify(built), JSON.stringify(buildReport(notConformantReport())));
  for (const name of NAMES) t.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name);
  t.equal(statSync(dir).mode & 0o777, 0o700);
  t.strictSame(readdirSync(dir).sort(), [...NAMES].sort(), 'no temporary file is left');
  for (const file of PROMISED) t.ok(NAMES.includes(file), file);
  t.same(readReport(dir), notConformantReport());
});

t.test('a second run replaces the first, also where files of it were readable by others', async (t) => {
  const dir = t.testdir({ 'report.json': 'old', 'junit.xml': 'old' });
  chmodSync(join(dir, 'report.json'), 0o644);
  await writeReports(conformantReport(), dir);
  t.match(readReport(dir), { verdict: 'conformant' });
  t.equal(statSync(join(dir, 'report.json')).mode & 0o777, 0o600);
});

t.test('what stood there before survives a failed write', async (t) => {
  const dir = t.testdir({ 'report.json': 'old' });
  const broken = { ...conformantReport() };
  Object.defineProperty(broken, 'gaps', { get: () => [1n] });
  await t.rejects(async () => writeReports(broken, dir));
  t.equal(readFileSync(join(dir, 'report.json'), 'utf8'), 'old');
  await writePrivately(join(dir, 'report.json'), 'new');
  t.equal(readFileSync(join(dir, 'report.json'), 'utf8'), 'new');
});
