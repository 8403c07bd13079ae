import { parse, type TestCase } from 'junit2json';
import t from 'tap';
import { FORMATS } from '../formats.ts';
import type { Report } from '../report.ts';
import { hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from '../testing/sample-reports.ts';

const renderJunit = FORMATS.junit.render;

/** What a JUnit reader makes of a report. */
async function read(report: Report) {
  const suites = await parse(renderJunit(report));
  if (!suites || !('testsuite' in suites) || suites.testsuite === undefined)
    throw new Error('no suites were read');
  const cases = suites.testsuite.flatMap((suite) => suite.testcase ?? []);
  const named = (id: string): TestCase | undefined => cases.find(({ name }) => name?.startsWith(`${id}:`));
  return { suites, cases, named };
}

t.test('a reader counts the failures and shows their messages', async (t) => {
  const { suites, cases, named } = await read(notConformantReport());
  t.equal(suites.failures, 6, 'five requirements and one drifted answer');
  t.equal(suites.errors, 0, 'what was skipped is no error');
  t.equal(cases.filter(({ failure }) => failure !== undefined).length, suites.failures);
  t.equal(cases.filter(({ error }) => error !== undefined).length, suites.errors);
  t.equal(cases.length, suites.tests);
  const [failure] = named('error-status-matches')?.failure ?? [];
  t.equal(
    failure?.message,
    'The field status of the Error is 200 where the response is 404; asked for: Error.status is 404, the HTTP status of the response',
    'what came and what was asked, on the line that pipelines show',
  );
  t.match(failure?.inner, 'What came back: Error.status is 200, the HTTP status of the response is 404');
  t.match(failure?.inner, /Repeat it with: curl -i -H "Authorization: Bearer \$PETSTORE_FREE_KEY"/);
  t.match(failure?.inner, /\nGET \/pets\/9223372036854775807\n\nHTTP 404\n[\s\S]*"status":200/, 'the proof');
  t.match(named('rate-day-free')?.skipped, [{ message: 'needs the permission day' }]);
  t.match(named('json-well-formed')?.skipped, [{ message: /Known failure/ }]);
  t.equal(named('json-well-formed')?.failure, undefined, 'a baselined failure does not gate');
  t.match(named('authentication-challenge')?.failure, [
    { message: /^answers none, the profile pins bearer \(.*used to answer "bearer"/, type: 'drift' },
  ]);
});

t.test('the suites are the sections, in the order of the document', async (t) => {
  const { suites } = await read(conformantReport());
  const names = suites.testsuite?.map(({ name }) => name);
  t.match(names?.slice(0, 3), ['The run', '1 What the service does', '2 Resources and their fields']);
  t.equal(names?.at(-1), 'Pinned answers to what the document leaves open');
  for (const suite of suites.testsuite ?? [])
    t.equal(suite.tests, suite.testcase?.length, `${suite.name} counts its cases`);
});

t.test('green if and only if the run is conformant', async (t) => {
  const reds = async (report: Report) => {
    const { suites } = await read(report);
    return (suites.failures ?? 0) + (suites.errors ?? 0);
  };
  const good = conformantReport();
  t.equal(await reds(good), 0);
  t.equal(await reds(partialReport()), 0, 'nothing broken, the rest skipped');
  t.ok(await reds(inconclusiveReport()));
  t.ok(await reds({ ...good, verdict: 'inconclusive', requirements: [] }), 'nothing ran');
  t.ok(
    await reds({ ...good, verdict: 'inconclusive', run: { ...good.run, interrupted: 'SIGTERM' } }),
    'cut short',
  );
  t.ok(await reds({ ...good, verdict: 'not-conformant' }), 'for a reason that no requirement shows');
});

t.test('hostile text is text', async (t) => {
  const xml = renderJunit(hostileReport());
  t.notMatch(xml, UNSEEN_CHARACTER, 'nothing that XML 1.0 or a reader trips on');
  t.notMatch(xml, '<script');
  t.ok(xml.length < 200_000, `${xml.length} characters`);
  const { suites, named } = await read(hostileReport());
  t.equal(suites.failures, 6);
  t.match(named('error-status-matches')?.failure?.[0]?.inner, '<script>window.pwned = 1</script>');
});
