import t from 'tap';
import type { HeaderList } from '../wire/exchange.ts';
import { addPet, getPet, listPets } from '../wire/requests.ts';
import type { AnswerParts } from '../wire/testing/answered.ts';
import { drawNumber } from './run-facts.ts';
import { NOON, payer, ROUND_TRIP, type TestRun, testKey, testRun } from './testing/test-run.ts';

const RESET = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;
const INTERRUPTED = { kind: 'failure', reason: 'interrupted', message: 'the run ended' } as const;

const refused = (...told: HeaderList): AnswerParts => ({ status: 429, headers: told });
const after = (value: string): AnswerParts => refused(['Retry-After', value]);

/** A target that answers these in turn, and 200 from then on. */
const inTurn = (...answers: readonly (AnswerParts | typeof RESET | typeof INTERRUPTED)[]) =>
  testRun((_request, number) => answers[number - 1] ?? {});

const probeOf = ({ run }: TestRun, name = 'check') => run.probe(name);

t.test('a request is one exchange, named after the scene and counted', async (t) => {
  const target = inTurn();
  const probe = probeOf(target);
  t.match(await probe.send(listPets({ limit: 1 })), {
    id: 'check#1',
    key: 'free-1',
    request: { path: '/pets?limit=1' },
  });
  t.match(await probe.send(getPet(7n)), { id: 'check#2', request: { path: '/pets/7' } });
  t.strictSame(
    target.sent.map(({ authorization }) => authorization),
    [1, 2].map(() => ({ kind: 'key', name: 'free-1', value: 'value of free-1' })),
  );
  t.strictSame(target.waits(), []);
});

t.test('what the run knows', async (t) => {
  const pro = testKey({ name: 'pro-1' });
  const { run } = testRun(undefined, {
    keys: [testKey(), pro],
    permissions: new Set(['writes']),
    sampleCategoryId: 7n,
  });
  const probe = run.probe('check');
  t.match(probe.run, {
    id: 'abcd2345',
    baseUrl: 'https://staging.example.com/v1',
    sampleCategoryId: 7n,
    clockSpeed: 1,
    permissions: new Set(['writes']),
  });
  t.equal(probe.trace.targetClock, run.trace.targetClock);
  t.equal(probe.wasCutOff, false);
  t.strictSame(
    probe.keys.map(({ name }) => name),
    ['free-1', 'pro-1'],
  );
  const [lane] = run.sender.lanes;
  if (lane !== undefined) lane.unusable = 'unknown to the target';
  t.strictSame(
    probe.keys.map(({ name }) => name),
    ['pro-1'],
  );
});

t.test('a named key pays, whatever its role, and not before its minute admits it', async (t) => {
  const key = testKey({ name: 'ban', roles: ['ban'], limits: { perMinute: 1, perDay: 1 } });
  const { run, sent, waits } = testRun(undefined, { keys: [testKey(), key] });
  const probe = run.probe('check');
  await probe.send(listPets(), { key });
  await probe.send(listPets(), { key });
  t.strictSame(sent.map(payer), ['ban', 'ban']);
  t.strictSame(waits(), ['60: the next window of key ban']);
});

t.test('a key that is being counted pays when that is over, or another one does', async (t) => {
  const key = testKey();
  for (const [payment, paid] of [
    [{ key }, ['free-1', 'free-1']],
    [{}, ['free-1', 'pro-1']],
  ] as const) {
    const { run, sent, waits } = testRun(undefined, { keys: [key, testKey({ name: 'pro-1' })] });
    const probe = run.probe('count');
    const count = probe.lane(key).reserveFor(async () => {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      await probe.attempt(listPets(), key);
    });
    await Promise.all([count, run.probe('check').send(listPets(), payment)]);
    t.strictSame(sent.map(payer).sort(), paid);
    if ('key' in payment) {
      t.match(waits()[0], /: the count of key free-1 to end$/);
      t.strictSame(
        run.trace.readings.map(({ id }) => id),
        ['count#1', 'check#1'],
      );
    }
  }
});

t.test('a connection that broke is tried once more, where that can do no harm', async (t) => {
  const once = inTurn(RESET);
  t.match(await probeOf(once).send(listPets()), { id: 'check#2', outcome: { status: 200 } });
  const twice = inTurn(RESET, RESET);
  await t.rejects(probeOf(twice).send(listPets()), {
    name: 'Unsettled',
    message: 'no answer: the connection was reset',
    evidence: [{ id: 'check#2' }],
  });
  const adding = inTurn(RESET);
  await t.rejects(probeOf(adding).send(addPet({ name: 'a' })), {
    message: 'no answer: the connection was reset',
  });
  const additions = adding.sent.filter(({ method }) => method === 'POST');
  t.equal(additions.length, 1, 'an animal may have been added');
});

t.test('an interruption is not tried again, and called by its name', async (t) => {
  const target = inTurn(INTERRUPTED);
  await t.rejects(probeOf(target).send(listPets()), { name: 'RunEnded', message: 'the run ended' });
  t.equal(target.sent.length, 1);
});

t.test('a gateway that is unavailable is asked once more, a second later', async (t) => {
  for (const status of [502, 503, 504]) {
    const once = inTurn({ status });
    t.match(await probeOf(once).send(listPets()), { outcome: { status: 200 } });
    t.strictSame(once.waits(), [`${1 + ROUND_TRIP / 1000}: the target, which answered ${status}`]);
    const twice = inTurn({ status }, { status });
    t.match(await probeOf(twice).send(listPets()), { id: 'check#2', outcome: { status } }, 'its own answer');
  }
  const own = inTurn({ status: 500 });
  t.match(await probeOf(own).send(listPets()), { id: 'check#1', outcome: { status: 500 } });
});

t.test('a 429 that no check provoked is waited out as it tells', async (t) => {
  const cases: readonly (readonly [string, AnswerParts, number])[] = [
    ['seconds', after('5'), 5.01],
    ['milliseconds', after('5000'), 5.01],
    ['nothing', refused(), 60.01],
    ['unreadable', after('soon'), 60.01],
    ['nothing, with a clock', refused(['Date', dateAt(0)]), 60.01],
    ['unreadable, with a clock', refused(['Retry-After', 'soon'], ['Date', dateAt(0)]), 60.01],
    ['a date, by the target’s clock', refused(['Retry-After', dateAt(5000)], ['Date', dateAt(0)]), 5.01],
    ['a date, but no clock to read it by', after(dateAt(5000)), 60.01],
    ['as long as a window and its rounding', after('119'), 119.01],
  ];
  for (const [name, answer, until] of cases) {
    const target = inTurn(answer);
    t.match(await probeOf(target).send(listPets()), { id: 'check#2', outcome: { status: 200 } }, name);
    t.strictSame(
      target.waits(),
      [`${until}: Retry-After of key free-1, which another client is using too`],
      name,
    );
  }
});

const dateAt = (milliseconds: number) => new Date(NOON + milliseconds).toUTCString();

t.test('meanwhile the key is left alone: another one pays for what other checks send', async (t) => {
  const keys = [testKey({ limits: { perMinute: 100, perDay: 1000 } }), testKey({ name: 'free-2' })];
  const { run, sent, clock } = testRun((_request, number) => (number === 1 ? after('30') : {}), { keys });
  const refusedOnce = run.probe('check').send(listPets());
  const other = run.probe('other');
  await other.send(listPets());
  await other.send(listPets());
  t.strictSame(sent.map(payer), ['free-1', 'free-1', 'free-2'], 'one was under way already');
  t.equal(run.sender.lanes[0]?.left(NOON + 20_000), 0);
  t.match(await refusedOnce, { key: 'free-1', outcome: { status: 200 } });
  t.ok(clock.now() >= NOON + 30_000);
});

t.test('a neighbour that leaves nothing makes the check inconclusive, never failed', async (t) => {
  const always = testRun(() => after('1'));
  await t.rejects(probeOf(always).send(listPets()), {
    name: 'Unsettled',
    message:
      /^429 for key free-1 of 60 a minute although the check had quota left, as if another client were using the key/,
    evidence: [{ id: 'check#4' }],
  });
  t.equal(always.sent.length, 4);
  const long = inTurn(after('121'));
  await t.rejects(probeOf(long).send(listPets()), { message: /another client were using the key/ });
  t.strictSame([long.sent.length, long.waits()], [1, []], 'a day is not waited for');
});

t.test('requests without a key are treated likewise, and carry what they were told to', async (t) => {
  const target = inTurn(after('5'));
  const probe = probeOf(target);
  await probe.sendWithoutKey(listPets(), 'none');
  t.strictSame(target.waits(), [
    '5.01: Retry-After of a request without a key, which the target limits as well',
  ]);
  await probe.sendWithoutKey(listPets(), { header: 'Basic abc', described: 'Basic <a key>' });
  t.strictSame(
    target.sent.map(({ authorization }) => authorization),
    [{ kind: 'none' }, { kind: 'none' }, { kind: 'raw', header: 'Basic abc', described: 'Basic <a key>' }],
  );
  t.match(target.run.trace.exchanges.at(-1), { id: 'check#3', key: null });
  const broken = inTurn(RESET);
  t.match(await probeOf(broken).sendWithoutKey(listPets(), 'none'), { id: 'check#2' });
  const always = testRun(() => after('1'));
  await t.rejects(probeOf(always).sendWithoutKey(listPets(), 'none'), {
    message: /^429 for a request without a key: the target limits those as well, and Retry-After says 1$/,
  });
});

t.test(
  'a valid key that everything refuses may be banned; one operation that does is a fault of it',
  async (t) => {
    for (const status of [401, 403]) {
      const banned = testRun(() => ({ status }));
      await t.rejects(probeOf(banned).send(listPets()), {
        name: 'Unsettled',
        message: `key free-1 is always refused with ${status}: it may be banned because of another client`,
        evidence: [{ id: 'check#1' }, { id: 'check#2', request: { path: '/pets/1' } }],
      });
      const faulty = testRun(({ operation }) => ({ status: operation === 'getPet' ? status : 200 }));
      t.match(await probeOf(faulty).send(getPet(7n)), { id: 'check#1', outcome: { status } });
      t.match(faulty.sent.at(-1), { path: '/pets?limit=1' }, 'another operation tells');
      const other = testRun((_request, number) => ({ status: number === 1 ? status : 429 }));
      t.match(await probeOf(other).send(listPets()), { id: 'check#1' });
      const broken = testRun((_request, number) => (number === 1 ? { status } : RESET));
      t.match(await probeOf(broken).send(listPets()), { id: 'check#1' });
    }
    const preflight = testRun(() => ({ status: 401 }));
    t.match(await probeOf(preflight, 'preflight').send(listPets()), { outcome: { status: 401 } });
    t.equal(preflight.sent.length, 1, 'whether a key is known is what it asks');
  },
);

t.test('an attempt returns whatever comes', async (t) => {
  const target = inTurn(after('5'), RESET, { status: 503 });
  const probe = probeOf(target);
  t.match(await probe.attempt(listPets(), testKey()), { outcome: { status: 429 } });
  t.match(await probe.attempt(listPets(), testKey()), { outcome: RESET });
  t.match(await probe.attempt(listPets(), testKey()), { outcome: { status: 503 } });
  t.strictSame(target.waits(), []);
});

t.test('of an ordinary check every answer is kept in full', async (t) => {
  const target = inTurn();
  const probe = probeOf(target);
  for (let number = 1; number <= 4; number += 1) await probe.send(listPets());
  t.equal(target.run.trace.exchanges.length, 4);
});

t.test('what is told of an exchange later', async (t) => {
  const target = inTurn();
  const probe = probeOf(target);
  const exchange = await probe.send(listPets());
  t.equal(probe.trace.find('check#1'), exchange);
  t.equal(probe.trace.find('check#2'), undefined);
  t.strictSame(probe.trace.readingsOf(testKey()), target.run.trace.readings);
  t.strictSame(probe.trace.readingsOf(testKey(), NOON + 1), []);
  probe.progress(testKey(), 5, 10);
  t.match(target.events.at(-1), { kind: 'spending', key: 'free-1', done: 5, of: 10 });
});

t.test('a random number is the same whenever the run is resumed', async (t) => {
  const probe = probeOf(inTurn());
  const again = probeOf(inTurn());
  t.equal(drawNumber(probe.run, 'id', 2n ** 63n), drawNumber(again.run, 'id', 2n ** 63n));
  t.not(drawNumber(probe.run, 'id', 2n ** 63n), drawNumber(probe.run, 'name', 2n ** 63n));
  t.not(drawNumber(probe.run, 'id', 2n ** 63n), drawNumber({ id: 'other2345' }, 'id', 2n ** 63n));
  for (let index = 0; index < 50; index += 1)
    t.ok([0n, 1n, 2n].includes(drawNumber(probe.run, `${index}`, 3n)));
});
