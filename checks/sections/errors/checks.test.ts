/** Sections 2 and 7: every error response has an Error body, whose status is the response's. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { answered } from '../../wire/testing/answered.ts';
import { seen } from '../testing/judged.ts';
import { errorBodyChecks } from './checks.ts';

const { run } = testRun();
/** What a check says of one answer with this status and body. */
const judged = (id: string, status: number, body: string) =>
  seen(run, errorBodyChecks, id, [
    answered({ id: 'answer', status, body, headers: [['Content-Type', 'application/json']] }),
  ]);
const error = (status: number | string) => `{"code":"a","message":"b","status":${status}}`;

t.test('every error status has an Error body', async (t) => {
  for (const [id, status] of [
    ['error-body-400', 400],
    ['error-body-401', 401],
    ['error-body-404', 404],
    ['error-body-429', 429],
    ['error-body-other', 403],
    ['error-body-other', 415],
    ['error-body-other', 500],
  ] as const) {
    t.match(judged(id, status, error(status)), { verdict: 'pass', evidence: 'answer' }, `${status}`);
    for (const [body, problem] of [
      ['', /^\d{3} with an empty body: is empty/],
      ['<html>', /^\d{3} application\/json, 6 bytes: /],
      ['[]', /object/],
      ['{"message":"b","status":400}', /code/],
      ['{"code":"a","status":400}', /message/],
      ['{"code":"a","message":"b"}', /status/],
      ['{"code":7,"message":"b","status":400}', /^code is not a string/],
      [error('"400"'), /^status is not an integer/],
      [error('400.5'), /^status is not an integer/],
    ] as const)
      t.match(
        judged(id, status, body),
        { verdict: 'fail', expected: /code, message and status/, reason: problem, evidence: 'answer' },
        `${status} ${body}`,
      );
  }
});

t.test('a body that the harness cannot read may be an Error', async (t) => {
  t.match(judged('error-body-404', 404, '['.repeat(501) + ']'.repeat(501)), {
    verdict: 'inconclusive',
    reason: /^the harness cannot read 404 /,
    evidence: 'answer',
  });
});

t.test('a check of one status is not about another', async (t) => {
  t.equal(judged('error-body-404', 400, '').verdict, 'inconclusive', 'a 404 is still to come');
  t.equal(judged('error-body-other', 404, '').verdict, 'not-applicable', 'no other error has to occur');
  t.equal(judged('error-body-other', 200, '[]').verdict, 'not-applicable', 'nor is a success one');
});

t.test('the status in an Error body is the response’s', async (t) => {
  const id = 'error-status-matches';
  for (const [status, body, expected] of [
    [404, error(404), 'pass'],
    [400, error(400), 'pass'],
    [404, error('404.0'), 'pass'],
    [404, error(400), 'fail'],
    [400, error(404), 'fail'],
    [404, error('404.5'), 'inconclusive'],
    [404, error('"400"'), 'inconclusive'],
    [404, '<html>', 'inconclusive'],
    [404, '[400]', 'inconclusive'],
    [404, '{}', 'inconclusive'],
    [200, error(404), 'inconclusive'],
  ] as const)
    t.equal(judged(id, status, body).verdict, expected, `${status} with ${body}`);
  t.match(judged(id, 404, error(400)), {
    expected: 'status 404 in the body of a 404',
    reason: 'status 400 in the body of a 404',
    evidence: 'answer',
  });
});
