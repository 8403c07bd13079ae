/** Gaps of section 4.1: what a target makes of a limit or a status that the document does not allow. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { observed, played } from '../testing/judged.ts';
import { listAnimalGaps } from './gaps.ts';
import { type Animal, animals, listBody, listsOf } from './testing/listed.ts';

/** What a target makes of a limit: how many animals it lists; the status of a refusal; what it answers with 200. */
type Made = (limit: string) => number | { readonly status: number } | { readonly body: string };

/** What is seen of a target with such a store, which the lists of the run may not have shown. */
async function seenOf(
  id: string,
  store: readonly Animal[],
  made: Made,
  listed: Parameters<typeof listsOf>[2] = {},
) {
  const { run, sent } = testRun(({ path }) => {
    const answer = made(new URL(path, 'http://target').searchParams.get('limit') ?? '');
    return typeof answer === 'number' ? { body: listBody(store.slice(0, answer)) } : answer;
  });
  await played(run, 'lists', listsOf(store, [], listed));
  return { ...(await observed(run, listAnimalGaps, id)), paths: sent.map(({ path }) => path) };
}

const EVERYTHING = 1000;
const clamps: Made = (limit) => Math.max(1, Math.min(100, Number(limit)));
const refuses = (): { readonly status: number } => ({ status: 400 });

/** Refuses 0, and makes something else of 101. */
const unlessZero =
  (made: Made): Made =>
  (limit) =>
    limit === '0' ? refuses() : made(limit);

t.test('a limit below 1 and one above 100 are answered alike, or each in its way', async (t) => {
  const id = 'limit-out-of-range';
  t.strictSame(await seenOf(id, animals(150), clamps), {
    answer: 'clamped',
    detail: 'limit=0: clamped, limit=101: clamped',
    evidence: 'limits-out-of-range#1,limits-out-of-range#2',
    paths: ['/pets?limit=0', '/pets?limit=101'],
  });
  t.match(await seenOf(id, animals(150), unlessZero(clamps)), {
    answer: '0-rejected-400 101-clamped',
    detail: 'limit=0: rejected-400, limit=101: clamped',
  });
  for (const [answer, made, ...counts] of [
    ['rejected-400', refuses, 0, 1, 30, 400],
    ['clamped', clamps, 2, 20, 21, 99, 100, 101, 400],
    ['defaulted', () => 20, 21, 99, 100, 400],
    ['empty-list', () => 0, 1, 20, 400],
    ['ignored', () => EVERYTHING, 21, 99, 100, 400],
    ['ignored', () => 50, 60, 400],
    ['no-list', () => ({ body: '{}' }), 0, 30],
    ['0-rejected-400 101-ignored', unlessZero(() => EVERYTHING), 101, 400],
    ['0-empty-list 101-ignored', Number, 400],
    ['0-rejected-422 101-rejected-400', (limit) => (limit === '0' ? { status: 422 } : refuses()), 30],
  ] as readonly (readonly [string, Made, ...number[]])[])
    for (const count of counts)
      t.equal((await seenOf(id, animals(count), made)).answer, answer, `${answer} of ${count}`);
});

t.test(
  'a store may be too small to tell, and then no answer is named that might have been another',
  async (t) => {
    const id = 'limit-out-of-range';
    for (const [made, count, message] of [
      [() => 20, 20, 'a store of 20 animals cannot tell defaulted from ignored'],
      [clamps, 1, 'a store of 1 animal cannot tell clamped from defaulted from ignored'],
      [() => 0, 0, 'a store of 0 animals cannot tell clamped from defaulted from empty-list from ignored'],
      [unlessZero(clamps), 30, 'a store of 30 animals cannot tell clamped from ignored'],
      [unlessZero(() => 20), 20, 'a store of 20 animals cannot tell clamped from defaulted from ignored'],
    ] as const)
      await t.rejects(seenOf(id, animals(count), made), { name: 'Unsettled', message });
  },
);

t.test('animals that others add meanwhile are no answer of the target', async (t) => {
  const grown: Made = (limit) => (limit === '0' ? 1 : { body: listBody(animals(31)) });
  t.equal((await seenOf('limit-out-of-range', animals(30), grown)).answer, 'clamped');
  t.equal(
    (await seenOf('limit-not-a-number', animals(30), () => ({ body: listBody(animals(31)) }))).answer,
    'ignored',
  );
});

t.test('the size of the store is what its lists show together', async (t) => {
  const id = 'limit-out-of-range';
  const store = animals(60);
  const partly = { all: store.slice(0, 25) };
  t.equal((await seenOf(id, store, () => EVERYTHING, partly)).answer, 'ignored');
  const refused = { all: 500 };
  await t.rejects(seenOf(id, store, clamps, refused), { message: /^the longest list was answered 500/ });
  t.equal((await seenOf(id, store, refuses, refused)).answer, 'rejected-400', 'a refusal tells by itself');
  const withoutIds = Array.from({ length: 21 }, (_, index): Animal => [2n ** 64n + BigInt(index)]);
  t.equal((await seenOf(id, withoutIds, () => 20)).answer, 'defaulted', 'whether they have ids or not');
});

t.test('a limit that is no number', async (t) => {
  const id = 'limit-not-a-number';
  t.strictSame(await seenOf(id, animals(30), refuses), {
    answer: 'rejected-400',
    detail: 'limit=ten: 400 without a media type, 2 bytes',
    evidence: 'limit-not-a-number#1',
    paths: ['/pets?limit=ten'],
  });
  for (const [answer, made, ...counts] of [
    ['defaulted', () => 20, 21, 400],
    ['ignored', () => EVERYTHING, 21, 400],
    ['ignored', () => 10, 21],
    ['ignored', () => 1, 21],
    ['empty-list', () => 0, 1, 400],
    ['no-list', () => ({ body: '{}' }), 30],
  ] as readonly (readonly [string, Made, ...number[]])[])
    for (const count of counts)
      t.equal((await seenOf(id, animals(count), made)).answer, answer, `${answer} of ${count}`);
  await t.rejects(
    seenOf(id, animals(20), () => 20),
    {
      message: 'a store of 20 animals cannot tell defaulted from ignored',
    },
  );
});

t.test('a status that the document does not have', async (t) => {
  const id = 'unknown-status-filter';
  t.strictSame(await seenOf(id, animals(30), refuses), {
    answer: 'rejected-400',
    detail: 'status=unheard-of: 400 without a media type, 2 bytes',
    evidence: 'unknown-status#1',
    paths: ['/pets?status=unheard-of'],
  });
  t.equal((await seenOf(id, animals(1), () => 0)).answer, 'empty-list');
  t.equal((await seenOf(id, animals(30), () => 0, { all: 500 })).answer, 'empty-list');
  for (const count of [1, 20]) t.equal((await seenOf(id, animals(30), () => count)).answer, 'unfiltered');
  await t.rejects(
    seenOf(id, [], () => 0),
    { name: 'Unsettled', message: /^the store is empty/ },
  );
  await t.rejects(
    seenOf(id, animals(30), () => ({ body: '{}' })),
    { name: 'Unsettled', message: /^the answer is not a list: 200/ },
  );
});
