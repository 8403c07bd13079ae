/** Section 4.3: the body is the animal as it was created or listed. */
import t from 'tap';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import type { Animal, Otherwise } from '../list/testing/listed.ts';
import {
  addition,
  answering,
  broken,
  inTheEnd,
  LIST,
  NOT_FOUND,
  OWN,
  retrieval,
  STORE,
  said,
} from './testing/retrieved.ts';

t.test('the animal is the one that was created or listed', async (t) => {
  const id = 'get-same-animal';
  t.match(await said(id), { verdict: 'pass', evidence: 'retrievals#1,list-all,retrievals#2' });
  const store: readonly Animal[] = [[1], [2, 'sold'], [3]];
  t.match(await said(id, { store, own: OWN, listed: { all: STORE } }), {
    verdict: 'fail',
    expected: 'animal 2 as it was created',
    reason: 'status "pending" became "sold"',
    evidence: 'retrievals#1,added-2',
  });
  const other = answering('/pets/3', { body: '{"id":3,"name":"animal 4","categoryId":1,"status":"sold"}' });
  t.match(await said(id, { otherwise: other }), {
    verdict: 'fail',
    expected: 'animal 3 as it was listed',
    reason: 'name "animal 3" became "animal 4"',
    evidence: 'retrievals#2,list-all',
  });
  for (const parts of [
    { body: '{"id":4,"name":"animal 4","categoryId":1}' },
    { status: 201, body: '{"id":3}' },
    { body: '[]' },
    NOT_FOUND,
  ])
    t.match(
      await said(id, { otherwise: answering('/pets/3', parts) }),
      { verdict: 'pass', evidence: 'retrievals#1,list-all' },
      'what came is another one or none',
    );
});

t.test('somebody else may be changing an animal of theirs all the time', async (t) => {
  const id = 'get-same-animal';
  const shown = (status: string): AnswerParts => ({
    body: `{"id":3,"name":"animal 3","categoryId":1,"status":"${status}"}`,
  });
  const pending = shown('pending');
  const differing = await said(id, { otherwise: answering('/pets/3', pending) });
  t.strictSame(
    [differing.verdict, ...differing.paths.slice(2)],
    ['fail', LIST, '/pets/3', LIST],
    'lists and retrievals go on to differ',
  );
  const list = (...statuses: readonly string[]): AnswerParts => ({
    body: `[${statuses.map((status) => shown(status).body)}]`,
  });
  for (const [why, retrieved, listed] of [
    ['retrievals show it in turn', [pending, shown('available')], [list('sold')]],
    ['it was removed', [pending, NOT_FOUND], [list('sold')]],
    ['it was listed anew', [pending], [list(), list('sold')]],
    ['lists show it as it is now', [pending], [list('pending')]],
    ['lists show it in turn', [pending], [list('sold'), list('available')]],
    ['it is listed no more', [pending], [list()]],
    ['it was listed once more', [pending], [list('sold'), list()]],
  ] as const) {
    const [one, other] = [answering('/pets/3', ...retrieved), answering(LIST, ...listed)];
    const otherwise: Otherwise = (request, number) => one(request, number) ?? other(request, number);
    t.match(await said(id, { otherwise }), { verdict: 'pass', evidence: 'retrievals#1,list-all' }, why);
  }
  t.match(
    await said(id, {
      own: OWN,
      otherwise: answering('/pets/2', {
        body: '{"id":2,"name":"animal 2","categoryId":2,"status":"pending"}',
      }),
    }),
    { verdict: 'fail', reason: 'categoryId 1 became 2', evidence: 'retrievals#1,added-2' },
    'and nobody one of the run’s',
  );
});

t.test('each retrieval shows an animal of the run as it was created', async (t) => {
  const id = 'get-same-animal';
  const renamed = { body: '{"id":7,"name":"Leo","categoryId":1}' };
  t.match(inTheEnd(id, addition(), retrieval(), retrieval({ id: 'renamed', key: 'pro-1', ...renamed })), {
    verdict: 'fail',
    expected: 'animal 7 as it was created',
    reason: 'name "Mia" became "Leo"',
    evidence: 'renamed,added',
  });
  for (const [why, ...exchanges] of [
    ['as it was', addition(), retrieval()],
    ['somebody else’s', retrieval(renamed)],
    ['another operation', addition(), retrieval({ ...renamed, operation: 'listPets' })],
    ['no animal', addition(), retrieval({ ...renamed, status: 404 })],
    ['without an id', addition(), retrieval({ body: '{"name":"Leo"}' })],
    ['the connection broke', addition(), broken(retrieval(renamed))],
  ] as const)
    t.equal(inTheEnd(id, ...exchanges).verdict, 'inconclusive', why);
});
