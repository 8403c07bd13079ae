/** Sections 2 and 4.1: a list is a 200 with an array of animals, each of them once, looked at as it comes. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { seen } from '../testing/judged.ts';
import { listAnimalChecks } from './checks.ts';
import { type Animal, animalBody, listBody } from './testing/listed.ts';

/** What is said of one answer. */
const said = (id: string, parts: AnswerParts) =>
  seen(testRun().run, listAnimalChecks, id, [answered({ id: 'list', ...parts })]);

const refusal = (status: number, path = '/pets'): AnswerParts => ({ status, path, body: '{}' });

t.test('a list is answered with 200 and an array', async (t) => {
  const id = 'list-answers-200';
  for (const path of ['/pets', '/pets?limit=5', '/pets?status=sold&limit=5'])
    t.match(said(id, { path, body: '[{"id":1}]' }), { verdict: 'pass', evidence: 'list' });
  t.match(said(id, { body: '{"pets":[]}' }), {
    verdict: 'fail',
    expected: 'a JSON array',
    reason: 'JSON, but not an array',
    evidence: 'list',
  });
  for (const status of [201, 204, 404, 500])
    t.match(said(id, { status, path: '/pets?limit=5' }), {
      verdict: 'fail',
      expected: '200 with a JSON array',
      reason: new RegExp(`^${status} `),
      evidence: 'list',
    });
});

t.test('a refusal of what was asked for, or of the key, is no answer to a list', async (t) => {
  const id = 'list-answers-200';
  for (const status of [400, 413, 414, 422]) {
    t.match(
      said(id, refusal(status)),
      { verdict: 'fail' },
      'where nothing was asked for there is nothing to refuse',
    );
    for (const path of ['/pets?limit=5', '/pets?status=sold', '/pets?limit=5&status=sold'])
      t.equal(said(id, refusal(status, path)).verdict, 'inconclusive', `${status} to ${path}`);
  }
  for (const status of [401, 403, 429])
    t.equal(said(id, refusal(status)).verdict, 'inconclusive', `${status}`);
  t.equal(said(id, { ...refusal(500), id: 'ban:free-1#1' }).verdict, 'inconclusive', 'a ban');
});

t.test('other answers are not judged as lists', async (t) => {
  const id = 'list-answers-200';
  for (const [why, parts] of [
    ['no list of the document', refusal(500, '/pets?limit=0')],
    ['without a valid key', { ...refusal(500), key: null }],
    ['another operation', { operation: 'getPet', path: '/pets/1', body: '{}' }],
    ['what is no JSON is another check’s subject', { body: '<html>' }],
  ] as const)
    t.equal(said(id, parts).verdict, 'inconclusive', why);
});

t.test('one animal is listed once', async (t) => {
  const id = 'list-each-once';
  const list = (...listed: readonly Animal[]) => said(id, { body: listBody(listed) });
  t.match(list([1], [2], [3]), { verdict: 'pass', evidence: 'list' });
  t.equal(list().verdict, 'pass');
  t.match(list([1], [2], [3], [2]), {
    verdict: 'fail',
    expected: 'each animal once',
    reason: 'animal 2 twice in one list',
    evidence: 'list',
  });
  const large = 2n ** 53n;
  t.equal(list([large], [large + 1n]).verdict, 'pass', 'they differ in a digit that a double loses');
  const unreadable = said(id, { body: '[{"name":"Mia"},{"name":"Leo"},{"id":1}]' });
  t.equal(unreadable.verdict, 'pass', 'what has no id is not the same animal');
  t.equal(said(id, refusal(500)).verdict, 'inconclusive');
  t.equal(said(id, { body: '[1,1]' }).verdict, 'inconclusive', 'they are no animals');
});

t.test('listed animals have the fields of a Pet', async (t) => {
  const id = 'list-pet-schema';
  t.match(said(id, { body: listBody([[1, 'sold'], [2]]) }), { verdict: 'pass', evidence: 'list' });
  t.equal(said(id, { body: '[]' }).verdict, 'inconclusive', 'an empty list shows none');
  t.match(said(id, { body: '['.repeat(501) + ']'.repeat(501) }), {
    verdict: 'inconclusive',
    reason: /^the harness cannot read 200 /,
  });
  for (const wrong of [
    '{"id":1,"categoryId":1}',
    '{"id":"1","name":"Mia","categoryId":1}',
    '{"id":1,"name":"Mia","categoryId":1,"status":"lost"}',
    '5',
  ])
    t.match(
      said(id, { body: `[${animalBody([2])},${wrong}]` }),
      {
        verdict: 'fail',
        expected: 'Pets: id, name, categoryId and, where present, a status',
        reason: /1/,
        evidence: 'list',
      },
      wrong,
    );
  for (const [why, parts] of [
    ['another operation', { operation: 'other', path: '/store/orders', body: '[{"id":"a"}]' }],
    ['an error', { status: 500, body: '[{"id":"a"}]' }],
    ['no JSON', { body: '[{"id":"a"' }],
    ['no array', { body: '{"id":"a"}' }],
  ] as const)
    t.equal(said(id, parts).verdict, 'inconclusive', why);
});
