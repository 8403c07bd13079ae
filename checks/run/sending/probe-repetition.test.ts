import t from 'tap';
import { addPet, repeatable } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import type { Probe } from '../probe.ts';
import { type Answers, type TestRun, testKey, testRun } from '../testing/test-run.ts';

const LOST = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;
const addition = (name: string) => repeatable((again) => addPet({ name: `${name}${again}` }));
const REX = addition('Rex');

/** A target that loses the answers to these requests, counted from 1, and answers 201 or 200 to the others. */
const losing = (...lost: readonly number[]): Answers =>
  answering(Object.fromEntries(lost.map((number) => [number, LOST])));

function answering(otherwise: Readonly<Record<number, AnswerParts | typeof LOST>>): Answers {
  return ({ method }, number) => otherwise[number] ?? { status: method === 'POST' ? 201 : 200 };
}

/** Requests in turn; of additions the name. */
const asked = ({ sent }: TestRun) => sent.map(({ path, body }) => (body === undefined ? path : nameIn(body)));
const nameIn = (body: string): unknown => /"name":"([^"]*)"/.exec(body)?.[1];
const probeOf = ({ run }: TestRun): Probe => run.probe('check');
const ASK = '/pets?limit=1';
const NO_ANSWER = { name: 'Unsettled', message: 'no answer: the connection was reset' };

t.test('an addition whose answer was lost is sent once more, as another animal', async (t) => {
  const target = testRun(losing(1));
  const probe = probeOf(target);
  const exchange = await probe.send(REX);
  t.match(exchange, { id: 'check#3', outcome: { status: 201 }, request: { body: '{"name":"Rex b"}' } });
  t.strictSame(asked(target), ['Rex', ASK, 'Rex b'], 'when the target is there');
  t.notOk('again' in (target.sent[0] ?? {}), 'what may be sent is none of the request');
});

t.test('three lost answers to one addition are not made up for, nor more than eight to any', async (t) => {
  const thrice = testRun(losing(1, 3, 5));
  await t.rejects(probeOf(thrice).send(REX), NO_ANSWER);
  t.strictSame(asked(thrice), ['Rex', ASK, 'Rex b', ASK, 'Rex c', ASK]);
  const nine = testRun(losing(...Array.from({ length: 9 }, (_, index) => 1 + 3 * index)));
  for (let times = 0; times < 8; times += 1) await probeOf(nine).send(REX);
  await t.rejects(nine.run.probe('other').send(addition('Max')), NO_ANSWER);
  t.strictSame(asked(nine).slice(-5), ['Rex', ASK, 'Rex b', 'Max', ASK], 'over all checks');
});

t.test('an addition that names no other animal is not repeated', async (t) => {
  const target = testRun(losing(1));
  await t.rejects(probeOf(target).send(addPet({ name: 'Rex' })), NO_ANSWER);
  t.strictSame(asked(target), ['Rex', ASK]);
});

t.test('an addition without a key adds nothing, and is repeated as it is', async (t) => {
  const target = testRun(losing(1));
  await probeOf(target).sendWithoutKey(addPet({ name: 'Rex' }), 'none');
  t.strictSame(asked(target), ['Rex', ASK, 'Rex']);
  await t.rejects(
    probeOf(testRun(losing(1, 3, 5))).sendWithoutKey(addPet({ name: 'Rex' }), 'none'),
    NO_ANSWER,
  );
});

t.test('what was refused for its rate was not done; what a busy target answered may be', async (t) => {
  const refused = testRun(answering({ 1: { status: 429, headers: [['Retry-After', '1']] } }));
  await probeOf(refused).send(REX);
  t.strictSame(asked(refused), ['Rex', 'Rex']);
  const headers = [['X-RateLimit-Limit', '60']] as const;
  const busy = testRun(answering({ 1: { status: 503, headers } }));
  await probeOf(busy).send(REX);
  t.strictSame(asked(busy), ['Rex', 'Rex b']);
});

t.test('forbidden to the key, it is tried with another one as it was asked last', async (t) => {
  const keys = [testKey(), testKey({ name: 'free-2' })];
  const target = testRun(answering({ 1: LOST, 3: { status: 403 } }), { keys });
  t.match(await probeOf(target).send(REX), { outcome: { status: 201 } });
  t.strictSame(asked(target), ['Rex', ASK, 'Rex b', ASK, 'Rex b']);
});
