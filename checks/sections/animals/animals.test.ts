/**
 * What the rows of sections 2 to 4 say of a target in a situation. What each of them finds broken the accuracy matrix
 * shows; here stands what ends inconclusive, binds nobody, or is excused.
 */
import t from 'tap';
import { currentId, requirements } from '../../../spec/contract.ts';
import type { RequirementVerdict } from '../../run/findings.ts';
import type { Reason } from '../../run/reason.ts';
import { type TestRun, testKey } from '../../run/testing/test-run.ts';
import type { ClientRequest } from '../../wire/client.ts';
import type { FailureReason } from '../../wire/exchange.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import {
  findingsOf,
  type Otherwise,
  refusal,
  type Situation,
  said,
  TestStore,
} from './testing/store-target.ts';

type Is = (request: ClientRequest) => boolean;
const adds: Is = ({ operation }) => operation === 'createPet';
const lists: Is = ({ operation }) => operation === 'listPets';
const gets: Is = ({ operation }) => operation === 'getPet';
const of =
  (pattern: RegExp): Is =>
  ({ path, body = '' }) =>
    pattern.test(`${path} ${body}`);
const both =
  (one: Is, other: Is): Is =>
  (request) =>
    one(request) && other(request);
const keyed =
  (name: string): Is =>
  ({ authorization }) =>
    authorization.kind === 'key' && authorization.name === name;

/** Some requests are answered like this. */
const answering =
  (is: Is, answer: AnswerParts | ((store: TestStore, request: ClientRequest) => AnswerParts)): Otherwise =>
  (request, store) =>
    !is(request) ? undefined : typeof answer === 'function' ? answer(store, request) : answer;
const failing =
  (is: Is, reason: FailureReason): Otherwise =>
  (request) =>
    is(request) ? { kind: 'failure', reason, message: `${reason} it was` } : undefined;
/** So many of such requests fail, and those after them do not. */
function failingTimes(times: number, is: Is, reason: FailureReason): Otherwise {
  const failed = new WeakMap<TestStore, number>();
  return (request, store, ...where) => {
    const before = failed.get(store) ?? 0;
    if (!is(request) || before === times) return undefined;
    failed.set(store, before + 1);
    return failing(is, reason)(request, store, ...where);
  };
}
/** The first that answers otherwise does. */
const either =
  (...all: readonly Otherwise[]): Otherwise =>
  (...asked) =>
    all.reduce<ReturnType<Otherwise>>((answer, other) => answer ?? other(...asked), undefined);
/** Something happens to the store at the request of this number. */
const at =
  (number: number, happens: (store: TestStore) => void): Otherwise =>
  (_request, store, now) => {
    if (now === number) happens(store);
    return undefined;
  };
const oldestFirst: Otherwise = (request, store) => {
  if (lists(request)) store.kept = store.kept.toSorted((a, b) => Number(a.id - b.id));
  return undefined;
};
/** The store is read in shorter pages, and a filter leaves out what it does not ask for. */
const shorterPages =
  (length: (limit: number) => number): Otherwise =>
  (request, store) => {
    const { searchParams } = new URL(request.path, 'http://target');
    const limit = Number(searchParams.get('limit') ?? 20);
    const status = searchParams.get('status');
    if (!lists(request) || !(limit >= 1 && limit <= 100) || status === 'unheard-of') return undefined;
    const page = new TestStore(0);
    page.kept = store.kept.slice(0, length(limit));
    return page.answer(request);
  };
/** The animal stays as it is in the store, and the answer shows another one. */
const showingAs = (is: Is, from: RegExp, to: string): Otherwise =>
  answering(is, (store, request) => {
    const answer = store.answer(request);
    return { ...answer, body: (answer.body ?? '').replaceAll(from, to) };
  });

const restart = (store: TestStore) => {
  store.kept = [];
  store.nextId = 1001n;
};
const cleaned = (store: TestStore) => {
  store.kept = store.kept.filter(({ name }) => !name.includes('harness-'));
};
const own = ({ name }: { readonly name: string }) => name.includes('harness-');

const TWO = [
  testKey(),
  testKey({ name: 'free-2', value: 'another', limits: { perMinute: 50, perDay: 900 } }),
];
const NO_WRITES: Situation['options'] = { permissions: new Set() };

/** Lets the target's clock show a time, and ours the same or another one. */
const clockAt =
  (ours: number, theirs = ours) =>
  ({ run, clock }: TestRun): void => {
    clock.pass(ours - clock.now());
    run.trace.targetClock.learn({ date: theirs, reset: undefined, sentAt: ours, receivedAt: ours });
  };
const LONG_AFTER = Date.UTC(2031, 0, 4);
const THE_DAY = Date.UTC(2030, 11, 5, 12);

interface Row {
  readonly it: string;
  readonly ids: readonly string[];
  readonly given: Situation;
  readonly is: RequirementVerdict;
  /** The kind of the first reason. */
  readonly kind?: Reason['kind'];
  /** In its words, or in what was seen. */
  readonly says?: RegExp;
  readonly blames?: readonly string[];
}

const row = (
  it: string,
  ids: string | readonly string[],
  given: Situation,
  is: RequirementVerdict,
  more: Pick<Row, 'kind' | 'says' | 'blames'> = {},
): Row => ({ it, ids: typeof ids === 'string' ? [ids] : ids, given, is, ...more });

const RETRIEVED = [
  'get-answers-200',
  'get-returns-requested-id',
  'get-pet-schema',
  'get-same-animal',
  'get-unknown-404',
  'get-malformed-id-refused',
];

const ADDING: readonly Row[] = [
  row(
    'no key may add',
    ['add-answers-201', 'add-rejects-status-type'],
    { otherwise: answering(adds, refusal(403)) },
    'inconclusive',
    { says: /no key of the profile seems to be allowed to add/ },
  ),
  row(
    'every addition is refused, and no category is known',
    'add-answers-201',
    { otherwise: answering(adds, refusal(400)) },
    'inconclusive',
    { says: /name an existing one in the profile/ },
  ),
  row(
    'every addition is refused, although the profile names a category',
    'add-answers-201',
    { otherwise: answering(adds, refusal(400)), options: { sampleCategoryId: 7n } },
    'fail',
  ),
  row(
    'names have to be unique',
    ['add-answers-201', 'add-status-values', 'add-status-optional'],
    {
      otherwise: (request, store) =>
        adds(request) &&
        store.kept.some(
          ({ name }) => JSON.stringify(name) === /"name" ?: ?("[^"]*")/.exec(request.body ?? '')?.[1],
        )
          ? refusal(400)
          : undefined,
    },
    'pass',
  ),
  row(
    'edge values are refused',
    'add-answers-201',
    { otherwise: answering(both(adds, of(/null|very long|new|own|Žofie/)), refusal(422)) },
    'pass',
  ),
  row(
    'an answer beyond the basic ones is lost',
    'add-answers-201',
    { otherwise: failing(both(adds, of(/ big/)), 'unavailable') },
    'inconclusive',
    { kind: 'lost' },
  ),
  row(
    'nothing can be added',
    ['add-status-optional', 'add-status-values'],
    { otherwise: answering(adds, refusal(500)) },
    'inconclusive',
    { kind: 'not-shown', blames: ['add-answers-201'] },
  ),
  row(
    'an addition with an id is answered 409',
    'pet-id-assigned-by-service',
    { otherwise: answering(both(adds, of(/"id":/)), refusal(409)) },
    'inconclusive',
    { says: /answered 409/ },
  ),
  row(
    'an addition with an id is refused',
    'pet-id-assigned-by-service',
    { otherwise: answering(both(adds, of(/"id":/)), refusal(400)) },
    'pass',
  ),
  row(
    'a body has an encoding that the harness does not know',
    'add-pet-schema',
    { otherwise: answering(adds, { status: 201, body: '?', bodyProblem: 'unknown-encoding' }) },
    'inconclusive',
    { says: /the harness cannot read/ },
  ),
  row(
    'every animal has one id',
    'pet-id-unique',
    { otherwise: showingAs(adds, /"id":\d+/g, '"id":7') },
    'fail',
    { says: /^id 7, which "harness-.*" already has, as POST \/pets showed/ },
  ),
  row(
    'ids are no integers',
    'pet-id-unique',
    { otherwise: showingAs(adds, /"id":(\d+)/g, '"id":"$1"') },
    'inconclusive',
    { kind: 'not-shown' },
  ),
];

const REFUSED: readonly Row[] = [
  row(
    'one key may not add, and another one asks',
    'add-rejects-name-type',
    { otherwise: answering(both(adds, keyed('free-2')), refusal(403)), options: { keys: TWO } },
    'pass',
  ),
  row(
    'a gateway is unavailable at one body',
    'add-rejects-category-id-type',
    { otherwise: failing(of(/\[1\]/), 'unavailable') },
    'inconclusive',
  ),
  row(
    'a gateway is unavailable at one body for a while',
    'add-rejects-category-id-type',
    { otherwise: failingTimes(4, of(/\[1\]/), 'unavailable') },
    'pass',
  ),
  row(
    'the connection breaks at one body for a while',
    'add-rejects-category-id-type',
    { otherwise: failingTimes(5, of(/\[1\]/), 'reset') },
    'pass',
  ),
  row(
    'the connection breaks at one body, each time',
    'add-rejects-category-id-type',
    { otherwise: failing(of(/\[1\]/), 'reset') },
    'fail',
    { says: /^no answer: reset it was, each time$/ },
  ),
  row(
    'one body is never answered',
    'add-rejects-category-id-type',
    { otherwise: failing(of(/\[1\]/), 'headers-timeout') },
    'inconclusive',
  ),
  row(
    'no addition at all is answered',
    'add-rejects-empty-body',
    { otherwise: failing(adds, 'reset') },
    'inconclusive',
  ),
  row(
    'nothing is refused with 400',
    'add-rejected-stores-nothing',
    {
      otherwise: (request, store) => {
        const answer = store.answer(request);
        return answer.status === 400 ? refusal(422) : answer;
      },
    },
    'not-applicable',
    { kind: 'unbound' },
  ),
  row(
    'no list shows what became of it',
    'add-rejected-stores-nothing',
    { otherwise: answering(lists, refusal(500)) },
    'inconclusive',
    { kind: 'not-shown', blames: ['list-answers-200'] },
  ),
];

const LISTING: readonly Row[] = [
  row(
    'additions have no ids',
    'list-shows-added',
    { otherwise: answering(adds, { status: 201, body: '{}' }) },
    'inconclusive',
    { says: /no addition was answered with the id/ },
  ),
  row('additions fail', 'list-shows-added', { otherwise: answering(adds, refusal(500)) }, 'inconclusive', {
    blames: ['add-answers-201'],
  }),
  row(
    'every animal gets one id',
    'list-shows-added',
    { otherwise: showingAs(adds, /"id":(\d+)/g, '"id":5') },
    'inconclusive',
    { blames: ['pet-id-unique'] },
  ),
  row(
    'lists fail',
    ['list-shows-added', 'list-unfiltered'],
    { otherwise: answering(lists, refusal(500)) },
    'inconclusive',
    { says: /the list with limit=100 was answered 500/ },
  ),
  row(
    'filtered lists fail',
    ['list-status-complete', 'list-filter-before-limit'],
    { otherwise: answering(of(/status=sold/), refusal(500)) },
    'inconclusive',
    { says: /status=sold was answered 500/ },
  ),
  row('the store does not fit a list', 'list-unfiltered', { seeded: 120 }, 'not-applicable', {
    kind: 'unbound',
  }),
  row(
    'oldest animals first, and more than fit a list',
    'list-shows-added',
    { seeded: 400, otherwise: oldestFirst },
    'not-applicable',
    { kind: 'unbound' },
  ),
  row(
    'more animals of each status than fit a list',
    'list-status-complete',
    { seeded: 330 },
    'not-applicable',
    { kind: 'unbound' },
  ),
  row(
    'no animal has an id',
    'list-limit-fills',
    { seeded: 30, otherwise: showingAs(() => true, /"id":/g, '"ID":') },
    'inconclusive',
    { says: /no list shows an animal with an id/ },
  ),
  row(
    'too few animals, and none may be added',
    'list-limit-default',
    { seeded: 12, options: NO_WRITES },
    'skipped',
    { kind: 'not-permitted' },
  ),
  row(
    'too few animals, and none is taken',
    'list-limit-default',
    { seeded: 12, otherwise: answering(adds, refusal(500)) },
    'inconclusive',
    { says: /21 are needed/ },
  ),
  row(
    'a page is short once',
    ['list-limit-fills', 'list-limit-default'],
    { seeded: 30, otherwise: once(of(/^\/pets\?limit=20 |^\/pets $/), { body: '[]' }) },
    'pass',
  ),
  row(
    'every page is one short',
    'list-limit-default',
    { seeded: 30, otherwise: shorterPages((limit) => Math.max(1, limit - 1)) },
    'pass',
  ),
  row(
    'another client’s animal is filtered a moment later',
    'list-status-complete',
    { seeded: 30, otherwise: once(of(/status=sold/), { body: '[]' }) },
    'pass',
  ),
  row(
    'a key is refused now and then',
    ['list-answers-200', 'list-limit-range', 'list-status-filter'],
    { seeded: 30, otherwise: once(of(/limit=100/), refusal(403)) },
    'pass',
  ),
  row(
    'a filter is refused as invalid',
    'list-answers-200',
    { seeded: 30, otherwise: answering(of(/status=/), refusal(400)) },
    'pass',
  ),
  row('an addition is listed after two minutes', 'list-shows-added', { otherwise: lateBy(120_000) }, 'fail'),
  row(
    'an animal without a status is never listed',
    'list-shows-added',
    { otherwise: (request, store) => hidden(request, store, ({ status }) => status === undefined) },
    'pass',
  ),
  row(
    'the first additions are never listed, but retrieved',
    'list-shows-added',
    {
      otherwise: (request, store) =>
        lists(request) ? hidden(request, store, ({ id }) => id >= 1001n && id < 1004n) : undefined,
    },
    'fail',
  ),
];

const LIFE = [
  'list-shows-added',
  'get-answers-200',
  'list-status-complete',
  'deprecation-successor',
  'get-same-animal',
  'pet-id-unique',
];

/** Who loses animals in mid-run is not to fail for it, whenever that is. */
const REMOVED: readonly Row[] = [
  row(
    'a restart loses the store after the lists',
    'get-answers-200',
    { seeded: 30, otherwise: at(30, restart) },
    'inconclusive',
    { blames: ['pet-id-unique'] },
  ),
  row(
    'somebody cleans up before the filter shows them',
    'deprecation-successor',
    { seeded: 30, otherwise: at(31, cleaned) },
    'inconclusive',
    { says: /something is removing animals/ },
  ),
  row('ids begin anew after a restart', 'pet-id-unique', { otherwise: at(12, restart) }, 'inconclusive', {
    says: /given again after all animals had disappeared/,
  }),
  row(
    'somebody cleans up after the lists',
    'get-answers-200',
    { seeded: 30, otherwise: at(30, cleaned) },
    'inconclusive',
    { says: /something is removing animals/ },
  ),
  row(
    'somebody removes animals at every second request',
    ['list-shows-added', 'get-answers-200'],
    {
      otherwise: (_request, store, number) => {
        const oldest = store.kept.findLast(own);
        if (number > 6 && number % 2 === 0) store.kept = store.kept.filter((pet) => pet !== oldest);
        return undefined;
      },
    },
    'inconclusive',
    { says: /something is removing animals/ },
  ),
  row(
    'nothing that was added is ever stored',
    ['list-shows-added', 'get-answers-200'],
    { otherwise: (_, store) => void cleaned(store) },
    'fail',
  ),
];

const GETTING: readonly Row[] = [
  row(
    'retrievals lag behind lists by five seconds',
    'get-answers-200',
    { otherwise: lateBy(5_000, gets) },
    'pass',
  ),
  row('there is no animal', RETRIEVED, { options: NO_WRITES }, 'inconclusive', {
    says: /no list and no addition/,
  }),
  row(
    'the operation is gone',
    RETRIEVED.filter((id) => id !== 'get-until-removal'),
    { seeded: 3, otherwise: answering(gets, refusal(410)) },
    'inconclusive',
    { blames: ['get-until-removal'] },
  ),
  row(
    'the removal date is past',
    [...RETRIEVED, 'get-until-removal'],
    { seeded: 3, otherwise: answering(gets, refusal(410)), before: clockAt(LONG_AFTER) },
    'not-applicable',
    { kind: 'unbound' },
  ),
  row(
    'the removed operation is not implemented any more',
    'get-removed',
    { seeded: 3, otherwise: answering(gets, refusal(501)), before: clockAt(LONG_AFTER) },
    'pass',
  ),
  row(
    'it is the day of the removal',
    ['get-removed', 'get-until-removal'],
    { seeded: 3, before: clockAt(THE_DAY) },
    'not-applicable',
  ),
  row(
    'the clocks disagree on the removal',
    [...RETRIEVED, 'get-removed', 'get-until-removal', 'deprecation-successor'],
    { seeded: 3, before: clockAt(LONG_AFTER, Date.UTC(2026, 0, 1)) },
    'inconclusive',
    { says: /clock disagree/ },
  ),
  row(
    'another client’s animal is gone from lists too',
    'get-answers-200',
    {
      seeded: 3,
      otherwise: either(
        at(36, (store) => {
          store.kept = store.kept.filter(({ id }) => id !== 1n);
        }),
      ),
    },
    'pass',
  ),
  row(
    'ids of no positive number are called malformed',
    'get-unknown-404',
    { otherwise: answering(of(/^\/pets\/(-|0 )/), refusal(400)) },
    'pass',
  ),
  row(
    'another key may not retrieve',
    'get-unknown-404',
    { otherwise: answering(both(keyed('free-2'), gets), refusal(403)), options: { keys: TWO } },
    'pass',
  ),
  row(
    'an animal of another client changes once',
    'get-same-animal',
    { seeded: 3, otherwise: once(of(/^\/pets\/1 /), { body: '{"id":1,"name":"new","categoryId":7}' }) },
    'pass',
  ),
  row(
    'retrievals show another name and another category',
    'get-same-animal',
    { otherwise: showingAs(gets, /"name":.*"categoryId":\d+/g, '"name":"new","categoryId":77') },
    'fail',
    { says: /^name ".*" became "new", categoryId \d+ became 77$/ },
  ),
  row(
    'an animal that is not retrieved has no successor',
    'deprecation-successor',
    { otherwise: answering(gets, refusal(500)) },
    'inconclusive',
    { kind: 'not-shown' },
  ),
  row(
    'more animals of a status than fit a list',
    'deprecation-successor',
    {
      seeded: 330,
      otherwise: oldestFirst,
    },
    'not-applicable',
    { kind: 'unbound' },
  ),
  row(
    'no header announces anything',
    ['deprecation-header-agrees', 'sunset-header-agrees'],
    {},
    'not-applicable',
    { kind: 'unbound' },
  ),
];

/** One answer is lost: what was broken before stays a fail, and what comes after is still asked. */
const LOST: readonly Row[] = (
  [
    ['list-limit-fills', /^\/pets\?limit=99/],
    ['list-limit-default', /^\/pets\?status=pending $/],
    ['list-filter-before-limit', /status=\w+&limit=2 /],
    ['get-answers-200', /^\/pets\/1004/],
    ['get-malformed-id-refused', /^\/pets\/\d+x/],
    ['get-unknown-404', /^\/pets\/9223372036854775807/],
    ['add-rejects-malformed-json', /please/],
  ] as const
).flatMap(([id, path]) => [
  row(
    `an answer is lost at ${path}`,
    id,
    { seeded: 30, otherwise: failing(of(path), 'unavailable') },
    'inconclusive',
    { says: /unavailable it was/ },
  ),
]);

/** The first of such requests to each store is answered like this. */
function once(is: Is, answer: AnswerParts): Otherwise {
  const asked = new WeakSet<TestStore>();
  return (request, store) => {
    if (asked.has(store) || !is(request)) return undefined;
    asked.add(store);
    return answer;
  };
}

function hidden(
  request: ClientRequest,
  store: TestStore,
  is: (pet: TestStore['kept'][number]) => boolean,
): AnswerParts {
  const all = store.kept;
  store.kept = adds(request) ? all : all.filter((pet) => !is(pet));
  const answer = store.answer(request);
  if (!adds(request)) store.kept = all;
  return answer;
}

/** What is added is served so many milliseconds later. */
function lateBy(milliseconds: number, is: Is = () => true): Otherwise {
  const added = new WeakMap<object, number>();
  return (request, store, _number, now) => {
    for (const pet of store.kept) if (!added.has(pet)) added.set(pet, now);
    return is(request)
      ? hidden(request, store, (pet) => now - (added.get(pet) ?? now) < milliseconds)
      : undefined;
  };
}

for (const { it, ids, given, is, kind, says, blames } of [
  ...ADDING,
  ...REFUSED,
  ...LISTING,
  ...REMOVED,
  ...GETTING,
  ...LOST,
])
  for (const id of ids)
    t.test(`${it}: ${id} is ${is}`, async (t) => {
      const row = await said(id, given, blames);
      const [first] = row.reasons;
      const words = row.reasons.flatMap((reason) => ('what' in reason ? [reason.what] : []));
      const told = JSON.stringify([row.reasons, row.violation]);
      t.equal(row.verdict, is, told);
      if (kind !== undefined) t.equal(first?.kind, kind, told);
      if (says !== undefined) t.match([row.violation?.actual, ...words].join('; '), says);
      if (blames !== undefined)
        t.strictSame(first && 'blames' in first ? first.blames : undefined, blames.map(currentId), told);
    });

t.test('whenever a restart or a client removes what was added, no row about animals fails', async (t) => {
  // Another key has listed them before.
  const more = [...LIFE, 'list-limit-default', 'list-limit-fills', 'rate-keys-apart'];
  for (const [ids, keys, stores] of [
    [LIFE, [testKey()], [0, 30, 150]],
    [more, TWO, [0]],
  ] as const)
    for (const [what, happens] of Object.entries({ restart, cleaned }))
      for (const seeded of stores)
        for (let number = 8; number < 100; number += 11) {
          const rows = await findingsOf(ids, { seeded, otherwise: at(number, happens), options: { keys } });
          const failed = [...rows].flatMap(([id, { verdict, violation }]) =>
            verdict === 'fail' ? [`${id}: ${violation?.actual}`] : [],
          );
          t.strictSame(failed, [], `${what} of ${seeded} at request ${number}`);
        }
});

/** The bodies of all additions of a run. @param answer what each is answered; without it they are stored */
async function addedBy(ids: readonly string[], answer?: AnswerParts, options: Situation['options'] = {}) {
  const bodies: string[] = [];
  const noting: Otherwise = (request) => {
    if (!adds(request)) return undefined;
    bodies.push(request.body ?? '');
    return answer;
  };
  await findingsOf(ids, { otherwise: noting, options });
  return bodies;
}

t.test('where no key may add, no more than the basic animals is tried', async (t) => {
  t.equal((await addedBy(['add-answers-201', 'add-rejects-name-type'], refusal(403))).length, 5);
});

t.test('where nothing can be added, no list is to be filled up', async (t) => {
  const bodies = await addedBy(['list-limit-default'], refusal(400));
  t.not(bodies.length, 0);
  t.notOk(bodies.some((body) => / f[a-z]+"/.test(body)));
});

t.test('no two animals have one name but the twins, whichever key adds them', async (t) => {
  const keyOf = (name: string) => testKey({ name, roles: name === 'f' ? ['exhaust'] : ['functional'] });
  const options = { keys: [...'abcdef'].map(keyOf), permissions: new Set(['writes', 'exhaust'] as const) };
  const bodies = await addedBy(['list-each-once', 'rate-refused-429'], undefined, options);
  const names = bodies.flatMap((body) => /"harness[^"]*"/.exec(body) ?? []);
  t.equal(new Set(names).size, names.length - 1);
});

const header = (name: string, value: string, is: Is = gets): Otherwise =>
  answering(is, (store, request) => ({ headers: [[name, value]], ...store.answer(request) }));

/** What a header on one operation comes to. */
const HEADERS: readonly (readonly [name: string, value: string, is: RequirementVerdict, on?: Is])[] = [
  ...['true', '?1', '@1688169599', 'Fri, 30 Jun 2023 23:59:59 GMT'].map(
    (value) => ['deprecation', value, 'pass'] as const,
  ),
  ...['false', '?0', '@4102444800', 'soon', '2023-06-30', 'Fri, 30 Jun 2034 23:59:59 GMT'].map(
    (value) => ['deprecation', value, 'fail'] as const,
  ),
  ...['Wed, 04 Dec 2030 10:00:00 GMT', 'Thu, 05 Dec 2030 00:00:00 GMT', 'Fri, 06 Dec 2030 12:00:00 GMT'].map(
    (value) => ['sunset', value, 'pass'] as const,
  ),
  ...['Wed, 04 Dec 2030 09:59:59 GMT', 'Fri, 06 Dec 2030 12:00:01 GMT', 'soon'].map(
    (value) => ['sunset', value, 'fail'] as const,
  ),
  ['deprecation', 'true', 'fail', lists],
  ['sunset', 'Thu, 05 Dec 2030 00:00:00 GMT', 'fail', lists],
];

for (const [name, value, is, on = gets] of HEADERS)
  t.test(`${name}: ${value} is ${is}`, async (t) => {
    const { verdict } = await said(`${name}-header-agrees`, {
      seeded: 3,
      otherwise: header(name, value, on),
    });
    t.equal(verdict, is);
  });

t.test(
  'a target with shorter pages conforms where the profile declines what we read into limit',
  async (t) => {
    const sections = requirements.filter(({ section, excluded }) => /^[24]/.test(section) && !excluded);
    const ids = sections.map(({ id }) => id);
    const tens = (limit: number) => Math.min(limit, 10);
    const unlike = async (length: (limit: number) => number, ...readings: readonly string[]) => {
      const options = { declined: new Set(readings.map(currentId)) };
      const rows = await findingsOf(ids, { seeded: 30, otherwise: shorterPages(length), options });
      return [...rows].flatMap(([id, { verdict }]) =>
        ['fail', 'inconclusive'].includes(verdict) ? [id] : [],
      );
    };
    t.strictSame(await unlike(tens, 'list-limit-fills', 'list-filter-before-limit'), []);
    t.strictSame(await unlike(tens, 'list-limit-fills'), []);
    t.strictSame(await unlike((limit) => limit, 'list-filter-before-limit'), []);
    t.ok((await unlike(tens)).includes(currentId('list-limit-fills')), 'and breaks it otherwise');
  },
);

for (const [id, where, otherwise] of [
  ['list-shows-added', /^body\/\d+\/name$/, showingAs(lists, /harness-/g, 'other-')],
  ['get-same-animal', /^body\/categoryId$/, showingAs(gets, /"categoryId":\d+/g, '"categoryId":77')],
  ['get-answers-200', /^status$/, answering(gets, refusal(500))],
  ['list-answers-200', /^status$/, answering(lists, refusal(500))],
  ['add-answers-201', /^status$/, answering(adds, refusal(500))],
] as const)
  t.test(`${id} says what is wrong in the answer`, async (t) => {
    const { verdict, violation } = await said(id, { otherwise });
    t.equal(verdict, 'fail');
    t.match(violation?.at?.[0], where);
  });
