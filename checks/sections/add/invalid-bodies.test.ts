/** Section 4.2: with which keys an addition is sent that is to be refused. */
import t from 'tap';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import type { FailureOutcome } from '../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { judged, played } from '../testing/judged.ts';
import { invalidAnimalChecks } from './invalid-bodies.ts';

const KEYS = [
  testKey(),
  testKey({ name: 'pro-1', plan: 'pro' }),
  testKey({ name: 'free-2' }),
  testKey({ name: 'ban', roles: ['ban'] }),
];

/** What is said where additions are answered so, and who paid for which request. */
async function said(
  answers: (key: string | null, body?: string) => AnswerParts | FailureOutcome,
  keys = KEYS,
  id = 'add-rejects-name-type',
) {
  const { run, sent } = testRun(
    (request) => (request.method === 'POST' ? answers(payer(request), request.body) : {}),
    { keys, permissions: new Set(['writes'] as const), sampleCategoryId: 3n },
  );
  const exchange = answered({ id: 'sample', key: 'free-1' });
  await played(run, 'store-sample', { exchange, pets: [] });
  const { verdict, reason } = await judged(run, invalidAnimalChecks, id);
  const payers = sent.map((request) => `${request.method} ${payer(request)}`);
  return { verdict, reason, payers };
}

const refused = { status: 400 };

t.test('a name that is no string is refused on every key that pays, the other bodies on one', async (t) => {
  const { verdict, payers } = await said(() => refused);
  t.equal(verdict, 'pass');
  t.strictSame(payers, ['POST pro-1', 'POST free-2', 'POST free-1', 'POST free-1', 'POST free-1']);
  t.strictSame(
    (await said(() => refused, KEYS, 'add-rejects-status-type')).payers,
    Array.from({ length: 4 }, () => 'POST free-1'),
  );
  t.strictSame(
    (await said(() => refused, [testKey()])).payers,
    Array.from({ length: 5 }, () => 'POST free-1'),
    'one key pays no more than before',
  );
});

t.test('what only one of them is answered is found', async (t) => {
  for (const status of [201, 401, 422, 500]) {
    const { verdict, reason } = await said((key) => (key === 'free-2' ? { status } : refused));
    t.equal(verdict, 'fail', `${status}`);
    t.match(reason, new RegExp(`^${status}`), `${status}`);
  }
});

t.test('a key that may not add leaves its addition to another one', async (t) => {
  const { verdict, payers } = await said((key) => (key === 'pro-1' ? { status: 403 } : refused));
  t.equal(verdict, 'pass');
  t.strictSame(payers.slice(5), ['GET pro-1', 'POST free-1'], 'a list tells it from a ban');
  t.equal((await said(() => ({ status: 403 }))).verdict, 'inconclusive', 'no key may add');
  t.strictSame(
    (await said(() => ({ status: 403 }), [testKey()], 'add-rejects-missing-name')).payers,
    ['POST free-1', 'POST free-1', 'GET free-1', 'GET free-1'],
    'and where there is one key it is asked once a body',
  );
});

t.test('a body at which the connection breaks each time is not answered with 400', async (t) => {
  const reset = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;
  const emptyBroken = (times: number) => {
    let broken = 0;
    return said(
      (_key, body) => (body === '' && ++broken <= times ? reset : refused),
      [testKey()],
      'add-rejects-empty-body',
    );
  };
  t.match(await emptyBroken(Number.POSITIVE_INFINITY), {
    verdict: 'fail',
    reason: 'no answer: the connection was reset, each time',
  });
  t.match(await emptyBroken(4), { verdict: 'pass' }, 'it was answered in the end');
  t.match(await emptyBroken(1), { verdict: 'pass' }, 'once is an accident');
  const gateway = { ...reset, reason: 'unavailable' } as const;
  t.match(
    await said((_key, body) => (body === '' ? gateway : refused), [testKey()], 'add-rejects-empty-body'),
    { verdict: 'inconclusive' },
    'a gateway answers for itself',
  );
  t.match(
    await said(() => reset, [testKey()], 'add-rejects-empty-body'),
    { verdict: 'inconclusive', reason: /each time/ },
    'where no addition is answered, something on the way may let none through',
  );
  const late = { ...reset, reason: 'headers-timeout' } as const;
  t.match(
    await said((_key, body) => (body === '' ? late : refused), [testKey()], 'add-rejects-empty-body'),
    { verdict: 'inconclusive' },
    'no answer in time may be a slow network',
  );
});
