/** Sections 1 and 9: the version in the address, the label of bodies, JSON itself, and paths beyond the document. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import type { HeaderList } from '../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { billOfGap } from '../testing/bill.ts';
import { judged, observed, seen } from '../testing/judged.ts';
import { serviceChecks, serviceGaps } from './checks.ts';

t.test('the version is a segment of the base address', async (t) => {
  for (const [baseUrl, verdict] of [
    ['https://staging.example.com/v1', 'pass'],
    ['https://staging.example.com/shop/v1', 'pass'],
    ['https://staging.example.com', 'fail'],
    ['https://staging.example.com/v2', 'fail'],
    ['https://staging.example.com/v10', 'fail'],
    ['https://v1.example.com/shop', 'fail'],
  ] as const) {
    const { run, sent } = testRun(undefined, { baseUrl });
    const said = await judged(run, serviceChecks, 'version-path-segment');
    t.equal(said.verdict, verdict, baseUrl);
    if (verdict === 'fail') {
      t.match(said.reason, baseUrl);
      t.match(said.expected, '/v1');
    }
    t.equal(sent.length, 0, 'nothing is asked for it');
  }
});

const { run } = testRun();
const said = (id: string, answer: AnswerParts) =>
  seen(run, serviceChecks, id, [answered({ id: 'answer', ...answer })]);
const labelled = (...types: readonly string[]): HeaderList => types.map((type) => ['Content-Type', type]);

t.test('a JSON body is labelled application/json, whatever the status', async (t) => {
  for (const [types, verdict, reason] of [
    [['application/json'], 'pass'],
    [['application/json; charset=utf-8'], 'pass'],
    [['Application/JSON ;charset=UTF-8'], 'pass'],
    [['application/json', 'application/json; charset=utf-8'], 'pass'],
    [[], 'fail', 'no Content-Type'],
    [['text/html'], 'fail', 'Content-Type: text/html'],
    [['application/problem+json'], 'fail', 'Content-Type: application/problem+json'],
    [
      ['application/json', 'text/plain'],
      'fail',
      'Content-Type: application/json and Content-Type: text/plain',
    ],
    [
      ['text/plain', 'application/json'],
      'fail',
      'Content-Type: text/plain and Content-Type: application/json',
    ],
  ] as const)
    for (const status of [200, 401, 500]) {
      const body = '{"code":"a","message":"b","status":500}';
      t.match(
        said('media-type-json', { status, body, headers: labelled(...types) }),
        {
          verdict,
          evidence: 'answer',
          ...(reason === undefined ? {} : { reason, expected: 'Content-Type: application/json' }),
        },
        `${status} with ${types.join(' and ')}`,
      );
    }
});

t.test('what is no JSON needs no such label', async (t) => {
  for (const body of ['', '<html>', '{"code":'])
    t.equal(said('media-type-json', { body, headers: labelled('text/html') }).verdict, 'inconclusive', body);
});

t.test('a success carries one JSON text in UTF-8', async (t) => {
  for (const status of [200, 201]) {
    t.match(
      said('json-well-formed', { status, body: '{"id":1}' }),
      { verdict: 'pass', evidence: 'answer' },
      `${status}`,
    );
    for (const answer of [
      { body: '' },
      { body: '{"id":1' },
      { body: '[] []' },
      { body: '[]', bodyProblem: 'invalid-utf8' },
    ] as const)
      t.match(
        said('json-well-formed', { status, ...answer }),
        {
          verdict: 'fail',
          expected: /JSON text in UTF-8/,
          reason: new RegExp(`^${status} .*: .`),
          evidence: 'answer',
        },
        `${status} with ${answer.body}`,
      );
  }
  for (const status of [204, 400, 404, 500])
    t.equal(said('json-well-formed', { status, body: '<html>' }).verdict, 'inconclusive', `not a ${status}`);
});

t.test('a body that the harness cannot read may be JSON', async (t) => {
  t.match(said('json-well-formed', { body: '['.repeat(501) + ']'.repeat(501) }), {
    verdict: 'inconclusive',
    reason: /^the harness cannot read 200 .*: is nested deeper than 500 levels$/,
    evidence: 'answer',
  });
  t.match(said('json-well-formed', { body: '?', bodyProblem: 'unknown-encoding' }), {
    verdict: 'inconclusive',
    reason: /^the harness cannot read 200 .*: unknown-encoding$/,
  });
});

/** What is said of the answer to a path that the document does not have, and what was asked. */
async function answerOf(id: string, answer: AnswerParts) {
  const { run, sent } = testRun(() => answer);
  const gap = await observed(run, serviceGaps, id);
  return { ...gap, asked: sent.map(({ operation, method, path }) => `${operation} ${method} ${path}`) };
}

t.test('whether there are store orders', async (t) => {
  for (const [status, answer] of [
    [200, 'present'],
    [404, 'absent'],
    [501, 'answered-501'],
  ] as const)
    t.match(
      await answerOf('store-orders', { status }),
      {
        answer,
        detail: new RegExp(`/store/orders: ${status}`),
        evidence: 'store-orders#1',
        asked: ['other GET /store/orders'],
      },
      `${status}`,
    );
});

t.test('how an unknown path is answered', async (t) => {
  const error = '{"code":"not_found","message":"no such path","status":404}';
  for (const [status, body, answer] of [
    [404, error, 'not-found-404-error-body'],
    [404, '{"error":"Not Found"}', 'not-found-404-other-body'],
    [404, 'Not Found', 'not-found-404-other-body'],
    [404, '', 'not-found-404-other-body'],
    [400, error.replace('404', '400'), 'answered-400-error-body'],
    [200, '[]', 'answered-200-other-body'],
  ] as const)
    t.match(
      await answerOf('unknown-path', { status, body }),
      {
        answer,
        detail: new RegExp(`: ${status} `),
        // Store orders that are not found have such a path.
        ...(status === 404
          ? { evidence: 'store-orders#1', asked: ['other GET /store/orders'] }
          : { evidence: 'unknown-path#1', asked: ['other GET /store/orders', /^other GET \/no-such/] }),
      },
      `${status} ${body}`,
    );
});

t.test('each of the two costs one request', async (t) => {
  for (const gap of serviceGaps)
    t.strictSame(billOfGap(gap), { requests: gap.id === 'unknown-path' ? 2 : 1, animals: 0 }, gap.id);
});
