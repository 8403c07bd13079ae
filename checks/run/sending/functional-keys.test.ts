/** Which key pays where a check names none, and which is asked to add animals. */
import t from 'tap';
import type { Key } from '../../profile/key.ts';
import { addPet, getPet, listPets } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import type { Probe } from '../probe.ts';
import { NOON, payer, type TestRun, testKey, testRun } from '../testing/test-run.ts';
import { Unsettled } from '../unsettled.ts';
import { FunctionalKeys, NO_KEY_MAY_ADD } from './functional-keys.ts';

const probeOf = ({ run }: TestRun): Probe => run.probe('check');
const adding = ({ run }: TestRun) => run.sender.lanes.map((lane) => lane.adding);
/** Keys of the same plan. */
const keysNamed = (...names: readonly string[]): Key[] => names.map((name) => testKey({ name }));

t.test(
  'the key of the largest plan pays, and is waited for; one without the role or unusable never does',
  async (t) => {
    const keys = [
      testKey({ name: 'ban', roles: ['ban'], limits: { perMinute: 1000, perDay: 1000 } }),
      testKey({ name: 'bad', limits: { perMinute: 900, perDay: 1000 } }),
      testKey({ name: 'small', limits: { perMinute: 2, perDay: 1000 } }),
      testKey({ name: 'large', limits: { perMinute: 4, perDay: 1000 } }),
    ];
    const { run, sent, waits } = testRun(undefined, { keys });
    const bad = run.sender.lanes[1];
    if (bad !== undefined) bad.unusable = 'unknown to the target';
    const probe = run.probe('check');
    for (let number = 1; number <= 4; number += 1) await probe.send(listPets());
    t.strictSame(waits(), []);
    await probe.send(listPets());
    t.equal(sent.map(payer).join(), 'large,large,large,large,large', 'another key may see other animals');
    t.strictSame(waits(), ['60: the next window of key large']);
  },
);

t.test('lists are asked for with a key that may add, once that is known', async (t) => {
  const keys = [testKey({ name: 'reads-only' }), testKey({ name: 'adds-too' })];
  const target = testRun((request) => (request.method === 'POST' ? answerTo(payer(request)) : {}), { keys });
  const answerTo = (key: string | null) => (key === 'reads-only' ? FORBIDDEN : CREATED);
  const probe = probeOf(target);
  await probe.send(listPets());
  await probe.send(animal);
  await probe.send(listPets());
  t.strictSame(target.sent.filter(({ method }) => method === 'GET').map(payer), [
    'reads-only',
    'reads-only',
    'adds-too',
  ]);
});

t.test('a key that may not add pays for lists where there is no other, whatever its plan', async (t) => {
  const large = testKey({ name: 'large', limits: { perMinute: 300, perDay: 10_000 } });
  const small = testKey({ name: 'small' });
  for (const keys of [
    [large, small],
    [small, large],
  ]) {
    const target = testRun(undefined, { keys });
    const lane = target.run.sender.laneOf({ key: 'large' });
    if (lane !== undefined) lane.adding = 'forbidden';
    await probeOf(target).send(listPets());
    if (lane !== undefined) lane.adding = 'untried';
    await probeOf(target).send(listPets());
    t.strictSame(target.sent.map(payer), ['small', 'large']);
  }
});

t.test('while the usual key is left alone the one pays that is ready first', async (t) => {
  const names = ['usual', 'refused', 'ready', 'ready-too'];
  const { run } = testRun(undefined, { keys: keysNamed(...names) });
  const next = () => {
    const { name } = new FunctionalKeys(run.sender).next('listPets', NOON);
    const at = run.sender.laneOf({ key: name })?.readyAt(NOON, run.trace.targetClock) ?? 0;
    return `${name} at ${(at - NOON) / 1000}`;
  };
  t.equal(next(), 'usual at 0');
  for (const [index, seconds] of [30, 10].entries())
    run.sender.lanes[index]?.refusedUntil(NOON + seconds * 1000);
  t.equal(next(), 'ready at 0', 'of two that are ready the first');
  for (const index of [2, 3]) run.sender.lanes[index]?.refusedUntil(NOON + 20_000);
  t.equal(next(), 'refused at 10');
  run.sender.lanes[1]?.refusedUntil(NOON + 40_000);
  t.equal(next(), 'ready at 20');
  for (const index of [2, 3]) run.sender.lanes[index]?.refusedUntil(NOON + 50_000);
  t.equal(next(), 'usual at 30');
});

t.test('a key that is being counted is left alone, where there is another one', async (t) => {
  const [counted = testKey(), other = counted] = keysNamed('free-1', 'free-2');
  for (const [keys, paid] of [
    [[counted, other], 'free-2'],
    [[counted], 'free-1'],
  ] as const) {
    const { run, sent } = testRun(undefined, { keys });
    await run
      .probe('count')
      .lane(counted)
      .reserveFor(() => run.probe('check').send(listPets()));
    t.strictSame(sent.map(payer), [paid]);
  }
});

t.test('with no key that pays a check cannot tell', async (t) => {
  const { run, sent } = testRun(undefined, { keys: [testKey({ roles: ['ban'] })] });
  await t.rejects(
    run.probe('check').send(listPets()),
    new Unsettled('no usable key has the role functional'),
  );
  t.equal(sent.length, 0);
});

const FORBIDDEN: AnswerParts = { status: 403 };
const CREATED: AnswerParts = { status: 201 };
const animal = addPet({ name: 'Rex', categoryId: 1n });

/** Two keys and what each answers to additions; lists are answered. */
const withPermissions = (answers: (key: string | null, body: string | undefined) => AnswerParts) =>
  testRun((request) => (request.method === 'POST' ? answers(payer(request), request.body) : {}), {
    keys: [testKey(), testKey({ name: 'free-2' })],
  });
const additionsOf = ({ sent }: TestRun) => sent.filter(({ method }) => method === 'POST').map(payer);

t.test(
  'an addition that is forbidden to one key is tried with another, and that key adds no more',
  async (t) => {
    const target = withPermissions((key) => (key === 'free-1' ? FORBIDDEN : CREATED));
    const probe = probeOf(target);
    const exchange = await probe.send(animal);
    t.match([exchange.outcome.status, exchange.key], [201, 'free-2']);
    await probe.send(animal);
    t.strictSame(additionsOf(target), ['free-1', 'free-2', 'free-2']);
  },
);

t.test('an addition that is forbidden to a key which has added is forbidden for itself', async (t) => {
  const target = withPermissions((_key, body) => (body === 'wrong' ? FORBIDDEN : CREATED));
  const probe = probeOf(target);
  await probe.send(animal);
  const wrong = { ...animal, body: 'wrong' };
  for (const _turn of [1, 2]) {
    const exchange = await probe.send(wrong);
    t.equal(exchange.outcome.status, 403);
  }
  t.strictSame(additionsOf(target), ['free-1', 'free-1', 'free-1'], 'no other key is asked');
});

t.test('where no key may add, nothing more is added', async (t) => {
  const target = withPermissions(() => FORBIDDEN);
  const probe = probeOf(target);
  t.match(await probe.send(animal), { outcome: { status: 403 } });
  t.strictSame(adding(target), ['doubtful', 'doubtful'], 'that it is for the keys is not known');
  await probe.send(animal);
  t.strictSame(
    additionsOf(target),
    ['free-1', 'free-2', 'free-1'],
    'each key once, then no other one is asked',
  );
  for (const lane of target.run.sender.lanes) lane.adding = 'forbidden';
  await t.rejects(probe.send(animal), new Unsettled(NO_KEY_MAY_ADD));
  t.match(await probe.send(listPets()), { outcome: { status: 200 } });
});

t.test('a key that has added before tells whether it is for the key or for the animal', async (t) => {
  const keys = keysNamed('new', 'untried', 'adds', 'adds-too');
  const cases: [anywhere: boolean, asked: string[], became: string][] = [
    [true, ['new', 'adds'], 'doubtful'],
    [false, ['new', 'adds'], 'forbidden'],
  ];
  for (const [anywhere, asked, became] of cases) {
    const target = testRun(
      (request) => (request.body === 'wrong' && (anywhere || payer(request) === 'new') ? FORBIDDEN : CREATED),
      { keys },
    );
    const probe = probeOf(target);
    for (const key of keys.slice(2)) await probe.send(animal, { key });
    const { key, outcome } = await probe.send({ ...animal, body: 'wrong' });
    t.strictSame([key, outcome.status], ['adds', anywhere ? 403 : 201]);
    t.strictSame(additionsOf(target).slice(2), asked);
    t.strictSame(adding(target), [became, 'untried', 'allowed', 'allowed']);
  }
});

t.test(
  'an addition with a key that the check names, a list, an invalid animal: no other key is asked',
  async (t) => {
    const [first = testKey(), ...others] = keysNamed('free-1', 'free-2');
    const forbidden = testRun((request) => (request.method === 'POST' ? FORBIDDEN : {}), {
      keys: [first, ...others],
    });
    t.equal((await probeOf(forbidden).send(animal, { key: first })).outcome.status, 403);
    t.strictSame(additionsOf(forbidden), ['free-1']);

    const hidden = testRun(({ operation }) => ({ status: operation === 'getPet' ? 403 : 200 }), {
      keys: [first, ...others],
    });
    t.equal((await probeOf(hidden).send(getPet(1n))).outcome.status, 403);
    t.strictSame(hidden.sent.map(payer), ['free-1', 'free-1'], 'nor for the list that tells it from a ban');

    const invalid = testRun(() => ({ status: 400 }), { keys: [first, ...others] });
    t.equal((await probeOf(invalid).send(animal)).outcome.status, 400);
    t.strictSame(additionsOf(invalid), ['free-1']);
  },
);
