import { readFileSync } from 'node:fs';
import AjvDraft04 from 'ajv-draft-04';
import t from 'tap';
import { FORMATS } from '../formats.ts';
import { hostileReport, UNSEEN_CHARACTER } from '../testing/hostile-report.ts';
import { conformantReport, inconclusiveReport, notConformantReport } from '../testing/sample-reports.ts';

const renderSarif = FORMATS.sarif.render;

/** The OASIS schema of SARIF 2.1.0, as a package of Microsoft's SARIF tools ships it. */
const schema: unknown = JSON.parse(
  readFileSync(
    new URL('lib/schemas/sarif-2.1.0-rtm.5.json', import.meta.resolve('@microsoft/jest-sarif/package.json')),
    'utf8',
  ),
);
if (typeof schema !== 'object' || schema === null) throw new Error('no SARIF schema');
const isSarif = new AjvDraft04.default({
  strict: false,
  allErrors: true,
  validateFormats: false,
  unicodeRegExp: false,
}).compile(schema);

t.test('every run is valid SARIF 2.1.0', async (t) => {
  for (const make of [conformantReport, notConformantReport, inconclusiveReport, hostileReport]) {
    const log: unknown = JSON.parse(renderSarif(make()));
    t.ok(isSarif(log), make.name, { errors: isSarif.errors });
  }
  t.notOk(isSarif({ version: '2.1.0', runs: [{ tool: {} }] }), 'the schema refuses what is no SARIF');
});

t.test('failures are errors with the exchange that proves them', async (t) => {
  const log = JSON.parse(renderSarif(notConformantReport()));
  const [run] = log.runs;
  const of = (id: string) => run.results.find((result: { ruleId: string }) => result.ruleId === id);
  const counted = run.results.map(({ kind }: { kind: string }) => kind).sort();
  t.strictSame(counted, Array(7).fill('fail'));
  const failure = of('error-status-matches');
  t.match(failure, {
    kind: 'fail',
    level: 'error',
    message: { text: /What came back: Error\.status is 200/ },
    webRequest: { method: 'GET', target: 'https://staging.example.com/v1/pets/9223372036854775807' },
    webResponse: { statusCode: 404, body: { text: /"status":200/ } },
  });
  t.equal(run.tool.driver.rules[failure.ruleIndex].id, 'error-status-matches');
  t.match(of('json-well-formed').suppressions, [{ kind: 'external' }]);
  t.equal(of('rate-day-free'), undefined, 'what was skipped is no alert');
  t.match(of('authentication-challenge'), {
    kind: 'fail',
    message: { text: /Pinned: bearer\nObserved: none/ },
  });
  const prints = run.results.map((result: { partialFingerprints: object }) =>
    JSON.stringify(result.partialFingerprints),
  );
  t.equal(new Set(prints).size, prints.length, 'alerts can be told apart');
});

t.test('a run cut short was no successful execution', async (t) => {
  const [run] = JSON.parse(renderSarif(inconclusiveReport())).runs;
  t.match(run.results[0], { kind: 'open', level: 'none', message: { text: /^Not verified: The run was/ } });
  t.match(run.invocations, [
    { executionSuccessful: false, toolExecutionNotifications: [{ level: 'error' }] },
  ]);
  const [good] = JSON.parse(renderSarif(conformantReport())).runs;
  t.match(good, { results: [], invocations: [{ executionSuccessful: true }] });
});

t.test('hostile text is bounded and visible', async (t) => {
  const text = renderSarif(hostileReport());
  t.notMatch(text, UNSEEN_CHARACTER);
  t.ok(text.length < 400_000, `${text.length} characters`);
});
