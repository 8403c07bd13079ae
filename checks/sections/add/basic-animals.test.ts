/** What a run looks at before it adds, and the animals that most checks need. */

import { join } from 'node:path';
import t from 'tap';
import { Journal, readJournal } from '../../run/journal.ts';
import { JOURNAL_HEADER } from '../../run/testing/stored-run.ts';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import type { FailureOutcome } from '../../wire/exchange.ts';
import { listedPets } from '../../wire/pets.ts';
import { answered } from '../../wire/testing/answered.ts';
import { type Animal, animals, type Otherwise } from '../list/testing/listed.ts';
import { outcomeOf } from '../testing/judged.ts';
import {
  basicAnimals,
  categoryOf,
  inLetters,
  knownCategoryId,
  mayAddAnimals,
  mayLackPermission,
  namePrefix,
  refusedPrefix,
  storeSample,
  TWIN,
} from './scenes.ts';
import { addingRun, additionsOf } from './testing/adding.ts';

t.test('the store is looked at before anything is added', async (t) => {
  const looked = async (store: readonly Animal[], mayWrite = true) => {
    const { run, sent } = addingRun(store, undefined, mayWrite ? {} : { permissions: new Set() });
    const { pets } = await outcomeOf(run, storeSample);
    return [pets.length, ...sent.map(({ path }) => path)];
  };
  t.strictSame(await looked(animals(3)), [3, '/pets?limit=100']);
  t.strictSame(
    await looked([]),
    [0, '/pets?limit=100', '/pets?status=available'],
    'how an empty list is answered',
  );
  t.strictSame(
    await looked([
      [1, 'available'],
      [2, 'sold'],
    ]),
    [2, '/pets?limit=100', '/pets?status=pending'],
  );
  t.strictSame(await looked([], false), [0, '/pets?limit=100'], 'nothing comes between');
  const { run } = addingRun([], () => ({ status: 500 }));
  t.strictSame((await outcomeOf(run, storeSample)).pets, []);
});

t.test('animals are of a category that exists, as far as is known', (t) => {
  const known = (body: string, sampleCategoryId?: bigint) => {
    const exchange = answered({ body });
    const sample = { exchange, pets: listedPets(exchange) ?? [] };
    const { run } = testRun(undefined, { sampleCategoryId });
    return [knownCategoryId(run.facts, sample), categoryOf(run.facts, sample)];
  };
  const large = 9_007_199_254_740_993n;
  t.strictSame(known(`[{"id":1,"categoryId":"x"},{"id":2,"categoryId":${large}}]`), [large, large]);
  t.strictSame(known('[{"id":1,"categoryId":0}]'), [0n, 0n]);
  t.strictSame(known('[{"id":1}]'), [undefined, 1n], 'none is listed');
  t.strictSame(known('[{"id":1,"categoryId":3}]', 7n), [7n, 7n], 'the profile names one');
  const { run } = testRun();
  t.equal(categoryOf(run.facts, undefined), 1n, 'the store could not be looked at');
  t.end();
});

/** The basic animals that a run adds, and how. */
async function basic(otherwise?: Otherwise, options: Parameters<typeof addingRun>[2] = {}) {
  const { run, sent } = addingRun(animals(3), otherwise, options);
  const additions = await outcomeOf(run, basicAnimals);
  const posts = run.trace.exchanges.filter(({ request }) => request.operation === 'createPet');
  return {
    additions,
    labels: additions.map(({ label }) => label),
    ids: additions.map(({ pet }) => pet?.id),
    sent: additionsOf(sent),
    bodies: additionsOf(sent).map(({ body }) => body),
    sentAt: posts.map(({ sentAt }) => sentAt - (posts[0]?.sentAt ?? 0)),
    keys: additionsOf(sent).map(payer),
    adds: mayAddAnimals(run.facts, additions),
  };
}

const NAME = 'harness-abcd2345';
const body = (name: string, status?: string) =>
  JSON.stringify({ name: `${NAME} ${name}`, categoryId: 1, status });
const AVAILABLE = body('ava', 'available');
const ANY = body('any');

t.test('one of each status, one without, and one like another', async (t) => {
  const { labels, ids, sent, additions } = await basic();
  t.strictSame(labels, ['available', 'pending', 'sold', 'no-status', TWIN]);
  t.strictSame(ids, [101n, 102n, 103n, 104n, 105n]);
  const [first, otherwise, third, without, twin] = sent;
  t.strictSame(
    [first, third, without, twin].map((request) => request?.body),
    [AVAILABLE, body('sol', 'sold'), ANY, AVAILABLE],
  );
  t.equal(
    otherwise?.body,
    `\n{ "status" : "pending",\r\n\t"name" : "\\u0068arness-abcd2345 pen" ,\n\t"categoryId" : 1 }\n`,
    'as another program writes it',
  );
  t.strictSame(otherwise?.headers, [
    ['content-type', 'application/json; charset=utf-8'],
    ['accept', '*/*'],
  ]);
  t.strictSame(first?.headers, [['content-type', 'application/json']]);
  t.match(additions[1], {
    sent: { name: `${NAME} pen`, categoryId: 1n, status: 'pending' },
    pet: { name: `${NAME} pen` },
  });
  t.match(additions[4], {
    sent: { name: `${NAME} ava`, status: 'available' },
    exchange: { id: 'basic-animals:twin#1' },
  });
});

t.test('the last two at the same moment, with a key that may add', async (t) => {
  const keys = [testKey(), testKey({ name: 'other' })];
  const both = await basic(undefined, { keys });
  t.strictSame(both.sentAt.slice(-2), [30, 30]);
  t.equal(both.keys[3], both.keys[4]);
  const forbidden: Otherwise = (request) =>
    request.operation === 'createPet' && payer(request) === 'free-1'
      ? { status: 403, body: '{}' }
      : undefined;
  t.strictSame((await basic(forbidden, { keys })).keys.slice(-2), ['other', 'other']);
});

t.test('one after the other where the minute may not hold both', async (t) => {
  const [, , , fourth = 0, fifth = 0] = (
    await basic(undefined, { keys: [testKey({ limits: { perMinute: 6, perDay: 100 } })] })
  ).sentAt;
  t.ok(fifth > fourth);
});

/** What is answered to the request that is so-manieth in place of an animal; the fifth is the first of the last two. */
const once =
  (number: number, answer: ReturnType<Otherwise>): Otherwise =>
  (_request, at) =>
    at === number ? answer : undefined;

t.test('of two at the same moment one may be refused or lost', async (t) => {
  const refused = await basic(once(5, { status: 429, headers: [['Retry-After', '1']] }));
  t.strictSame(refused.bodies.slice(3), [ANY, AVAILABLE, ANY], 'refused for its rate it was not added');
  t.match(refused.additions[3], { sent: { name: `${NAME} any` }, pet: { id: 105n } });
  const busy = await basic(once(5, { status: 503 }));
  t.strictSame(busy.bodies.slice(3), [ANY, AVAILABLE, body('b any')], 'a busy target may have added it');
  t.match(busy.additions[3], { sent: { name: `${NAME} b any` }, pet: { name: `${NAME} b any` } });
  const reset: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'the connection was reset' };
  const lost = await basic(once(5, reset));
  t.strictSame(lost.bodies.slice(3), [ANY, AVAILABLE, body('b any')], 'so may one whose answer was lost');
  t.match(lost.additions[3], { label: 'no-status', sent: { name: `${NAME} b any` } });
  const wrong = await basic(once(6, { status: 500 }));
  t.match(
    wrong.additions[4],
    { pet: undefined, exchange: { outcome: { status: 500 } } },
    'any other answer is final',
  );
  t.equal(wrong.bodies.length, 5);
});

t.test('a run adds where it is permitted, and a key is', async (t) => {
  t.equal((await basic()).adds, true);
  const refusing =
    (status: number, from = 0): Otherwise =>
    ({ operation }, number) =>
      operation === 'createPet' && number > from ? { status, body: '{}' } : undefined;
  t.equal((await basic(refusing(403))).adds, false, 'no key is');
  t.equal((await basic(refusing(403, 2))).adds, true, 'one was once');
  t.equal((await basic(refusing(400))).adds, true, 'it may be for the animals');
  const { additions } = await basic();
  t.equal(mayAddAnimals(testRun().run.facts, additions), false, 'without the permission');
  t.equal(mayAddAnimals(addingRun().run.facts, undefined), false, 'nobody knows what became of the first');
});

t.test('an addition is one where 201 came with an animal', async (t) => {
  const added = async (status: number, text: string) =>
    (await basic(once(2, { status, body: text }))).additions[0]?.pet;
  t.match(await added(201, '{"id":7}'), { id: 7n });
  for (const [status, text] of [
    [200, '{"id":7}'],
    [400, '{"id":7}'],
    [201, '{}'],
    [201, '[]'],
  ] as const)
    t.equal(await added(status, text), undefined, `${status} ${text}`);
});

t.test(
  'an addition may have been made though its answer was lost: another one is sent in its place',
  async (t) => {
    const { additions, bodies } = await basic(
      once(2, { kind: 'failure', reason: 'reset', message: 'reset' }),
    );
    const name = `${NAME} b ava`;
    t.match(additions[0], { label: 'available', sent: { name }, pet: { id: 101n, name } });
    t.strictSame(bodies.slice(0, 2), [AVAILABLE, body('b ava', 'available')]);
    t.equal(bodies.at(-1), body('b ava', 'available'), 'the twin is like the one that was added');
  },
);

t.test(
  'a resumed run sends none of them again, and another animal for the one that was cut off',
  async (t) => {
    for (const [killedAt, again] of [
      [4, [body('b sol', 'sold'), ANY, AVAILABLE]],
      [5, [body('b any')]],
    ] as const) {
      const file = join(t.testdir(), 'journal.ndjson');
      const journal = new Journal(file, { ...JOURNAL_HEADER, permissions: ['writes'] }, 1);
      const kill: Otherwise = (_request, number) => {
        if (number === killedAt) throw new Error('killed');
        return undefined;
      };
      const killed = addingRun(animals(3), kill, { journal });
      await t.rejects(killed.run.play(basicAnimals), { message: 'killed' }, `killed at ${killedAt}`);
      journal.close();
      const stored = readJournal(file);
      if (!stored.ok) throw new Error(stored.problem);
      const resumed = addingRun(animals(3), undefined, { stored });
      t.equal((await outcomeOf(resumed.run, basicAnimals)).length, 5, `killed at ${killedAt}`);
      t.strictSame(
        resumed.sent.map((request) => request.body),
        again,
        `killed at ${killedAt}`,
      );
    }
  },
);

t.test('an addition that is forbidden may be for the key, where nothing was added with it', async (t) => {
  const { run } = addingRun([], once(5, { status: 403 }), { keys: [testKey(), testKey({ name: 'other' })] });
  await run.play(basicAnimals);
  for (const [status, key, may] of [
    [403, 'free-1', false],
    [403, 'other', true],
    [400, 'other', false],
  ] as const)
    t.equal(mayLackPermission(answered({ status, key }), run.trace), may, `${status} to ${key}`);
});

t.test('names of a run', (t) => {
  t.equal(namePrefix('x'), 'harness-x');
  t.equal(refusedPrefix('x'), 'harness-x refused');
  for (const [number, letters] of [
    [0, 'a'],
    [25, 'z'],
    [26, 'aa'],
    [51, 'az'],
    [52, 'ba'],
    [701, 'zz'],
    [702, 'aaa'],
  ] as const)
    t.equal(inLetters(number), letters, letters);
  t.end();
});
