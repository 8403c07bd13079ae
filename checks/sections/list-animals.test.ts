import t from 'tap';
import { answered } from '../harness/exchange-for-tests.ts';
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

/** What list-shows-added says of these exchanges in the end. */
function said(...exchanges: readonly ReturnType<typeof list>[]) {
  const { verdict, reason, evidence } = concluded(testRun().run, listAnimalChecks, 'list-shows-added', [
    addition,
    ...exchanges,
  ]);
  return verdict === 'fail' ? [reason, evidence] : 'nothing';
}

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
  t.equal(said(list(60_000, [OTHER])), 'nothing', 'never listed with this key');
});
