/** What a run notes of each answer, beside the exchange itself. */
import t from 'tap';
import type { ClientRequest } from '../wire/client.ts';
import type { Exchange } from '../wire/exchange.ts';
import { addPet, listPets } from '../wire/requests.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import type { Run } from './run.ts';
import { NOON, ROUND_TRIP, testKey, testRun } from './testing/test-run.ts';

const animal = addPet({ name: 'Bello', categoryId: 1n });
const KEYLESS: ClientRequest = { ...animal, authorization: { kind: 'none' } };

/** What a run knows of additions after one with this status. */
async function afterAddition(status: number): Promise<[added: number, adding: string | undefined]> {
  const { run } = testRun(() => ({ status }));
  await run.probe('check').attempt(animal, testKey());
  return [run.animalsAdded, run.lanes[0]?.adding];
}

t.test('a key may add once an addition of its own succeeded; what is added is answered 201', async (t) => {
  t.strictSame(await afterAddition(201), [1, 'allowed']);
  t.strictSame(await afterAddition(200), [0, 'allowed']);
  for (const status of [300, 302, 400, 403, 429, 500])
    t.strictSame(await afterAddition(status), [0, 'untried'], `${status}`);
  const { run } = testRun(() => ({ status: 201 }), { keys: [testKey(), testKey({ name: 'pro-1' })] });
  await run.probe('check').attempt(listPets(), testKey());
  await run.probe('check').attempt(animal, testKey({ name: 'pro-1' }));
  await run.exchange(KEYLESS, { id: 'anonymous#1', sentBy: 'anonymous' }, false);
  t.strictSame([run.animalsAdded, ...run.lanes.map(({ adding }) => adding)], [2, 'untried', 'allowed']);
});

t.test('when the interface left its last trace, and how many answers bore none since', async (t) => {
  const login: AnswerParts = { headers: [['Content-Type', 'text/html']], body: '<h1>Log in</h1>' };
  const answers = [{}, login, login, {}, login];
  const { run } = testRun((_request, number) => answers[number - 1] ?? {});
  const seen: (readonly [trace: number | undefined, without: number])[] = [];
  const trace = ({ lastTrace, withoutTrace }: Run) =>
    [lastTrace === undefined ? undefined : (lastTrace - NOON) / ROUND_TRIP, withoutTrace] as const;
  seen.push(trace(run));
  for (const _answer of answers) {
    await run.probe(`check-${seen.length}`).attempt(listPets(), testKey());
    seen.push(trace(run));
  }
  t.strictSame(seen, [
    [undefined, 0],
    [1, 0],
    [1, 1],
    [1, 2],
    [4, 0],
    [4, 1],
  ]);
});

t.test('the last trace is the latest, also where an earlier one is taken from store', async (t) => {
  const recorded = new Map<string, Exchange>(
    [5000, 9000].map((ago, index) => {
      const id = `check#${index + 1}`;
      return [id, answered({ id, sentAt: NOON - ago, receivedAt: NOON - ago })];
    }),
  );
  const { run } = testRun(undefined, { recorded });
  for (const id of recorded.keys()) await run.take(id);
  t.equal(run.lastTrace, NOON - 5000);
});

t.test('readings of a key are told in the order of sending, be their answers in another one', async (t) => {
  const parts: readonly [id: string, sentAt: number, receivedAt: number][] = [
    ['check#2', 20, 50],
    ['check#1', 10, 60],
    ['check#4', 55, 70],
    ['check#3', 30, 80],
  ];
  const recorded = new Map<string, Exchange>(
    parts.map(([id, sentAt, receivedAt]) => [
      id,
      answered({ id, sentAt: NOON + sentAt, receivedAt: NOON + receivedAt }),
    ]),
  );
  const { run } = testRun(undefined, { recorded });
  for (const id of recorded.keys()) await run.take(id);
  const since = (time?: number) =>
    run.readingsOf(testKey(), time === undefined ? undefined : NOON + time).map(({ id }) => id);
  t.strictSame(since(), ['check#1', 'check#2', 'check#3', 'check#4']);
  t.strictSame(since(20), ['check#2', 'check#3', 'check#4']);
  t.strictSame(since(21), ['check#3', 'check#4']);
  t.strictSame(since(55), ['check#4'], 'one that came in meanwhile was sent before');
});
