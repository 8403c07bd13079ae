import t from 'tap';
import { Findings } from '../../run/findings.ts';
import { testRun } from '../../run/testing/test-run.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { answeredPet } from '../../wire/pets.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { answered } from '../../wire/testing/answered.ts';
import { broken } from '../get/testing/retrieved.ts';
import { concluded } from '../testing/judged.ts';
import { listAnimalChecks } from './checks.ts';
import { SETTLED } from './scenes.ts';
import { differences, judgeUnchanged } from './unchanged.ts';

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

/** The same answer at an address that the document does not have. */
const elsewhere = (exchange: AnsweredExchange): AnsweredExchange => ({
  ...exchange,
  request: { ...exchange.request, operation: 'other', path: '/store/orders' },
});

/** What a check says of exchanges in the end. */
function saidBy(id: string, exchanges: readonly Exchange[], readings: readonly RateReading[] = []) {
  const { verdict, reason, evidence } = concluded(testRun().run, listAnimalChecks, id, exchanges, readings);
  return verdict === 'fail' ? [reason, evidence] : 'nothing';
}

/** What list-shows-added says of these exchanges in the end. */
const said = (...exchanges: readonly Exchange[]) => saidBy('list-shows-added', [addition, ...exchanges]);

/** What list-shows-added expected of them. */
const expectedBy = (...exchanges: readonly Exchange[]) =>
  concluded(testRun().run, listAnimalChecks, 'list-shows-added', [addition, ...exchanges]).expected;

t.test('each list of the run shows its animals as they were created', async (t) => {
  t.equal(said(list(2000, [CREATED, OTHER])), 'nothing');
  const changed = CREATED.replace('"categoryId":3', '"categoryId":1');
  t.strictSame(said(list(2000, [CREATED]), list(3000, [changed], '/pets?limit=1')), [
    'categoryId 3 became 1',
    'list at 3000,added',
  ]);
  t.equal(said(list(2000, [OTHER.replace('Rex', 'Max')])), 'nothing', 'of others nothing is known');
  const orders = elsewhere(list(3000, [changed]));
  t.equal(said(orders), 'nothing', 'what is listed elsewhere is no animal');
  t.equal(said(broken(list(3000, [changed]))), 'nothing', 'the connection broke');
});

t.test('what became of an animal is said in its fields', async (t) => {
  const [created, shown] = [CREATED, '{"id":7,"name":"Leo","categoryId":4}'].map((body) =>
    answered({ body }),
  );
  const [before, after] = [created, shown].map((exchange) => exchange && answeredPet(exchange));
  if (created === undefined || shown === undefined || before === undefined || after === undefined)
    throw new Error('there is an animal in each');
  t.strictSame(differences(before, after), [
    'name "Mia" became "Leo"',
    'categoryId 3 became 4',
    'status "sold" became (none)',
  ]);
  const judge = new Findings();
  t.ok(judgeUnchanged(judge, { pet: before, exchange: created }, before, created));
  t.notOk(judge.broken);
  t.notOk(judgeUnchanged(judge, { pet: before, exchange: created }, after, shown));
  t.ok(judge.broken);
});

t.test('an animal that a key listed stays in its lists that have room for it', async (t) => {
  const before = list(2000, [CREATED, OTHER]);
  t.strictSame(said(before, list(60_000, [OTHER])), ['1 animal without it', 'list at 60000,list at 2000']);
  t.strictSame(said(before, list(60_000, [OTHER], '/pets?status=sold')), [
    '1 animal without it',
    'list at 60000,list at 2000',
  ]);
  const ofAnother = [2000, 60_000].map((at) =>
    list(at, at === 2000 ? [CREATED] : [], '/pets?limit=100', 'pro-1'),
  );
  t.strictSame(said(...ofAnother), ['0 animals without it', 'list at 60000,list at 2000'], 'be it another');
  t.match(expectedBy(before, list(60_000, [])), 'animal 7 in the list, as before');
  t.match(expectedBy(list(60_000, [])), /^animal 7 in the list$/);
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
  const settled = addition.receivedAt + SETTLED;
  t.equal(said(list(settled - 1, [OTHER])), 'nothing', 'it may not be served yet');
  t.not(said(list(settled, [OTHER])), 'nothing', 'nobody waits longer');
  t.equal(said(list(60_000, [OTHER], '/pets?limit=1')), 'nothing', 'no room');
  const statusless = {
    ...addition,
    outcome: { ...addition.outcome, body: CREATED.replace(',"status":"sold"', '') },
  };
  t.equal(
    saidBy('list-shows-added', [statusless, list(60_000, [OTHER])]),
    'nothing',
    'where one without a status is listed is another check’s subject',
  );
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
  const both = list(2000, [one, two]);
  t.match(
    concluded(testRun().run, listAnimalChecks, 'list-each-once', [added('added'), both], [rateReading(both)]),
    { verdict: 'fail', expected: 'one animal named "harness-abc one", which was added once' },
  );
  t.equal(says(added('minute:free-1#7'), both), 'nothing', 'of a burst not all is on record');
  t.equal(says(broken(added('added')), both), 'nothing', 'its answer was lost, and it was sent again');
  t.equal(says(added('added'), broken(both)), 'nothing');
  const orders = elsewhere(both);
  t.equal(says(added('added'), orders), 'nothing', 'orders may name the same animal');
  t.equal(says(added('added'), added('again'), list(2000, [one, two])), 'nothing', 'it was sent twice');
  t.equal(says(added('added', 503), list(2000, [one, two])), 'nothing', 'whether it was added nobody knows');
  t.equal(
    says(added('added'), { ...list(2000, [one, two]), session: 2 }),
    'nothing',
    'an addition that was under way when the first process ended may be lost',
  );
  const [mia, another] = [one, two].map((pet) => pet.replace('harness-abc one', 'Mia'));
  t.equal(says(addition, list(2000, [mia ?? '', another ?? ''])), 'nothing', 'others may use any other name');
});
