/** Section 4.3: what a target answers for an id that no animal has, and for one that is none. */
import t from 'tap';
import type { Scene } from '../../run/scene.ts';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import { getPet } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import type { Animal, Otherwise, Own } from '../list/testing/listed.ts';
import { judged, observed } from '../testing/judged.ts';
import { getAnimalChecks, getAnimalGaps } from './checks.ts';
import { malformedIds, unknownIdsRetrieved } from './ids.ts';
import { NOT_FOUND, type Retrieving, retrievalRun, STORE, said } from './testing/retrieved.ts';

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
const BEYOND_DOUBLE = 2n ** 53n;
const BITS_32 = 2n ** 32n;

const UNKNOWN = 'get-unknown-404';
const MALFORMED = 'get-malformed-id-refused';

/** The ids that a scene asks for. */
async function asked(scene: Scene<unknown>, given: Retrieving): Promise<readonly string[]> {
  const { run } = await retrievalRun(given);
  await run.play(scene);
  return run.trace.exchanges
    .filter(({ sentBy }) => sentBy === scene.id)
    .map(({ request }) => request.path.slice('/pets/'.length));
}

t.test('ids that no animal has, and such as a careless reading takes for one that some has', async (t) => {
  const usual = [0n, -1n, SMALLEST];
  const rows: readonly (readonly [why: string, store: readonly Animal[], ids: readonly bigint[]])[] = [
    ['cut to 32 bits it is the first', STORE, [LARGEST, 1n + BITS_32, ...usual]],
    ['the smallest of all that are listed', [[9], [4], [8]], [LARGEST, 4n + BITS_32, ...usual, -4n]],
    ['either side of 0', [[5000], [-7], [300]], [LARGEST, -7n - BITS_32, ...usual, 7n]],
    ['the number 0', [[0]], [LARGEST, BITS_32, ...usual]],
    ['an animal has that one', [[1], [1n + BITS_32]], [LARGEST, 1n + 2n * BITS_32, ...usual]],
    ['an animal has the opposite', [[2], [-2], [3]], [LARGEST, 2n + BITS_32, ...usual, -3n]],
    [
      'a double holds them all',
      [[BEYOND_DOUBLE]],
      [LARGEST, BEYOND_DOUBLE + BITS_32, ...usual, -BEYOND_DOUBLE],
    ],
    [
      'a double does not hold an odd one',
      [[BEYOND_DOUBLE + 1n]],
      [LARGEST, BEYOND_DOUBLE, BEYOND_DOUBLE + 1n + BITS_32, ...usual, -BEYOND_DOUBLE - 1n],
    ],
    [
      'nor the one after an even one',
      [[BEYOND_DOUBLE + 2n]],
      [LARGEST, BEYOND_DOUBLE + 3n, BEYOND_DOUBLE + 2n + BITS_32, ...usual, -BEYOND_DOUBLE - 2n],
    ],
    [
      'one such is enough',
      [[BEYOND_DOUBLE + 5n], [BEYOND_DOUBLE + 9n]],
      [LARGEST, BEYOND_DOUBLE + 4n, BEYOND_DOUBLE + 5n + BITS_32, ...usual, -BEYOND_DOUBLE - 5n],
    ],
    ['the largest of all is one', [[LARGEST]], [...usual, -LARGEST]],
    ['and the one before it', [[LARGEST - 1n]], [LARGEST, ...usual, 1n - LARGEST]],
    ['and the third', [[LARGEST - 2n]], [LARGEST, LARGEST - 1n - 2n, ...usual, 2n - LARGEST]],
    ['the smallest of all has no opposite', [[SMALLEST]], [LARGEST, ...usual]],
    ['the opposite of the largest', [[-LARGEST]], [LARGEST, ...usual, LARGEST]],
    [
      'the smallest but for 32 bits',
      [[SMALLEST + BITS_32]],
      [LARGEST, SMALLEST, ...usual, -SMALLEST - BITS_32],
    ],
  ];
  for (const [why, store, ids] of rows)
    t.strictSame((await asked(unknownIdsRetrieved, { store })).slice(0, -1), ids.map(String), why);
});

t.test('the animals are those that were retrieved and those that were listed', async (t) => {
  const own: readonly Own[] = [{ id: 5, label: 'sold', sent: 'sold' }];
  const first = async (given: Retrieving) => (await asked(unknownIdsRetrieved, given))[1];
  t.equal(await first({ store: [[5, 'sold']], own, listed: { all: 500 } }), `${5n + BITS_32}`);
  t.equal(await first({ store: [[9], [1.5], [8]] }), `${8n + BITS_32}`, 'one without an id is none of them');
});

/** What is said where one id is answered so. */
const answering = (asked: bigint, parts: AnswerParts, check = UNKNOWN) =>
  said(check, { otherwise: ({ path }) => (path === `/pets/${asked}` ? parts : undefined) });
const animal = (id: bigint): AnswerParts => ({ body: `{"id":${id},"name":"Mia","categoryId":1}` });

t.test('an animal that cannot be found is answered 404', async (t) => {
  t.match(await said(UNKNOWN), {
    verdict: 'pass',
    evidence: 'retrieved-again#1,unknown-ids#1,unknown-ids#2',
  });
  for (const [id, evidence] of [
    [LARGEST, 'unknown-ids#1'],
    [1n + BITS_32, 'unknown-ids#2'],
  ] as const)
    for (const parts of [{ status: 400 }, { status: 500 }, animal(1n), { ...animal(id), status: 201 }])
      t.match(await answering(id, parts), { verdict: 'fail', expected: `404 for id ${id}`, evidence });
});

t.test('a number that hardly names an animal may be called invalid as well', async (t) => {
  for (const [id, evidence] of [
    [0n, 'unknown-ids#3'],
    [-1n, 'unknown-ids#4'],
    [SMALLEST, 'unknown-ids#5'],
  ] as const) {
    t.match(await answering(id, { status: 400 }), { verdict: 'pass' });
    for (const parts of [{ status: 422 }, animal(1n)])
      t.match(await answering(id, parts), { verdict: 'fail', expected: `404 for id ${id}`, evidence });
  }
});

t.test('somebody else’s animal may have any of these ids', async (t) => {
  for (const id of [LARGEST, 0n]) t.match(await answering(id, animal(id)), { verdict: 'pass' });
  for (const body of ['[]', `{"id":"${LARGEST}","name":"Mia","categoryId":1}`, ''])
    t.match(await answering(LARGEST, { body }), { verdict: 'pass' }, `written otherwise: ${body}`);
});

t.test('it is asked for even where no animal is served at all', async (t) => {
  const otherwise: Otherwise = ({ path }) => (/^\/pets\/[13]$/.test(path) ? { status: 500 } : undefined);
  t.match(await said(UNKNOWN, { otherwise }), { verdict: 'pass', evidence: /^retrieved-again#1,/ });
});

t.test('an id at random has none, and to have asked for it makes none', async (t) => {
  const random = (await said(UNKNOWN)).paths[2];
  const found = (...found: readonly boolean[]) => {
    let times = 0;
    return said(UNKNOWN, {
      otherwise: ({ path }) => (path === random && found[times++] === true ? animal(1n) : undefined),
    });
  };
  t.match(await found(true, false), {
    verdict: 'fail',
    expected: '404 for an id at random',
    evidence: 'retrieved-again#1',
  });
  t.match(await found(false, true), {
    verdict: 'fail',
    expected: /^404 for id \d{19}$/,
    evidence: 'unknown-ids#6',
  });
});

const KEYS = [
  testKey(),
  testKey({ name: 'other-1' }),
  testKey({ name: 'other-2' }),
  testKey({ name: 'load', roles: ['load'] }),
];

t.test('each other key is asked once', async (t) => {
  const { run } = await retrievalRun({ options: { keys: KEYS } });
  t.equal((await judged(run, getAnimalChecks, UNKNOWN)).verdict, 'pass');
  const payers = run.trace.exchanges.flatMap(({ id, sentBy, key }) =>
    sentBy === unknownIdsRetrieved.id || id === 'retrieved-again#1' ? [key] : [],
  );
  const [random, ...others] = payers;
  t.strictSame([random, ...others.slice(0, 2)], ['free-1', 'other-1', 'other-2']);
  t.notOk(payers.includes('load'));
});

t.test('what a key may do is open', async (t) => {
  const forbidding = (keys: Retrieving['options'], forbidden: readonly (string | null)[]) =>
    said(UNKNOWN, {
      otherwise: (request) =>
        request.path === `/pets/${LARGEST}` && forbidden.includes(payer(request))
          ? { status: 403 }
          : undefined,
      ...(keys === undefined ? {} : { options: keys }),
    });
  t.match(await forbidding({ keys: KEYS }, ['other-1']), { verdict: 'pass' });
  t.match(
    await forbidding({ keys: KEYS }, ['free-1', 'other-1', 'other-2']),
    { verdict: 'fail', expected: `404 for id ${LARGEST}`, reason: /^403/, evidence: 'unknown-ids#6' },
    'to one of them it is not',
  );
  t.match(await forbidding(undefined, ['free-1']), {
    verdict: 'fail',
    reason: /^403/,
    evidence: 'unknown-ids#1',
  });
});

t.test('nothing but an int64 names an animal', async (t) => {
  t.strictSame(await asked(malformedIds, { store: [[7]] }), ['abc', '7x', '7.5', `${7n + 2n ** 64n}`, '0x7']);
  t.match(await said(MALFORMED), { verdict: 'pass', evidence: /^malformed-ids#1,/ });
  const answered = (status: number) =>
    said(MALFORMED, { otherwise: ({ path }) => (path === '/pets/1.5' ? { status } : undefined) });
  for (const status of [400, 404, 422, 499])
    t.match(await answered(status), { verdict: 'pass' }, `${status}`);
  for (const status of [200, 399, 500])
    t.match(
      await answered(status),
      {
        verdict: 'fail',
        expected: 'a client error for petId 1.5',
        reason: new RegExp(`^${status}`),
        evidence: 'malformed-ids#3',
      },
      `${status}`,
    );
});

t.test('which status answers an id that is none', async (t) => {
  const answer = async (status: number, ...ids: readonly string[]) => {
    const { run } = testRun(({ path }) => (path === '/pets/abc' ? { status } : NOT_FOUND));
    const probe = run.probe('a check');
    for (const id of ids) await probe.send(getPet(id));
    return observed(run, getAnimalGaps, 'malformed-id');
  };
  for (const [status, expected] of [
    [404, 'not-found-404'],
    [400, 'rejected-400'],
    [422, 'rejected-422'],
    [500, 'rejected-500'],
    [200, 'accepted'],
    [399, 'accepted'],
  ] as const)
    t.match(await answer(status, '1', 'abc', '7x'), {
      answer: expected,
      detail: new RegExp(`^GET /pets/abc: ${status}`),
      evidence: 'a check#2',
    });
  t.equal(await answer(400, '1', '7x'), undefined, 'none was asked for');
});
