import { join } from 'node:path';
import t from 'tap';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import { addPet, getPet, listPets } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { type Scene, Unsettled } from './check.ts';
import { Journal, readJournal } from './journal.ts';
import type { Run } from './run.ts';
import { NOON, ROUND_TRIP, testKey, testRun } from './testing/test-run.ts';

const HEADER = {
  journal: 1,
  runId: 'abcd2345',
  startedAt: NOON,
  target: 'https://staging.example.com/v1',
  permissions: [],
  keys: ['free-1'],
  clockSpeed: 1,
} as const;
const RESET = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;

const list = (run: Run, id: string, uniform = false, key = 'free-1'): Promise<Exchange> =>
  run.exchange(
    { ...listPets(), authorization: { kind: 'key', name: key, value: `value of ${key}` } },
    { id, sentBy: id.split('#')[0] ?? id },
    uniform,
  );

t.test('an exchange is sent, journalled, counted and told', async (t) => {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, HEADER);
  const begun: unknown[] = [];
  const { run, sent, events } = testRun(
    () => {
      begun.push(readJournal(file));
      return { headers: [['X-RateLimit-Remaining', '59']] };
    },
    { journal },
  );
  const exchange = await list(run, 'check#1');
  journal.close();
  t.match(begun, [{ exchanges: new Map(), lost: new Map([['free-1', 1]]) }], 'begun before it was sent');
  const stored = readJournal(file);
  t.strictSame(stored.ok && stored.exchanges.get('check#1'), exchange);
  t.equal(sent.length, 1);
  t.strictSame(run.exchanges, [exchange]);
  t.equal(run.find('check#1'), exchange);
  t.match(run.readings, [{ id: 'check#1', remaining: 59, listed: 0, sentAt: NOON }]);
  t.strictSame(run.readings, run.readingsOf(testKey()));
  t.strictSame([...run.requestsByKey], [['free-1', 1]]);
  t.strictSame(events, [{ kind: 'exchange', exchange }]);
  t.equal(run.lanes[0]?.requests, 1);
  t.equal(run.keyOf(exchange)?.name, 'free-1');
  t.equal(run.laneOf(exchange), run.lanes[0]);
});

t.test('one without a valid key spends no key', async (t) => {
  const { run } = testRun(() => ({ status: 401 }));
  const exchange = await run.exchange(
    { ...listPets(), authorization: { kind: 'none' } },
    { id: 'anonymous#1', sentBy: 'anonymous' },
    false,
  );
  t.strictSame([...run.requestsByKey], [['(none)', 1]]);
  t.equal(run.lanes[0]?.requests, 0);
  t.equal(run.keyOf(exchange), undefined);
  t.equal(run.refusalsOf(exchange), 0);
  t.equal(run.readings.length, 1);
  t.strictSame(run.readingsOf(testKey()), []);
});

t.test('a failure is kept and told, and is no reading', async (t) => {
  const { run, events } = testRun(() => RESET);
  await list(run, 'check#1', true);
  await list(run, 'check#2', true);
  await list(run, 'check#3', true);
  t.equal(run.exchanges.length, 3, 'each failure in full, also in a burst');
  t.strictSame(run.readings, []);
  t.strictSame([...run.requestsByKey], [['free-1', 3]]);
  t.equal(events.length, 3);
});

t.test('the first answer on a key after one that was lost is marked', async (t) => {
  const { run } = testRun((_request, number) => (number === 2 || number === 3 ? RESET : {}), {
    keys: [testKey(), testKey({ name: 'pro-1' })],
  });
  for (const [number, key] of ['free-1', 'free-1', 'free-1', 'pro-1', 'free-1', 'free-1'].entries())
    await list(run, `check#${number + 1}`, false, key);
  t.strictSame(
    run.readings.filter(({ afterLost }) => afterLost === true).map(({ id }) => id),
    ['check#5'],
  );
  t.notOk('afterLost' in (run.readings[0] ?? {}));
  const stored = ['check#1', 'check#2'].map((id) => [id, answered({ id, path: '/pets' })] as const);
  const again = testRun(undefined, { recorded: new Map(stored), besideLost: new Set(['check#2']) }).run;
  for (const [id] of stored) await list(again, id, false);
  t.strictSame(
    again.readings.map(({ afterLost }) => afterLost),
    [undefined, true],
  );
});

t.test('of the uniform answers of a burst two of each sender and status are kept', async (t) => {
  const { run } = testRun((_request, number) => ({ status: number % 4 === 0 ? 429 : 200 }));
  for (let number = 1; number <= 12; number += 1) await list(run, `burst#${number}`, true);
  await list(run, 'other#1', true);
  await list(run, 'burst#13');
  t.strictSame(
    run.exchanges.map(({ id }) => id),
    ['burst#1', 'burst#2', 'burst#4', 'burst#8', 'other#1', 'burst#13'],
  );
  t.equal(run.find('burst#3'), undefined);
  t.equal(run.readings.length, 14, 'every one is a reading');
  t.equal(run.refusalsOf(answered()), 3);
});

t.test('every addition of a burst is kept', async (t) => {
  const { run } = testRun(() => ({ status: 201 }));
  for (let number = 1; number <= 4; number += 1) {
    await run.exchange(
      {
        ...addPet({ name: 'Bello', categoryId: 1n }),
        authorization: { kind: 'key', name: 'free-1', value: 'value of free-1' },
      },
      { id: `burst#${number}`, sentBy: 'burst' },
      true,
    );
  }
  t.equal(run.exchanges.length, 4);
});

t.test('what an earlier run exchanged is taken instead of sent again', async (t) => {
  const stored = answered({ id: 'check#1', sentAt: NOON - 5000, status: 429 });
  const { run, sent } = testRun(undefined, { recorded: new Map([['check#1', stored]]) });
  t.equal(await list(run, 'check#1'), stored);
  t.equal(sent.length, 0);
  t.equal(run.lanes[0]?.left(NOON + 54_999), 59, 'it counts towards its own minute');
  t.equal(run.lanes[0]?.left(NOON + 55_000), 60);
  t.equal(run.refusalsOf(stored), 1);
  t.match(await list(run, 'check#2'), { sentAt: NOON });
  t.equal(sent.length, 1);
});

t.test('what an earlier run asked otherwise is neither taken nor sent again', async (t) => {
  const recorded = new Map([['check#1', answered({ id: 'check#1', path: '/pets?limit=7' })]]);
  for (const offline of [true, false]) {
    const { run, sent } = testRun(undefined, { recorded, offline });
    await t.rejects(
      list(run, 'check#1'),
      new Unsettled(
        'the stored run asked GET /pets?limit=7 as check#1, where this one asks GET /pets: it is not judged',
      ),
    );
    t.strictSame([sent, run.readings, run.lanes[0]?.requests], [[], [], 0]);
    t.equal(run.lostRequests('free-1'), 1, 'it was spent all the same');
  }
});

t.test('the first request on each key after an interruption is marked, stored or sent', async (t) => {
  const stored = ['check#1', 'check#2', 'check#3'].map((id) => answered({ id, sentAt: NOON - 5000 }));
  const { run } = testRun(undefined, {
    keys: [testKey(), testKey({ name: 'pro-1' })],
    recorded: new Map(stored.map((exchange) => [exchange.id, exchange])),
    resumedWith: new Set(['check#2']),
  });
  for (const id of ['check#1', 'check#2', 'check#3', 'check#4', 'check#5']) await list(run, id);
  await list(run, 'check#6', false, 'pro-1');
  t.strictSame(
    run.readings.filter(({ resumed }) => resumed === true).map(({ id }) => id),
    ['check#2', 'check#4', 'check#6'],
  );
  const { run: whole } = testRun();
  await list(whole, 'check#1');
  t.notOk('resumed' in (whole.readings[0] ?? {}));
});

t.test('a stored exchange spends the key that it was sent with', async (t) => {
  const stored = answered({ id: 'check#1', key: 'pro-1', sentAt: NOON });
  const { run } = testRun(undefined, {
    keys: [testKey(), testKey({ name: 'pro-1' })],
    recorded: new Map([['check#1', stored]]),
  });
  await list(run, 'check#1');
  t.strictSame(
    run.lanes.map(({ requests }) => requests),
    [0, 1],
  );
});

t.test('offline nothing is sent', async (t) => {
  const { run, sent, waits } = testRun(undefined, { offline: true });
  await t.rejects(list(run, 'check#1'), new Unsettled('the stored run has no exchange check#1 (GET /pets)'));
  await run.waitUntil(NOON + 1000, 'a window');
  t.strictSame([sent, waits()], [[], []]);
});

t.test('after an interruption nothing is sent or waited for, stored exchanges included', async (t) => {
  const stopping = new AbortController();
  const { run, sent, events } = testRun(undefined, {
    signal: stopping.signal,
    recorded: new Map([['check#1', answered({ id: 'check#1' })]]),
  });
  stopping.abort(new Error('SIGINT'));
  await t.rejects(list(run, 'check#1'), new Unsettled('interrupted'));
  await t.rejects(run.waitUntil(NOON + 1000, 'a window'), new Unsettled('interrupted'));
  t.equal(sent.length, 0);
  t.strictSame(
    events.map(({ kind }) => kind),
    ['waiting', 'waited'],
  );
});

t.test('a wait is told when it begins and ends; what has come already is not waited for', async (t) => {
  const { run, events, clock } = testRun();
  await run.waitUntil(NOON, 'nothing');
  await run.waitUntil(NOON + 5000, 'a window');
  t.strictSame(events, [
    { kind: 'waiting', until: NOON + 5000, for: 'a window' },
    { kind: 'waited', for: 'a window' },
  ]);
  t.equal(clock.now(), NOON + 5000);
});

t.test('progress is told', async (t) => {
  const { run, events } = testRun();
  run.progress('free-1', 10, 1000);
  t.strictSame(events, [{ kind: 'spending', key: 'free-1', done: 10, of: 1000 }]);
});

t.test('readings of a key in the order of sending, since a moment', async (t) => {
  const { run, clock } = testRun(undefined, { keys: [testKey(), testKey({ name: 'pro-1' })] });
  await list(run, 'check#1');
  await list(run, 'check#2', false, 'pro-1');
  await Promise.all([list(run, 'check#3'), list(run, 'check#4')]);
  clock.pass(1000);
  await list(run, 'check#5');
  const ids = (since?: number) => run.readingsOf(testKey(), since).map(({ id }) => id);
  t.strictSame(ids(), ['check#1', 'check#3', 'check#4', 'check#5']);
  t.strictSame(ids(NOON), ['check#1', 'check#3', 'check#4', 'check#5']);
  t.strictSame(ids(NOON + 1), ['check#3', 'check#4', 'check#5']);
  t.strictSame(ids(NOON + 2 * ROUND_TRIP), ['check#3', 'check#4', 'check#5']);
  t.strictSame(ids(NOON + 2 * ROUND_TRIP + 1), ['check#5']);
  t.strictSame(ids(NOON + 60_000), []);
  t.strictSame(run.readingsOf(testKey({ name: 'other' })), []);
});

t.test('whoever observes sees every answer of the three operations, in the order of receipt', async (t) => {
  const { run } = testRun((request) => (request.path === '/pets/2' ? RESET : { status: 404 }));
  const seen: AnsweredExchange[] = [];
  run.onAnswer((exchange) => seen.push(exchange));
  const probe = run.probe('check');
  await probe.attempt(getPet(1n), testKey());
  await probe.attempt(getPet(2n), testKey());
  await probe.attempt({ operation: 'other', method: 'GET', path: '/nowhere' }, testKey());
  await probe.attempt(listPets(), testKey());
  t.strictSame(
    seen.map(({ id }) => id),
    ['check#1', 'check#4'],
  );
});

t.test('animals that were added are counted', async (t) => {
  const { run } = testRun((_request, number) => ({ status: number === 1 ? 400 : 201 }));
  const probe = run.probe('check');
  const pet = { name: 'b', categoryId: 1n };
  for (const spec of [addPet({ name: 'a' }), addPet(pet), addPet(pet), addPet(pet), listPets()])
    await probe.attempt(spec, testKey());
  t.equal(run.animalsAdded, 3);
});

t.test('a target that was silent for longer than the run’s patience is sent nothing more', async (t) => {
  const stored = answered({ id: 'check#9' });
  const silent: Exchange = { ...stored, id: 'check#8', outcome: RESET };
  const recorded = new Map<string, Exchange>([stored, silent].map((exchange) => [exchange.id, exchange]));
  const { run, sent } = testRun(() => RESET, { patience: 0, recorded });
  await list(run, 'check#8');
  await list(run, 'check#1');
  await list(run, 'check#2');
  t.equal(run.presence.gone, undefined, 'a stored silence is over');
  await list(run, 'check#3');
  await t.rejects(list(run, 'check#4'), { name: 'Unsettled', message: /^the target stopped answering/ });
  t.equal(sent.length, 3);
  t.equal(await list(run, 'check#9'), stored, 'what is stored is taken still');
});

t.test('waits in vain are forgotten once a request of the key is admitted', async (t) => {
  const { run } = testRun((_request, number) => ({ status: number === 1 ? 429 : 200 }));
  run.waitsInVain.set('free-1', 2);
  await list(run, 'check#1');
  t.equal(run.waitsInVain.get('free-1'), 2);
  await list(run, 'check#2');
  t.equal(run.waitsInVain.get('free-1'), undefined);
});

t.test('only a list says how many animals it held', async (t) => {
  const { run } = testRun((request) => ({ body: request.operation === 'listPets' ? '[{},{}]' : '{}' }));
  const probe = run.probe('check');
  await probe.attempt(listPets(), testKey());
  await probe.attempt(getPet(1n), testKey());
  t.strictSame(
    run.readings.map((reading) => ('listed' in reading ? reading.listed : 'none')),
    [2, 'none'],
  );
});

t.test('when this part of the run began', async (t) => {
  t.equal(testRun().run.resumedAt, 0);
  t.equal(testRun(undefined, { recorded: new Map() }).run.resumedAt, NOON);
  t.equal(testRun(undefined, { recorded: new Map(), offline: true }).run.resumedAt, 0);
});

t.test('a scene is played once, whoever asks, also where it fails', async (t) => {
  const { run } = testRun();
  let played = 0;
  const scene: Scene<number> = { id: 'shared', play: async () => (played += 1) };
  t.strictSame(await Promise.all([run.play(scene), run.play(scene)]), [1, 1]);
  const failing: Scene<number> = {
    id: 'failing',
    play: async () => {
      played += 1;
      throw new Unsettled('no answer');
    },
  };
  await t.rejects(run.play(failing), new Unsettled('no answer'));
  await t.rejects(run.play(failing), new Unsettled('no answer'));
  t.equal(played, 2);
});

t.test('a scene sends under its own name', async (t) => {
  const { run } = testRun();
  const scene: Scene<Exchange> = {
    id: 'shared',
    play: async (probe) => probe.attempt(listPets(), testKey()),
  };
  t.match(await run.play(scene), { id: 'shared#1', sentBy: 'shared' });
});

t.test('a scene that needs a permission is not played without', async (t) => {
  const scene: Scene<string> = { id: 'shared', permit: 'ban', play: async () => 'played' };
  await t.rejects(testRun().run.play(scene), new Unsettled('needs the permission ban'));
  t.equal(await testRun(undefined, { permissions: new Set(['ban']) }).run.play(scene), 'played');
});

t.test('requests that a crash cut off', async (t) => {
  t.equal(testRun().run.lostRequests('free-1'), 0);
  const { run } = testRun(undefined, { lost: new Map([['free-1', 2]]) });
  t.equal(run.lostRequests('free-1'), 2);
  t.equal(run.lostRequests('pro-1'), 0);
});
