/** Gaps of section 4.1 that lists show by themselves: further pages, the order, how soon an addition is served. */
import t from 'tap';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import type { FailureOutcome, HeaderList } from '../../wire/exchange.ts';
import { getPet } from '../../wire/requests.ts';
import { answered } from '../../wire/testing/answered.ts';
import { TWIN } from '../add/scenes.ts';
import { observed, played } from '../testing/judged.ts';
import { listAnimalGaps } from './gaps.ts';
import { type Animal, animals, listBody, listsOf, type Own, taken } from './testing/listed.ts';

/** What is seen in lists that a run has taken, at no further request. */
async function seenIn(id: string, lists: unknown, list?: unknown) {
  const { run } = testRun(() => {
    throw new Error('these lists are enough');
  });
  await played(run, 'lists', lists);
  await played(run, 'full-pages', { done: list === undefined ? [] : [[{ list }]], unsettled: [] });
  return observed(run, listAnimalGaps, id);
}

/** What a list that holds the first animal of so many has in its headers. */
function paged(headers: HeaderList, count = 30, status = 200) {
  const body = listBody(animals(count).slice(0, 1));
  const exchange = answered({ id: 'short', path: '/pets?limit=1', status, headers, body });
  const short = { ...taken({ limit: 1 }, status === 200 ? animals(1) : status), exchange };
  return seenIn('pagination-mechanism', listsOf(animals(count)), short);
}

t.test('further pages are announced by a Link, or in headers of the target’s own', async (t) => {
  const next = '</pets?page=2>; rel="next"';
  t.strictSame(await paged([['Link', next]]), {
    answer: 'link-header',
    detail: `a list that is cut short has Link: ${next}`,
    evidence: 'short',
  });
  const own: HeaderList = [
    ['X-Total-Count', '30'],
    ['Content-Type', 'application/json'],
    ['X-Next-Cursor', 'abc'],
    ['X-Total-Count', '30'],
  ];
  t.strictSame(await paged(own), {
    answer: 'x-next-cursor, x-total-count',
    detail: 'a list that is cut short has x-next-cursor, x-total-count',
    evidence: 'short',
  });
  t.strictSame(await paged([['Content-Type', 'application/json']]), {
    answer: 'none',
    detail: 'a list that is cut short names no further page',
    evidence: 'short',
  });
  t.match(await paged([...own, ['Link', next]]), { answer: 'link-header' }, 'the standard before the own');
});

t.test('a Link is read as its standard says', async (t) => {
  const answer = async (...links: readonly string[]) =>
    (await paged(links.map((link) => ['link', link] as const)))?.answer;
  for (const link of [
    '<a>; rel=next',
    '<a>; rel=next; title="b"',
    '<a>;rel="prev"',
    '<a>; title="b"; REL="Last"',
    '<a>; rel = "first"',
    '<a>; rel="start next"',
    '<a>; rel="next archives"',
    '<a>; rel="self", <b>; rel="next"',
  ])
    t.equal(await answer(link), 'link-header', link);
  for (const link of [
    '<a>; rel="self"',
    '<a>; rel="nextfoo"',
    '<a>; rel="x-next"',
    '<a?rel=next>; rel="self"',
    '<a>; title="next"',
    '<a>; rel="self"; title="next"',
  ])
    t.equal(await answer(link), 'none', link);
  t.equal(await answer('<a.css>; rel="preload"', '<b>; rel="next"'), 'link-header', 'be it the second field');
});

t.test('a list that is not cut short need not announce a page', async (t) => {
  const message = 'no list of this run was cut short';
  for (const count of [0, 1]) await t.rejects(paged([], count), { name: 'Unsettled', message });
  await t.rejects(paged([], 30, 500), { message }, 'nor need an error');
  t.match(await paged([], 2), { answer: 'none' });
  t.match(await paged([['Link', '<a>; rel="last"']], 1), { answer: 'link-header' }, 'but may');
});

/** The order of a list in which animals 1 to 3, or these, were added in turn. */
const order = (
  store: readonly Animal[],
  own: readonly Own[] = [{ id: 1 }, { id: 2 }, { id: 3 }],
  all?: number,
) => seenIn('list-order', listsOf(store, own, all === undefined ? {} : { all }));

t.test('animals are listed in the order of adding, the reverse, or another', async (t) => {
  t.strictSame(await order([[1], [2], [3]]), {
    answer: 'oldest-first',
    detail: '3 animals added in turn are listed in that order',
    evidence: 'list-all',
  });
  t.match(await order([[3], [2], [1]]), {
    answer: 'newest-first',
    detail: '3 animals added in turn are listed in the reverse order',
  });
  t.match(await order([[1], [3], [2]]), {
    answer: 'other',
    detail: '3 animals added in turn are listed in another order',
  });
  for (const [answer, ...ids] of [
    ['oldest-first', 9, 1, 8, 2, 3, 7],
    ['newest-first', 9, 3, 2, 8, 1],
    ['other', 2, 1, 3],
    ['other', 2, 3, 1],
    ['other', 3, 1, 2],
    ['other', 9, 2, 3, 1],
  ] as const)
    t.match(await order(ids.map((id) => [id])), { answer }, ids.join());
});

t.test('fewer than three animals, or one that is not there, show no order', async (t) => {
  const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }];
  t.equal(await order([[1], [2]], [one, two]), undefined);
  t.equal(await order([[1], [2]], [one, two, three]), undefined);
  t.equal(await order([[1], [2], [3]], [one, two, three], 500), undefined);
  const twin = { id: 4, label: TWIN };
  t.equal(
    await order([[1], [2], [4]], [one, two, twin]),
    undefined,
    'which of two was added first is not known',
  );
  const store: readonly Animal[] = [[4], [5], [1], [2], [3]];
  t.match(await order(store, [one, two, three, { id: 5 }, twin]), { answer: 'oldest-first' });
});

t.test('how soon an addition is served shows where a list has it', async (t) => {
  const id = 'added-visibility';
  const own: readonly Own[] = [{ id: 3, sent: 'sold' }];
  const atOnce = {
    answer: 'at-once',
    detail: 'no added animal was missing from a whole list',
    evidence: 'list-all',
  };
  t.strictSame(await seenIn(id, listsOf(animals(9), own)), atOnce);
  t.strictSame(
    await seenIn(id, listsOf(animals(150), [{ id: 129, sent: 'sold' }])),
    atOnce,
    'be it a filter',
  );
  t.strictSame(await seenIn(id, { ...listsOf(animals(9), own), shownLater: true }), {
    ...atOnce,
    answer: 'later',
    detail: 'an added animal was missing from a whole list and shown by a later one',
  });
  t.equal(await seenIn(id, listsOf(animals(9))), undefined, 'nothing was added');
  t.equal(await seenIn(id, listsOf(animals(9), [...own, { id: 10 }])), undefined, 'one is missing');
  t.equal(
    await seenIn(id, listsOf(animals(400), [{ id: 399, sent: 'sold' }])),
    undefined,
    'no list has room',
  );
});

/** The codes that are seen where a target answers so, one after the other. */
async function codes(...answers: readonly (readonly [status: number, body: string] | FailureOutcome)[]) {
  const { run } = testRun((_, number) => {
    const answer = answers[number - 1];
    if (answer === undefined) return {};
    return 'kind' in answer ? answer : { status: answer[0], body: answer[1] };
  });
  const probe = run.probe('earlier');
  for (const _ of answers) await probe.attempt(getPet(7n), testKey());
  return observed(run, listAnimalGaps, 'error-codes');
}

t.test('codes of errors are those that any error of the run had', async (t) => {
  t.strictSame(
    await codes([404, '{"code":"not_found"}'], [400, '{"code":"bad"}'], [404, '{"code":"not_found"}']),
    {
      answer: '400 bad, 404 not_found',
      detail: 'seen: 400 bad, 404 not_found',
      evidence: 'earlier#3,earlier#2',
    },
  );
  t.match(await codes([404, '{"code":"bad"}'], [400, '{"code":"bad"}']), { answer: '400 bad, 404 bad' });
  t.match(
    await codes([400, '{"code":"a"}'], [400, '{"code":"b"}'], [400, '{"code":"c"}'], [400, '{"code":"d"}']),
    {
      answer: '400 a, 400 b, 400 c, 400 d',
      evidence: /^earlier#1,earlier#2,earlier#3$/,
    },
  );
  const long = 'x'.repeat(100);
  t.match(await codes([500, `{"code":"${long}"}`]), { answer: `500 ${long}` });
});

t.test('what is no code of an error is left out', async (t) => {
  for (const [why, answer] of [
    ['no error', [200, '{"code":"fine"}']],
    ['a number', [400, '{"code":400}']],
    ['nothing', [400, '{}']],
    ['no object', [400, '["code"]']],
    ['null', [400, 'null']],
    ['no JSON', [502, '<html>']],
    ['a text rather than a code', [400, `{"code":"${'x'.repeat(101)}"}`]],
    ['no answer', { kind: 'failure', reason: 'reset', message: 'the connection was reset' }],
  ] as const)
    t.equal(await codes(answer), undefined, why);
});
