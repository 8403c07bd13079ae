/** The animals with values at the edges, and those that fill a page. */
import t from 'tap';
import { NO_KEY_MAY_ADD } from '../../run/sending/functional-keys.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { answered } from '../../wire/testing/answered.ts';
import { type Animal, animals, type Otherwise } from '../list/testing/listed.ts';
import { outcomeOf } from '../testing/judged.ts';
import {
  type Addition,
  ANY_SCRIPT,
  addedInTurn,
  basicAnimals,
  createdAnimals,
  DECOMPOSED,
  edgeAnimals,
  enoughAnimals,
  storeSample,
} from './scenes.ts';
import { addingRun, additionsOf } from './testing/adding.ts';

const NAME = 'harness-abcd2345';

/** The edge animals of a run, and what was sent for them. */
async function edge() {
  const { run, sent } = addingRun(animals(3));
  const scene = await outcomeOf(run, edgeAnimals);
  return { scene, bodies: additionsOf(sent).map(({ body = '' }) => body) };
}

t.test('ten animals, in the order in which they are sent: seven together, then three in turn', async (t) => {
  const { scene, bodies } = await edge();
  const all = Object.values(scene);
  t.strictSame(
    addedInTurn(all).map(({ label }) => label),
    ['long-name', 'own-id', 'unknown-field'],
  );
  t.strictSame(
    all.map(({ pet }) => pet?.id),
    Array.from({ length: 10 }, (_, index) => BigInt(101 + index)),
  );
  t.strictSame(
    all.map(({ sent }) => [sent.categoryId, sent.status]),
    [
      [1n, 'sold'],
      [1n, 'available'],
      [2n ** 53n + 1n, 'pending'],
      [-(2n ** 63n) + 1n, 'pending'],
      [0n, 'pending'],
      [2n ** 63n - 1n, 'pending'],
      [scene.unknownCategory.sent.categoryId, 'pending'],
      [1n, 'sold'],
      [1n, 'available'],
      [1n, 'pending'],
    ],
  );
  t.strictSame(
    all.map(({ label }) => label),
    [
      'any-script',
      'spaced',
      ...all.slice(2, 7).map(({ sent }) => `category-${sent.categoryId}`),
      'long-name',
      'own-id',
      'unknown-field',
    ],
  );
  t.strictSame((await edge()).bodies, bodies, 'the same whenever the run is resumed');
});

t.test('their names', async (t) => {
  const { scene, bodies } = await edge();
  const { anyScript, spaced, beyondDouble, negative, zero, largest, unknownCategory } = scene;
  const { longName, ownId, unknownField } = scene;
  const name = ({ sent }: Addition) => sent.name;
  t.equal(name(anyScript), `${NAME} ${ANY_SCRIPT}`);
  t.equal(name(spaced), `  ${NAME}\t${DECOMPOSED}\r\n `);
  t.not(DECOMPOSED, DECOMPOSED.normalize('NFC'));
  t.match(name(longName), new RegExp(`^${NAME} long (abcdefghij)+a`));
  t.equal(name(longName)?.length, 255);
  const [big, digits, nothing, veryLong] = [beyondDouble, negative, zero, largest].map(name);
  t.equal(big, `${NAME} big`);
  t.match(digits, /^0[1-9]\d{11}$/, 'it looks like a number');
  t.equal(nothing, 'null');
  t.match(veryLong, new RegExp(`^${NAME} very long (abcdefghij)+[a-i]*\\0end$`));
  t.equal(veryLong?.length, 1104);
  t.equal(name(unknownCategory), `${NAME} new`);
  t.equal(name(ownId), `${NAME} own`);
  t.equal(name(unknownField), `${NAME} odd`);
  for (const text of ['\\/%20', '\\ud83e\\udd9c', '&amp;'])
    t.ok(bodies[0]?.includes(text), `${text}, which JSON allows`);
  t.notOk(bodies[0]?.includes('🦜'));
  t.equal(anyScript.pet?.name, name(anyScript));
});

t.test('what else is at the edge of them', async (t) => {
  const { scene, bodies } = await edge();
  const { categoryId = 0n } = scene.unknownCategory.sent;
  t.ok(categoryId >= 10n ** 8n && categoryId < 2n ** 31n, 'a category that hardly exists');
  const { sent, pet } = scene.ownId;
  const { id: sentId = 0n } = sent;
  t.ok(sentId >= 10n ** 16n && sentId < 10n ** 17n, 'an id that the target would not give');
  t.equal(pet?.id, 109n);
  t.match(bodies[8], `{"id":${sentId},"name":"${NAME} own","categoryId":1`);
  t.match(bodies[9], '"harnessNote":"not a field of NewPet"');
});

/** All animals of a run. */
async function enough(store: readonly Animal[], otherwise?: Otherwise) {
  const { run } = addingRun(store, otherwise);
  const additions = await outcomeOf(run, enoughAnimals);
  const filled = additions.filter(({ label }) => label.startsWith('filler-'));
  return {
    run,
    additions,
    filled: filled.length,
    names: filled.map(({ sent }) => sent.name),
    statuses: filled.map(({ sent }) => sent.status),
  };
}

t.test('a store with few animals is filled up to one more than the default page', async (t) => {
  const empty = await enough([]);
  t.strictSame(
    empty.names,
    ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${NAME} f${letter}`),
  );
  t.strictSame(empty.statuses, ['available', 'pending', 'sold', 'available', 'pending', 'sold']);
  t.ok(empty.additions.every(({ sent }) => sent.categoryId !== undefined));
  t.equal(empty.additions.length, 21);
  for (const [stored, filled] of [
    [5, 1],
    [6, 0],
    [30, 0],
  ] as const)
    t.equal((await enough(animals(stored))).filled, filled, `${stored} animals`);
  const refusing =
    (from: number): Otherwise =>
    ({ operation }, number) =>
      operation === 'createPet' && number > from && number < 19 ? { status: 400 } : undefined;
  // Two lists come before the basic animals, and one after them.
  t.equal((await enough([], refusing(8))).filled, 16, 'what was not created is not there');
  t.equal((await enough([], refusing(2))).filled, 0, 'where nothing is created nothing more is tried');
});

t.test('they come in the order of adding', async (t) => {
  const { run } = addingRun([]);
  await run.play(edgeAnimals);
  const additions = await outcomeOf(run, enoughAnimals);
  t.strictSame(
    additions.map(({ pet }) => pet?.id),
    Array.from({ length: 21 }, (_, index) => BigInt(101 + index)),
  );
  t.equal(additions[0]?.label, 'any-script');
});

t.test('no more is spent than the bill says', async (t) => {
  const { run, additions } = await enough([]);
  const spent = (sender: string) => run.trace.exchanges.filter(({ sentBy }) => sentBy === sender).length;
  for (const { id, requests } of [storeSample, basicAnimals, edgeAnimals]) t.equal(spent(id), requests, id);
  t.ok(spent(enoughAnimals.id) <= (enoughAnimals.requests ?? 0));
  const bill = [basicAnimals, edgeAnimals, enoughAnimals].map(({ animals = 0 }) => animals);
  t.equal(
    additions.length,
    bill.reduce((sum, animals) => sum + animals),
  );
});

t.test('nothing of it without the permission', async (t) => {
  const { run, sent } = addingRun([], undefined, { permissions: new Set() });
  for (const scene of [basicAnimals, edgeAnimals, enoughAnimals])
    await t.rejects(outcomeOf<unknown>(run, scene), { message: 'needs the permission writes' }, scene.id);
  t.strictSame(sent, []);
});

t.test('nothing more is tried where no key may add', async (t) => {
  const forbidding =
    (from: number): Otherwise =>
    ({ operation }, number) =>
      operation === 'createPet' && number > from ? { status: 403, body: '{}' } : undefined;
  const { run, sent } = addingRun(animals(3), forbidding(0));
  await run.play(basicAnimals);
  const tried = sent.length;
  await t.rejects(outcomeOf(run, edgeAnimals), { message: NO_KEY_MAY_ADD });
  t.equal(sent.length, tried);
  const once = addingRun(animals(3), forbidding(2));
  await once.run.play(basicAnimals);
  t.match((await outcomeOf(once.run, edgeAnimals)).ownId.exchange.outcome, { status: 403 }, 'one was added');
});

t.test('what the additions of a run created', (t) => {
  const addition = (id: string, parts: Parameters<typeof answered>[0] = {}) =>
    answered({
      id,
      operation: 'createPet',
      method: 'POST',
      status: 201,
      body: `{"id":7,"name":"${id}"}`,
      ...parts,
    });
  const created = (...exchanges: readonly Exchange[]) =>
    [...createdAnimals(exchanges)].map(([id, { pet, exchange }]) => [id, pet.name, exchange.id]);
  const eight = addition('b', { body: '{"id":8,"name":"b"}' });
  t.strictSame(created(addition('a'), eight), [
    [7n, 'a', 'a'],
    [8n, 'b', 'b'],
  ]);
  t.strictSame(
    created(addition('a'), eight, addition('c')),
    [[8n, 'b', 'b']],
    'an id that came twice is nobody’s',
  );
  const failed: Exchange = { ...eight, outcome: { kind: 'failure', reason: 'reset', message: 'reset' } };
  for (const exchange of [
    addition('a', { status: 200 }),
    addition('a', { operation: 'getPet' }),
    addition('a', { body: '{}' }),
    addition('a', { body: '[]' }),
    failed,
  ])
    t.strictSame(created(exchange), [], 'nothing else creates one');
  t.end();
});
