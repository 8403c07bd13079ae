import { allure2 } from '@allurereport/reader';
import { BufferResultFile, type RawTestResult, type ResultsVisitor } from '@allurereport/reader-api';
import t from 'tap';
import { allureResults } from './allure.ts';
import { loadOutcome } from './load/load-outcome.ts';
import { checkRun, type TestRun } from './test-run.ts';
import { hostileReport, UNSEEN_CHARACTER } from './testing/hostile-report.ts';
import { loadResult } from './testing/sample-load.ts';
import { inconclusiveReport, notConformantReport } from './testing/sample-reports.ts';

/** What Allure's reader makes of a run. */
async function read(run: TestRun) {
  const tests: RawTestResult[] = [];
  const metadata: object[] = [];
  const refused = async () => void t.fail('the reader found something that it should not');
  const visitor: ResultsVisitor = {
    visitTestResult: async (test) => void tests.push(test),
    visitMetadata: async (found) => void metadata.push(found),
    visitCheckResult: refused,
    visitMetrics: refused,
    visitTestFixtureResult: refused,
    visitAttachmentFile: refused,
    visitGlobals: refused,
  };
  for (const [file, text] of await allureResults(run))
    if (!(await allure2.read(visitor, new BufferResultFile(Buffer.from(text), file)))) t.fail(file);
  const named = (id: string) => tests.find(({ fullName }) => fullName?.endsWith(`.${id}`));
  const statuses = new Map<string | undefined, number>();
  for (const { status } of tests) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return { tests, metadata, named, statuses };
}

t.test('a reader sees a test for each requirement, failures with what proves them', async (t) => {
  const run = checkRun(notConformantReport());
  const { tests, metadata, named, statuses } = await read(run);
  t.equal(tests.length, run.cases.length + 1);
  t.equal(statuses.get('failed'), 6, 'five requirements and one drifted answer');
  t.equal(statuses.get('broken'), undefined);
  t.match(named('error-status-matches'), {
    status: 'failed',
    message: /^The field status of the Error is 200/,
    trace:
      /The document asks: [\s\S]*Repeat it with: curl [\s\S]*\nGET \/pets\/9223372036854775807\n\nHTTP 404\n/,
    labels: [
      { name: 'parentSuite', value: 'Pet Store interface' },
      { name: 'suite', value: '2 Resources and their fields' },
    ],
  });
  t.match(named('rate-day-free'), { status: 'skipped', message: 'needs the permission day' });
  t.match(named('json-well-formed'), { status: 'skipped', message: /Known failure/ });
  t.match(named('run'), { status: 'passed' });
  t.match(JSON.stringify(metadata), 'https://staging.example.com/v1');
});

t.test('what could not be told is no skip, and neither is a run cut short', async (t) => {
  const { named, statuses } = await read(checkRun(inconclusiveReport()));
  t.match(named('run'), { status: 'broken', message: /ended early/ });
  t.ok((statuses.get('broken') ?? 0) > 1);
});

t.test('the history of a requirement is one, and a run rendered again is itself', async (t) => {
  const run = checkRun(notConformantReport());
  const later = { ...run, run: { ...run.run, startedAt: '2026-12-24T12:00:00.000Z' } };
  t.same([...(await allureResults(run)).keys()], [...(await allureResults(run)).keys()]);
  const [before, after] = [await read(run), await read(later)];
  const history = ({ named }: typeof before) => named('list-limit-range')?.historyId;
  t.ok(history(before));
  t.equal(history(before), history(after));
  t.not(before.named('list-limit-range')?.uuid, after.named('list-limit-range')?.uuid);
});

t.test('a load, and hostile text', async (t) => {
  const { statuses } = await read(loadOutcome(loadResult()));
  t.equal(statuses.get('failed'), 1);
  for (const text of (await allureResults(checkRun(hostileReport()))).values())
    t.notMatch(text, UNSEEN_CHARACTER);
});

t.test('without the library it says how to get it', async (t) => {
  const absent = () => import(String('allure-that-is-not-there'));
  await t.rejects(allureResults(checkRun(notConformantReport()), absent), {
    message: 'the format allure needs a package of its own: npm install --save-dev allure-js-commons',
  });
  const defect = () => Promise.reject(new Error('a defect'));
  await t.rejects(allureResults(checkRun(notConformantReport()), defect), { message: 'a defect' });
});
