import t from 'tap';
import { addPet, getPet, listPets } from '../wire/requests.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { NOON, testKey, testRun } from './testing/test-run.ts';
import { GrowingTrace, type Keeping } from './trace.ts';

const RESET = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;
const PRO = testKey({ name: 'pro-1' });

const traceOf = () => new GrowingTrace(testRun(undefined, { keys: [testKey(), PRO] }).run.trace.run);
/** Takes in answers to requests of one scene, with these statuses. */
const admitted = (statuses: readonly number[], keeping: Keeping, parts: AnswerParts = {}) => {
  const trace = traceOf();
  for (const [index, status] of statuses.entries())
    trace.admit(answered({ ...parts, id: `burst#${index + 1}`, status }), keeping);
  return trace;
};

t.test('what is exchanged is kept, counted and read', (t) => {
  const trace = traceOf();
  const exchange = answered({ sentAt: NOON, headers: [['X-RateLimit-Remaining', '59']] });
  t.equal(trace.admit(exchange, 'in-full'), trace.readings[0]);
  t.equal(trace.find(exchange.id), exchange);
  t.strictSame(trace.exchanges, [exchange]);
  t.match(trace.readings, [{ id: exchange.id, remaining: 59, listed: 0, sentAt: NOON }]);
  t.equal(trace.findReading(exchange.id), trace.readings[0]);
  t.strictSame([...trace.requestsByKey], [['free-1', 1]]);
  t.equal(trace.keyOf(exchange)?.name, 'free-1');
  trace.admit(answered({ id: 'other#1', key: null, status: 401 }), 'in-full');
  t.strictSame([trace.requestsByKey.get('(none)'), trace.readings.length], [1, 2]);
  t.strictSame(trace.readingsOf(testKey()).length, 1, 'one without a key is nobody’s');
  t.end();
});

t.test('a failure is kept in full, also in a burst, and is no reading', (t) => {
  const trace = traceOf();
  for (const id of ['burst#1', 'burst#2', 'burst#3'])
    trace.admit({ ...answered({ id }), outcome: RESET }, 'uniform');
  t.equal(trace.exchanges.length, 3);
  t.strictSame(trace.readings, []);
  t.end();
});

t.test('of uniform answers two of each sender and status are kept, and every addition', (t) => {
  const trace = admitted([200, 200, 200, 429, 200, 429, 429, 200], 'uniform');
  t.strictSame(
    trace.exchanges.map(({ id }) => id),
    ['burst#1', 'burst#2', 'burst#4', 'burst#6'],
  );
  t.equal(trace.readings.length, 8, 'every one is a reading');
  t.equal(trace.refusalsOf(answered()), 3);
  t.equal(admitted([201, 201, 201], 'uniform', { operation: 'createPet' }).exchanges.length, 3);
  t.end();
});

t.test('what a judgement finds remarkable is kept, and so is what an outcome names', (t) => {
  const remarkable = new Set(['burst#3', 'burst#5']);
  const trace = new GrowingTrace(testRun().run.trace.run, {
    see: () => undefined,
    isBroken: ({ id }) => remarkable.has(id),
  });
  for (const id of ['burst#1', 'burst#2']) trace.admit(answered({ id }), 'uniform');
  trace.admit(answered({ id: 'burst#3' }), 'uniform');
  t.ok(trace.find('burst#3'));
  const elsewhere = answered({ id: 'burst#5', operation: 'other' });
  trace.admit(elsewhere, 'uniform');
  t.notOk(trace.find('burst#5'), 'nobody judges other operations');
  const plain = answered({ id: 'burst#4' });
  trace.admit(plain, 'uniform');
  t.equal(trace.find('burst#4'), undefined);
  t.strictSame([trace.keep(plain), trace.keep(plain)], [true, false], 'once');
  t.equal(trace.find('burst#4'), plain);
  t.end();
});

t.test('of what a scene tallies there is a number', (t) => {
  const trace = admitted([200, 200, 200, 200], 'tallied');
  t.equal(trace.readings.length, 2);
  t.equal(trace.requestsByKey.get('free-1'), 4);
  trace.admitTallied('free-1', 6);
  t.equal(trace.requestsByKey.get('free-1'), 10);
  const dated = { headers: [['date', new Date(NOON).toUTCString()]], sentAt: NOON } as const;
  for (const reading of admitted([200], 'in-full', dated).readings) trace.admitReading(reading);
  t.ok(trace.targetClock.known, 'what is read alone tells of the clock too');
  t.end();
});

t.test('the first answer on a key after one that was lost is marked', (t) => {
  const trace = traceOf();
  const keys = ['free-1', 'free-1', 'free-1', 'pro-1', 'free-1', 'free-1'];
  for (const [index, key] of keys.entries()) {
    const exchange = answered({ id: `check#${index + 1}`, key });
    trace.admit(index === 1 || index === 2 ? { ...exchange, outcome: RESET } : exchange, 'in-full');
  }
  t.strictSame(
    trace.readings.filter(({ afterLost }) => afterLost === true).map(({ id }) => id),
    ['check#5'],
  );
  t.end();
});

t.test('around the end of a process an answer may stand beside one that is lost', (t) => {
  const trace = admitted(Array(60).fill(200), 'uniform');
  trace.endSession();
  const marked = trace.readings.filter(({ afterLost }) => afterLost === true).map(({ id }) => id);
  t.strictSame(
    [marked.length, marked[0], marked.at(-1)],
    [50, 'burst#11', 'burst#60'],
    'as many as may be in flight',
  );
  for (const [id, key] of [
    ['next#1', 'free-1'],
    ['next#2', 'free-1'],
    ['next#3', 'pro-1'],
  ] as const)
    trace.admit(answered({ id, key }), 'in-full');
  t.strictSame(
    ['next#1', 'next#2', 'next#3'].map((id) => trace.findReading(id)?.afterLost),
    [true, undefined, true],
    'the first of each key after it as well',
  );
  t.end();
});

t.test('readings of a key are told in the order of sending, be their answers in another one', (t) => {
  const trace = traceOf();
  const parts: readonly [id: string, sentAt: number, receivedAt: number][] = [
    ['check#2', 20, 50],
    ['check#1', 10, 60],
    ['check#4', 55, 70],
    ['check#3', 30, 80],
  ];
  for (const [id, sentAt, receivedAt] of parts)
    trace.admit(answered({ id, sentAt: NOON + sentAt, receivedAt: NOON + receivedAt }), 'in-full');
  const since = (time?: number) =>
    trace.readingsOf(testKey(), time === undefined ? undefined : NOON + time).map(({ id }) => id);
  t.strictSame(since(), ['check#1', 'check#2', 'check#3', 'check#4']);
  t.strictSame(since(20), ['check#2', 'check#3', 'check#4']);
  t.strictSame(since(21), ['check#3', 'check#4']);
  t.strictSame(since(55), ['check#4'], 'one that came in meanwhile was sent before');
  t.strictSame(trace.readingsOf(PRO), []);
  t.end();
});

t.test('a key may add once an addition of its own succeeded', async (t) => {
  const animal = addPet({ name: 'Bello', categoryId: 1n });
  for (const [status, adding] of [
    [201, 'allowed'],
    [200, 'allowed'],
    [302, 'untried'],
    [403, 'untried'],
    [500, 'untried'],
  ] as const) {
    const { run } = testRun(() => ({ status }), { keys: [testKey(), PRO] });
    await run.sceneRun('check', 'ordinary').attempt(animal, testKey());
    t.strictSame(
      run.sender.lanes.map((lane) => lane.adding),
      [adding, 'untried'],
      `${status}`,
    );
  }
});

t.test('only a list says how many animals it held', async (t) => {
  const { run } = testRun((request) => ({ body: request.operation === 'listPets' ? '[{},{}]' : '{}' }));
  await run.sceneRun('check', 'ordinary').attempt(listPets(), testKey());
  await run.sceneRun('check', 'ordinary').attempt(getPet(1n), testKey());
  t.strictSame(
    run.trace.readings.map((reading) => ('listed' in reading ? reading.listed : 'none')),
    [2, 'none'],
  );
});
