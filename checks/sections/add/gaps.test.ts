/** Sections 2 and 4.2: what is said of targets that answer additions in their own ways, where the document is silent. */
import t from 'tap';
import { answered } from '../../wire/testing/answered.ts';
import type { Otherwise } from '../list/testing/listed.ts';
import { billOfGap } from '../testing/bill.ts';
import { observed, played } from '../testing/judged.ts';
import { addAnimalGaps } from './gaps.ts';
import { addingRun, additionsOf } from './testing/adding.ts';

/** Answers additions with such a body otherwise. */
const adding =
  (pattern: RegExp, status: number, body = '{}'): Otherwise =>
  (request) =>
    request.operation === 'createPet' && pattern.test(request.body ?? '') ? { status, body } : undefined;

/** What is said of such a target, and the bodies that show it. */
async function saidOf(id: string, otherwise?: Otherwise) {
  const { run, sent } = addingRun([[1, 'sold']], otherwise);
  const said = await observed(run, addAnimalGaps, id);
  const shownBy = said?.evidence.split(',').map((exchange) => run.trace.find(exchange)?.request.body ?? '');
  return { answer: said?.answer, detail: said?.detail, shownBy, last: additionsOf(sent).at(-1) };
}

/** By gap: the bodies that ask, and the answer where they are accepted. */
const ASKED: readonly (readonly [id: string, body: RegExp, accepted: string])[] = [
  ['name-character-set', /Žofie/, 'any-script'],
  ['name-length', /"name":".{255}","/, 'accepted'],
  ['category-existence', /"categoryId":\d{9,10},/, 'accepted'],
  ['unknown-fields', /"harnessNote"/, 'kept'],
  ['null-status', /"status":null/, 'taken-as-omitted'],
  ['unsupported-media-type', / txt"/, 'accepted'],
];

for (const [id, body, accepted] of ASKED) {
  t.test(`${id}: accepted, or refused with a status of the target’s choice`, async (t) => {
    const others = new RegExp(`^(?!.*${body.source})`, 's');
    for (const [otherwise, answer, detail] of [
      [undefined, accepted, /: 201 /],
      [adding(body, 400), 'rejected-400', /: 400 /],
      [adding(body, 422), 'rejected-422', /: 422 /],
    ] as const) {
      const said = await saidOf(id, otherwise);
      t.match(said, { answer, detail }, answer);
      t.equal(said.shownBy?.length, 1, answer);
      t.match(said.shownBy?.[0], body, answer);
    }
    if (id !== 'unsupported-media-type')
      t.match(await saidOf(id, adding(others, 400)), { answer: accepted }, 'whatever becomes of others');
  });
}

t.test('a field that NewPet does not have is ignored where the animal has none', async (t) => {
  const ignoring = adding(/harnessNote/, 201, '{"id":120,"name":"an animal","categoryId":1}');
  t.match(await saidOf('unknown-fields', ignoring), { answer: 'ignored' });
});

t.test('a status of null is sent in an animal that lacks nothing else', async (t) => {
  const { last } = await saidOf('null-status');
  t.equal(last?.body, '{"name":"harness-abcd2345 nil","categoryId":1,"status":null}');
});

t.test('which status an animal has that was added without one', async (t) => {
  const animal = (status: string) => `{"id":104,"name":"an animal","categoryId":1,"status":"${status}"}`;
  const withoutStatus = /^\{"name":"[^"]+","categoryId":1\}$/;
  const said = (status: number, body: string) =>
    saidOf('status-when-omitted', adding(withoutStatus, status, body));
  t.match(await saidOf('status-when-omitted'), { answer: 'none', detail: /no status$/ });
  for (const status of ['available', 'pending', 'sold']) {
    const { answer, detail, shownBy } = await said(201, animal(status));
    t.equal(answer, status, status);
    t.match(detail, new RegExp(`${status}$`), status);
    t.match(shownBy, [withoutStatus], status);
  }
  t.equal((await said(201, animal('new'))).answer, undefined, 'no PetStatus is no answer');
  t.equal((await said(400, '{}')).answer, undefined, 'nor is a refusal');
});

/**
 * What is said of a run to whose additions these ids were given; undefined where one was refused.
 *
 * @param twin the one that was added at the same moment as the one before it
 */
async function assigned(ids: readonly (bigint | undefined)[], twin?: number) {
  const { run } = addingRun();
  const additions = ids.map((id, index) => ({
    label: 'an animal',
    pet: id === undefined ? undefined : { id },
    exchange: answered({ id: `${index + 1}`, sentAt: 10 * (index === twin ? index - 1 : index) }),
  }));
  await played(run, 'enough-animals', additions);
  const { answer, detail, evidence } = (await observed(run, addAnimalGaps, 'id-assignment')) ?? {};
  return { answer, detail, evidence };
}

t.test('ids ascend, or do not', async (t) => {
  const [one, two, five] = [1n, 2n, 2n ** 62n];
  t.strictSame(await assigned([one, two, five]), {
    answer: 'ascending',
    detail: `ids of 3 additions in turn: 1, 2, ${five} …`,
    evidence: '1,2,3',
  });
  t.match(await assigned([-five, -one, one, two, five]), {
    detail: /of 5 .*: -\d+, -1, 1, 2 …$/,
    evidence: /^1,2,3$/,
  });
  for (const ids of [
    [two, one, five],
    [one, five, two],
    [one, one, two],
    [five, two, one],
  ])
    t.match(await assigned(ids), { answer: 'other' }, ids.join());
});

t.test(
  'an animal that was refused, or added at the same moment as another, says nothing of it',
  async (t) => {
    t.match(await assigned([undefined, 1n, 2n, undefined, 3n]), { answer: 'ascending', evidence: '2,3,5' });
    t.match(await assigned([1n, 2n, 3n, 5n, 4n], 4), { answer: 'ascending', evidence: '1,2,3' });
    t.match(await assigned([1n, 2n, 3n, 5n, 4n]), { answer: 'other' });
    t.equal((await assigned([1n, 2n])).answer, undefined, 'two are too few');
    t.equal((await assigned([1n, 2n, 3n, 4n], 3)).answer, undefined);
  },
);

t.test('another label is put on an animal like one that was added', async (t) => {
  const { last } = await saidOf('unsupported-media-type');
  t.strictSame(last?.headers, [['content-type', 'text/plain']]);
  t.equal(last?.body, '{"name":"harness-abcd2345 txt","categoryId":1,"status":"available"}');
  const { last: next } = await saidOf('unsupported-media-type', adding(/"available"/, 400));
  t.equal(next?.body, '{"name":"harness-abcd2345 txt","categoryId":1,"status":"pending"}');
  const none = await saidOf('unsupported-media-type', adding(/./s, 400));
  t.equal(none.answer, undefined);
  t.notMatch(none.last?.body, / txt/, 'and where there is none nothing is sent');
});

t.test('what they send and add is on the bill', (t) => {
  const edge = { requests: 13, animals: 10 };
  t.strictSame(Object.fromEntries(addAnimalGaps.map((gap) => [gap.id, billOfGap(gap, 'writes')])), {
    'name-character-set': edge,
    'name-length': edge,
    'category-existence': edge,
    'unknown-fields': edge,
    'null-status': { requests: 3, animals: 1 },
    'status-when-omitted': { requests: 7, animals: 5 },
    'id-assignment': { requests: 38, animals: 21 },
    'unsupported-media-type': { requests: 8, animals: 6 },
    'extra-response-fields': { requests: 0, animals: 0 },
  });
  t.end();
});
