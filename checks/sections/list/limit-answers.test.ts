/** Section 4.1, limit: which limits are taken, and how many animals a list may hold at most, in each list as it comes. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { seen } from '../testing/judged.ts';
import { listLimitChecks } from './limits.ts';
import { animals, listBody } from './testing/listed.ts';

/** What is said of one list that holds so many animals. */
const said = (id: string, path: string, count: number, parts: AnswerParts = {}) =>
  seen(testRun().run, listLimitChecks, id, [
    answered({ id: 'list', path, body: listBody(animals(count)), ...parts }),
  ]);

t.test('a limit from 1 to 100 is taken', async (t) => {
  const id = 'list-limit-range';
  for (const limit of [1, 20, 100])
    t.match(said(id, `/pets?limit=${limit}`, 0), { verdict: 'pass', evidence: 'list' });
  for (const status of [400, 413, 414, 422])
    t.match(
      said(id, '/pets?limit=7', 0, { status, body: '{}' }),
      { verdict: 'fail', expected: '200 for limit=7', reason: new RegExp(`^${status} `), evidence: 'list' },
      `${status} refuses it`,
    );
  t.equal(said(id, '/pets?limit=7&status=sold', 0, { status: 400 }).verdict, 'fail', 'also beside a status');
});

t.test('another answer tells nothing of the limit', async (t) => {
  const id = 'list-limit-range';
  for (const status of [401, 403, 404, 429, 500, 503])
    t.equal(said(id, '/pets?limit=7', 0, { status }).verdict, 'inconclusive', `${status}`);
  for (const path of ['/pets', '/pets?status=sold', '/pets?limit=0', '/pets?limit=101']) {
    t.equal(said(id, path, 0).verdict, 'inconclusive', path);
    t.equal(said(id, path, 0, { status: 400 }).verdict, 'inconclusive', `${path} refused`);
  }
  t.equal(said(id, '/pets?limit=7', 0, { id: 'ban:free-1#1', status: 400 }).verdict, 'inconclusive');
});

t.test('a list holds no more animals than its limit', async (t) => {
  const id = 'list-limit-maximum';
  t.equal(said(id, '/pets?limit=3', 2).verdict, 'pass');
  t.match(said(id, '/pets?limit=3', 3), { verdict: 'pass', evidence: 'list' });
  t.match(said(id, '/pets?limit=3', 4), {
    verdict: 'fail',
    expected: 'at most 3 animals with limit=3',
    reason: '4 animals',
    evidence: 'list',
  });
  for (const [why, path, parts] of [
    ['no limit', '/pets', {}],
    ['no limit of the document', '/pets?limit=0', {}],
    ['no list', '/pets?limit=3', { body: '{}' }],
    ['refused', '/pets?limit=3', { status: 429 }],
  ] as const)
    t.equal(said(id, path, 4, parts).verdict, 'inconclusive', why);
});

t.test('nor more than 20 without one', async (t) => {
  const id = 'list-limit-default';
  for (const path of ['/pets', '/pets?status=sold'])
    t.match(said(id, path, 21), {
      verdict: 'fail',
      expected: 'at most 20 animals without limit',
      reason: '21 animals',
      evidence: 'list',
    });
  t.equal(said(id, '/pets', 20).verdict, 'inconclusive', 'whether there are more is not seen');
  for (const [why, path, parts] of [
    ['another limit', '/pets?limit=30', {}],
    ['no status of the document', '/pets?status=lost', {}],
    ['no list', '/pets', { status: 500 }],
  ] as const)
    t.equal(said(id, path, 21, parts).verdict, 'inconclusive', why);
});
