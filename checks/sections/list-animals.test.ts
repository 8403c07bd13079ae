import t from 'tap';
import type { Exchange } from '../harness/exchange.ts';
import { answered } from '../harness/exchange-for-tests.ts';
import { type RateReading, rateReading } from '../harness/rate-headers.ts';
import { testRun } from '../harness/run-for-tests.ts';
import { concluded } from './judged-for-tests.ts';
import { listAnimalChecks } from './list-animals.ts';

const CREATED = '{"id":7,"name":"Mia","categoryId":3,"status":"sold"}';
const OTHER = '{"id":1,"name":"Rex","categoryId":2,"status":"sold"}';
const addition = answered({
  id: 'added',
  operation: 'createPet',
  method: 'POST',
  path: '/pets',
  status: 201,
  body: CREATED,
  sentAt: 1000,
  receivedAt: 1010,
});

function list(sentAt: number, animals: readonly string[], path = '/pets?limit=100', key = 'free-1') {
  return answered({
    id: `list at ${sentAt}`,
    path,
    key,
    body: `[${animals.join(',')}]`,
    sentAt,
    receivedAt: sentAt + 10,
  });
}

/** What a check says of exchanges in the end. */
function saidBy(id: string, exchanges: readonly Exchange[], readings: readonly RateReading[] = []) {
  const { verdict, reason, evidence } = concluded(testRun().run, listAnimalChecks, id, exchanges, readings);
  return verdict === 'fail' ? [reason, evidence] : 'nothing';
}

/** What list-shows-added says of these exchanges in the end. */
const said = (...exchanges: readonly Exchange[]) => saidBy('list-shows-added', [addition, ...exchanges]);

t.test('each list of the run shows its animals as they were created', async (t) => {
  t.equal(said(list(2000, [CREATED, OTHER])), 'nothing');
  const changed = CREATED.replace('"categoryId":3', '"categoryId":1');
  t.strictSame(said(list(2000, [CREATED]), list(3000, [changed], '/pets?limit=1')), [
    'categoryId 3 became 1',
    'list at 3000,added',
  ]);
  t.equal(said(list(2000, [OTHER.replace('Rex', 'Max')])), 'nothing', 'of others nothing is known');
});

t.test('an animal that a key listed stays in its lists that have room for it', async (t) => {
  const before = list(2000, [CREATED, OTHER]);
  t.strictSame(said(before, list(60_000, [OTHER])), ['1 animal without it', 'list at 60000,list at 2000']);
  t.strictSame(said(before, list(60_000, [OTHER], '/pets?status=sold')), [
    '1 animal without it',
    'list at 60000,list at 2000',
  ]);
});

t.test('no list need show it that has no room, another filter, another key, or comes at once', async (t) => {
  const before = list(2000, [CREATED, OTHER]);
  for (const [why, later] of [
    ['no room', list(60_000, [OTHER], '/pets?limit=1')],
    ['another status', list(60_000, [], '/pets?status=pending')],
    ['another key', list(60_000, [OTHER], '/pets?limit=100', 'pro-1')],
    ['at once', list(5000, [OTHER])],
    ['no list of the document', list(60_000, [], '/pets?status=unheard-of')],
  ] as const)
    t.equal(said(before, later), 'nothing', why);
  t.equal(said(list(60_000, [OTHER], '/pets?limit=100', 'pro-1')), 'nothing', 'never listed with this key');
});

t.test('what a key added is in its lists that have room for it, once it was time to be served', async (t) => {
  t.strictSame(said(list(60_000, [OTHER])), ['1 animal without it', 'list at 60000,added']);
  t.strictSame(said(list(60_000, [], '/pets?status=sold')), ['0 animals without it', 'list at 60000,added']);
  t.equal(said(list(5000, [OTHER])), 'nothing', 'it may not be served yet');
  t.equal(said(list(60_000, [OTHER], '/pets?limit=1')), 'nothing', 'no room');
});

t.test('an addition leaves one animal', async (t) => {
  const one = '{"id":7,"name":"harness-abc one","categoryId":3}';
  const two = one.replace('7', '8');
  const added = (id: string, status = 201) =>
    answered({
      id,
      operation: 'createPet',
      method: 'POST',
      path: '/pets',
      requestBody: '{"name":"harness-abc one","categoryId":3}',
      status,
      body: one,
      sentAt: 1000,
      receivedAt: 1010,
    });
  const says = (...exchanges: readonly Exchange[]) => saidBy('list-each-once', exchanges);
  t.strictSame(says(added('added'), list(2000, [OTHER, one, two])), [
    'animals 7 and 8 in one list',
    'list at 2000,added',
  ]);
  t.equal(says(added('added'), list(2000, [OTHER, one])), 'nothing');
  t.equal(says(added('added'), added('again'), list(2000, [one, two])), 'nothing', 'it was sent twice');
  t.equal(says(added('added', 503), list(2000, [one, two])), 'nothing', 'whether it was added nobody knows');
  const resumed = { ...rateReading(addition), resumed: true } as const;
  t.equal(
    saidBy('list-each-once', [added('added'), list(2000, [one, two])], [resumed]),
    'nothing',
    'another addition may be lost',
  );
  const [mia, another] = [one, two].map((pet) => pet.replace('harness-abc one', 'Mia'));
  t.equal(says(addition, list(2000, [mia ?? '', another ?? ''])), 'nothing', 'others may use any other name');
});
