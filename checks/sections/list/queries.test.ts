/** Which lists the document speaks of: those with a limit from 1 to 100 and one of three statuses, or without. */
import t from 'tap';
import { answered } from '../../wire/testing/answered.ts';
import { allowedQuery, isOwnAnswer, pets } from './queries.ts';

t.test('limit and status of a list that the document allows', async (t) => {
  for (const [path, asked] of [
    ['/pets', {}],
    ['/pets?limit=1', { limit: 1 }],
    ['/pets?limit=100', { limit: 100 }],
    ['/pets?limit=%32%31', { limit: 21 }],
    ['/pets?status=sold', { status: 'sold' }],
    ['/pets?status=pending&limit=7', { limit: 7, status: 'pending' }],
  ] as const)
    t.strictSame(allowedQuery(answered({ path })), asked, path);
});

t.test('of any other list the document says nothing', async (t) => {
  for (const path of [
    '/pets?limit=0',
    '/pets?limit=101',
    '/pets?limit=-1',
    '/pets?limit=1.0',
    '/pets?limit=0x10',
    '/pets?limit=1e1',
    '/pets?limit=',
    '/pets?limit=0020',
    '/pets?limit=ten',
    '/pets?status=',
    '/pets?status=Sold',
    '/pets?status=unheard-of&limit=5',
    '/pets?status=sold&limit=0',
  ])
    t.equal(allowedQuery(answered({ path })), undefined, path);
  t.equal(allowedQuery(answered({ operation: 'createPet', method: 'POST' })), undefined, 'an addition');
  t.equal(allowedQuery(answered({ key: null })), undefined, 'without a valid key it is to be refused');
});

t.test('a refusal for the key is no answer to what was asked', async (t) => {
  for (const status of [401, 403, 429]) t.notOk(isOwnAnswer(answered({ status })), `${status}`);
  for (const status of [200, 400, 404, 422, 500]) t.ok(isOwnAnswer(answered({ status })), `${status}`);
  t.notOk(isOwnAnswer(answered({ id: 'ban:free-1#3', status: 400 })), 'a ban may have any status');
});

t.test('animals in words', async (t) => {
  t.strictSame([0, 1, 2].map(pets), ['0 animals', '1 animal', '2 animals']);
});
