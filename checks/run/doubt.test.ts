import t from 'tap';
import { getPet, listPets } from '../wire/requests.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { askedAgain, begunAnew, changedTarget, crossedAnswers, isBefore, postflight } from './doubt.ts';
import type { Run } from './run.ts';
import { type Answers, NOON, ROUND_TRIP, testKey, testRun } from './testing/test-run.ts';

const LIST = { body: '[{"id":1,"name":"Rex","categoryId":1}]' };
const PAGE = { body: '<h1>Welcome</h1>', headers: [['Content-Type', 'text/html']] } as const;

async function changeOf(run: Run) {
  await run.play(postflight).catch(() => undefined);
  return changedTarget(run);
}

/** What is said of a target after some requests, with everything that was sent. */
async function after(requests: number, answers: Answers) {
  const target = testRun(answers);
  const check = target.run.sceneRun('check', 'ordinary');
  for (let count = 0; count < requests; count += 1) await check.attempt(getPet(1n), testKey());
  return { change: await changeOf(target.run), ...target };
}

t.test('another service in its place is told by five answers without a sign, and one more', async (t) => {
  const { change, sent } = await after(7, (_request, number) => (number <= 2 ? LIST : PAGE));
  t.strictSame(change, {
    until: NOON + 2 * ROUND_TRIP,
    message:
      'a different service has been answering since 12:00:00 UTC: GET /pets gives 200 text/html, 16 bytes',
  });
  const { operation, method, path } = listPets({ limit: 1 });
  t.match(sent.at(-1), { operation, method, path, authorization: { kind: 'key', name: 'free-1' } });
  t.equal(sent.length, 8);
});

t.test('where a sign is missing fewer times nothing more is asked', async (t) => {
  const { change, sent } = await after(6, (_request, number) => (number <= 2 ? LIST : PAGE));
  t.equal(change, undefined);
  t.equal(sent.length, 6);
});

t.test('a target that never showed a sign has not changed', async (t) => {
  const { change, sent } = await after(9, () => PAGE);
  t.equal(change, undefined);
  t.equal(sent.length, 9);
});

t.test('a target that is merely wrong still answers the list', async (t) => {
  const { change } = await after(9, ({ operation }, number) =>
    number === 1 || operation === 'listPets' ? LIST : PAGE,
  );
  t.equal(change, undefined);
});

t.test('what does not answer the list at all is no other service', async (t) => {
  const { change } = await after(9, ({ operation }, number) =>
    number === 1
      ? LIST
      : operation === 'listPets'
        ? { kind: 'failure', reason: 'refused', message: 'the connection was refused' }
        : PAGE,
  );
  t.equal(change, undefined);
});

t.test('a run that has ended asks nothing more', async (t) => {
  const ending = new AbortController();
  const target = testRun((_request, number) => (number === 1 ? LIST : PAGE), { signal: ending.signal });
  const scene = target.run.sceneRun('check', 'ordinary');
  for (let count = 0; count < 9; count += 1) await scene.attempt(getPet(1n), testKey());
  ending.abort();
  t.equal(await changeOf(target.run), undefined);
  t.equal(target.sent.length, 9);
});

t.test('only a key that the target still knows is asked with', async (t) => {
  const answers: Answers = (_request, number) => (number === 1 ? LIST : PAGE);
  const target = testRun(answers, { keys: [testKey(), testKey({ name: 'free-2' })] });
  const scene = target.run.sceneRun('check', 'ordinary');
  for (let count = 0; count < 9; count += 1) await scene.attempt(getPet(1n), testKey());
  const [first] = target.run.sender.lanes;
  if (first !== undefined) first.unusable = { kind: 'not-told', what: 'unknown' };
  t.match(await changeOf(target.run), { until: NOON + ROUND_TRIP });
  t.match(target.sent.at(-1), { authorization: { name: 'free-2' } });
});

t.test('an exchange is evidence where its answer came before the change', async (t) => {
  const change = { until: 1000, message: 'another service answers' };
  t.ok(isBefore(answered({ sentAt: 980, receivedAt: 1000 }), change));
  t.notOk(isBefore(answered({ sentAt: 980, receivedAt: 1001 }), change));
});

const ANIMAL = '{"id":1,"name":"Rex","categoryId":1}';
const ANIMALS = `[${ANIMAL}]`;

const list = (body: string, more: AnswerParts = {}) => answered({ path: '/pets?limit=1', body, ...more });
const get = (body: string) => answered({ operation: 'getPet', path: '/pets/1', body });
const add = (body: string) =>
  answered({ operation: 'createPet', method: 'POST', path: '/pets', body, status: 200 });

t.test('a list answered with an animal and an animal with a list: answers are crossed', async (t) => {
  t.equal(
    crossedAnswers([list(ANIMALS), list(ANIMAL), get(ANIMAL), get(ANIMALS)])?.message,
    'answers are mixed up between requests: GET /pets?limit=1 was answered with one animal, GET /pets/1 with a list',
  );
  t.equal(
    crossedAnswers([add(ANIMALS), list(ANIMAL)])?.message,
    'answers are mixed up between requests: GET /pets?limit=1 was answered with one animal, POST /pets with a list',
  );
});

t.test('one of the two alone is a mistake of the target', async (t) => {
  t.equal(crossedAnswers([list(ANIMALS), list(ANIMAL), get(ANIMAL), add(ANIMAL)]), undefined);
  t.equal(crossedAnswers([list(ANIMALS), get(ANIMALS), add(ANIMALS)]), undefined);
  t.equal(crossedAnswers([]), undefined);
});

t.test('what could be anything shows no crossing', async (t) => {
  t.equal(crossedAnswers([list(ANIMAL), get('[]')]), undefined, 'an empty list');
  t.equal(crossedAnswers([list('{"name":"Rex"}'), get(ANIMALS)]), undefined, 'an object without an id');
  t.equal(crossedAnswers([list('{"id":1}'), get(ANIMALS)]), undefined, 'an object without a name');
  t.equal(crossedAnswers([list('{"code":"a","message":"b","status":200}'), get(ANIMALS)]), undefined);
  t.equal(crossedAnswers([list(ANIMAL, { status: 404 }), get(ANIMALS)]), undefined, 'an error');
});

t.test('what was asked elsewhere, or not answered, is left out', async (t) => {
  const elsewhere = answered({ operation: 'other', path: '/else', body: ANIMALS });
  t.equal(crossedAnswers([list(ANIMAL), elsewhere]), undefined);
  const lost = {
    ...list(ANIMAL),
    outcome: { kind: 'failure', reason: 'reset', message: 'the connection was closed' },
  } as const;
  t.equal(crossedAnswers([lost, get(ANIMALS)]), undefined);
});

/** What is said where each request left so much to its key, all windows ending together, and then asked once more. */
async function begunAfter(left: string, again: string): Promise<string | undefined> {
  const requests = left.split(' ').map((one) => [`free-${one[0]}`, one.slice(1)] as const);
  const shown = [...requests.map(([, remaining]) => remaining), ...again.split(' ')];
  const headers = (number: number) => {
    const minute = number > requests.length ? 1 : 0;
    return Object.entries({
      Date: new Date(NOON + minute * 60_000).toUTCString(),
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': shown[number - 1] ?? '',
      'X-RateLimit-Reset': `${NOON / 1000 + 60 + 120 * minute}`,
    });
  };
  const keys = [...new Set(requests.map(([name]) => name))].map((name) => testKey({ name }));
  const answers: Answers = (_request, number) => ({
    status: shown[number - 1] === undefined ? 429 : 200,
    headers: headers(number),
  });
  const { run } = testRun(answers, { keys });
  const sending = run.sceneRun('check', 'ordinary');
  for (const [name] of requests) await sending.attempt(listPets(), testKey({ name }));
  await run.play(askedAgain);
  return begunAnew(run.trace)?.message;
}

const WHOLE = Array.from({ length: 60 }, (_, index) => 59 - index);
const IN_ORDER = WHOLE.slice(0, 20).join(' ');
/** More than a bucket is given at one moment. */
const SPENT = WHOLE.slice(0, 13);
const [SPENT_OF_A, SPENT_OF_BOTH] = [['a'], ['a', 'b']].map((keys) =>
  SPENT.flatMap((remaining) => keys.map((key) => `${key}${remaining}`)).join(' '),
);
const FORGOTTEN = [59, ...WHOLE].map((remaining) => `a${remaining}`).join(' ');
const BEGUN =
  'the target seems to have been started again at 12:00:00 UTC: its keys had their whole limits again';
for (const [what, left, again, begun] of [
  ['each key has its whole limit again, once', `${SPENT_OF_BOTH} a59 b59 a58`, IN_ORDER, BEGUN],
  ['the first answer was lost', `${SPENT_OF_BOTH} a58 b59`, IN_ORDER, BEGUN],
  ['only one request was forgotten', FORGOTTEN, WHOLE.join(' '), BEGUN],
  ['one too many is admitted again', FORGOTTEN, ['59', ...WHOLE].join(' '), undefined],
  ['it is so where it is asked again', `${SPENT_OF_BOTH} a59 b59 a58`, `${SPENT.join(' ')} 59`, undefined],
  ['another key goes on', `${SPENT_OF_BOTH} a59 b46 a58`, IN_ORDER, undefined],
  ['it happens again', `${SPENT_OF_BOTH} ${SPENT_OF_A} a59`, IN_ORDER, undefined],
  ['nothing comes back', `${SPENT_OF_BOTH}`, '', undefined],
] as const)
  t.test(`a target that is started again: ${what}`, async (t) =>
    t.equal(await begunAfter(left, again), begun),
  );
