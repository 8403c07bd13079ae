import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import type { Entry } from 'har-format';
import t from 'tap';
import { FORMATS } from './formats.ts';
import { noBrowser, startBrowser } from './testing/browser.ts';
import { hostileReport, UNSEEN_CHARACTER } from './testing/hostile-report.ts';
import { sampleExchange } from './testing/sample-exchanges.ts';
import { conformantReport, notConformantReport } from './testing/sample-reports.ts';

const renderHar = FORMATS.har.render;

/** The published schema of HAR 1.2, in parts. */
const schemas: Record<string, AnySchema> = createRequire(import.meta.url)('har-schema');
const ajv = new Ajv({ strict: false, validateFormats: false }).addMetaSchema(draft06);
for (const schema of Object.values(schemas)) ajv.addSchema(schema);

const isHar = (text: string) => ajv.validate('har.json#', JSON.parse(text));
const entries = (text: string): Entry[] => JSON.parse(text).log.entries;

t.test('every run is valid HAR 1.2', async (t) => {
  for (const make of [conformantReport, notConformantReport, hostileReport])
    t.ok(isHar(renderHar(make())), make.name, { errors: ajv.errors });
  t.notOk(isHar('{"log":{"version":"1.2"}}'), 'the schema refuses what is no HAR');
});

t.test('every exchange as it was, in the order of sending', async (t) => {
  const report = notConformantReport();
  const read = entries(renderHar({ ...report, exchanges: report.exchanges.toReversed() }));
  t.equal(read.length, report.exchanges.length);
  const times = read.map(({ startedDateTime }) => startedDateTime);
  t.same(times, times.toSorted());
  const proof = read.find(({ comment }) => comment?.endsWith(', breaks error-status-matches'));
  t.match(proof, {
    time: 7,
    request: { method: 'GET', url: 'https://staging.example.com/v1/pets/9223372036854775807' },
    response: { status: 404, content: { text: /"status":200/ } },
  });
  t.match(renderHar(report), '"Bearer <free-1>"');
  const posted = sampleExchange(
    'addition#1',
    1,
    'free-1',
    { operation: 'createPet', method: 'POST', path: '/pets?a=1&b=%20', body: '{"name":"Ōkami"}' },
    { status: 201, body: '{}' },
  );
  t.match(entries(renderHar({ ...report, exchanges: [posted] })), [
    {
      request: {
        queryString: [
          { name: 'a', value: '1' },
          { name: 'b', value: ' ' },
        ],
        postData: { mimeType: 'application/json', text: '{"name":"Ōkami"}' },
        bodySize: 17,
      },
    },
  ]);
});

t.test('hostile text is not seen, and not changed', async (t) => {
  const report = hostileReport();
  const text = renderHar(report);
  t.notMatch(text, UNSEEN_CHARACTER);
  const sent = report.exchanges.map(({ outcome }) =>
    outcome.kind === 'response' ? outcome.body : undefined,
  );
  const read = entries(text).map(({ response }) => response.content.text);
  t.same(new Set(read), new Set(sent));
  t.ok(entries(text).some(({ response }) => response.status === 0));
});

t.test('a browser replays it', { skip: noBrowser() }, async (t) => {
  const browser = await startBrowser();
  t.teardown(() => browser.close());
  const report = notConformantReport();
  const file = join(t.testdir({}), FORMATS.har.file);
  writeFileSync(file, renderHar(report));
  const context = await browser.newContext();
  await context.routeFromHAR(file, { notFound: 'abort' });
  const page = await context.newPage();
  const answer = await page.goto(`${report.run.target}/pets/9223372036854775807`);
  t.equal(answer?.status(), 404);
  t.match(await answer?.text(), /"status":200/);
});
