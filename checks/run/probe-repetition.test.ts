import t from 'tap';
import type { Exchange } from '../wire/exchange.ts';
import { addPet, getPet, listPets, repeatable } from '../wire/requests.ts';
import type { AnswerParts } from '../wire/testing/answered.ts';
import type { Probe } from './probe.ts';
import { type Answers, type TestRun, testKey, testRun } from './testing/test-run.ts';

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
const bodyOf = ({ request }: Exchange) => request.body;
const stored = ({ run }: TestRun) => new Map(run.exchanges.map((exchange) => [exchange.id, exchange]));
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

t.test('two lost answers are not made up for, be they to the same addition or to two', async (t) => {
  const twice = testRun(losing(1, 3));
  await t.rejects(probeOf(twice).send(REX), NO_ANSWER);
  t.strictSame(asked(twice), ['Rex', ASK, 'Rex b', ASK]);
  const two = testRun(losing(1, 4));
  await probeOf(two).send(REX);
  await t.rejects(two.run.probe('other').send(addition('Max')), NO_ANSWER);
  t.strictSame(asked(two), ['Rex', ASK, 'Rex b', 'Max', ASK], 'over all checks');
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
  await t.rejects(probeOf(testRun(losing(1, 3))).sendWithoutKey(addPet({ name: 'Rex' }), 'none'), NO_ANSWER);
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

t.test('gone through again it is the same animal', async (t) => {
  const live = testRun(losing(1));
  const exchange = await probeOf(live).send(REX);
  for (const offline of [true, false]) {
    const again = testRun(undefined, { recorded: stored(live), offline });
    t.equal(await probeOf(again).send(REX), exchange);
    t.strictSame(asked(again), []);
  }
});

t.test('one that was not repeated when it was recorded is open for the same reason as then', async (t) => {
  const live = testRun(losing(1));
  await t.rejects(probeOf(live).send(addPet({ name: 'Rex' })));
  const again = testRun(undefined, { recorded: stored(live), offline: true });
  await t.rejects(probeOf(again).send(REX), NO_ANSWER);
});

t.test('one that was sent when a process ended is sent as another animal, a burst’s too', async (t) => {
  const unanswered = new Map([
    ['check#2', 0],
    ['check#4', 0],
  ]);
  const target = testRun(undefined, { recorded: new Map(), unanswered });
  const probe = probeOf(target);
  const specs = ['Rex', 'Max', 'Ida'].map(addition);
  await probe.burst(specs, testKey(), 1);
  t.match(await probe.send(addition('Leo')), { request: { body: '{"name":"Leo b"}' } });
  await probe.send(getPet(7n));
  t.strictSame(asked(target), ['Rex', 'Max b', 'Ida', 'Leo b', '/pets/7']);
  const again = testRun(undefined, { recorded: stored(target), offline: true });
  const judged = probeOf(again);
  t.strictSame(
    (await judged.burst(specs, testKey(), 1)).map(bodyOf),
    target.run.exchanges.slice(0, 3).map(bodyOf),
  );
  t.match(await judged.send(addition('Leo')), { request: { body: '{"name":"Leo b"}' } });
  const lost = testRun(losing(1), { recorded: new Map(), unanswered: new Map([['check#1', 0]]) });
  await t.rejects(probeOf(lost).send(REX), NO_ANSWER);
  t.strictSame(asked(lost), ['Rex b', ASK], 'there is no third animal');
});

t.test('the answer to what was attempted, or to the same as another animal', async (t) => {
  const target = testRun(losing(2));
  const probe = probeOf(target);
  const first = await probe.attempt(REX, testKey());
  t.equal(await probe.answerTo(first, REX, testKey()), first);
  const lost = await probe.attempt(REX, testKey());
  t.match(await probe.answerTo(lost, REX, testKey()), {
    id: 'check#4',
    request: { body: '{"name":"Rex b"}' },
  });
  t.strictSame(asked(target), ['Rex', 'Rex', ASK, 'Rex b']);
  const list = probeOf(testRun(losing(1)));
  await t.rejects(list.answerTo(await list.attempt(listPets(), testKey()), listPets(), testKey()), NO_ANSWER);
  const resumed = testRun(losing(1), {
    recorded: new Map(),
    unanswered: new Map([['check#1', 0]]),
  }).run.probe('check');
  await t.rejects(resumed.answerTo(await resumed.attempt(REX, testKey()), REX, testKey()), NO_ANSWER);
});

t.test('it is asked for with the key of the attempt, and not where it may be added twice', async (t) => {
  const large = testKey({ name: 'large', limits: { perMinute: 300, perDay: 10_000 } });
  const target = testRun(losing(1), { keys: [large, testKey()] });
  const probe = probeOf(target);
  await probe.answerTo(await probe.attempt(REX, testKey()), REX, testKey());
  t.strictSame(target.run.requestsByKey, new Map([['free-1', 3]]));
  const alone = addPet({ name: 'Rex' });
  const other = testRun(losing(1));
  const adding = probeOf(other);
  await t.rejects(adding.answerTo(await adding.attempt(alone, testKey()), alone, testKey()), NO_ANSWER);
  t.strictSame(asked(other), ['Rex', ASK]);
});
