/** A run that goes on after an interruption: what was stored, what was lost, and in which order lanes go on. */
import { join } from 'node:path';
import t from 'tap';
import type { Exchange } from '../wire/exchange.ts';
import { getPet, listPets } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { Journal, readJournal } from './journal.ts';
import type { Run } from './run.ts';
import { NOON, testKey, testRun } from './testing/test-run.ts';

const INTERRUPTED = { kind: 'failure', reason: 'interrupted', message: 'the run ended' } as const;

/** Lists with these ids, received in this order. */
const stored = (...ids: readonly string[]): Map<string, Exchange> =>
  new Map(ids.map((id, position) => [id, answered({ id, sentAt: NOON - 10_000 + position * 100 })]));
const read = ({ readings }: Run) => readings.map(({ id }) => id);

/** Sends so many lists under a name, and says of each when its answer is here. */
async function lists(run: Run, name: string, count: number, order: string[], key = 'free-1'): Promise<void> {
  const probe = run.probe(name);
  for (let number = 1; number <= count; number += 1)
    order.push((await probe.attempt(listPets(), testKey({ name: key }))).id);
}

t.test(
  'when a stored exchange was decided on: at the last look at the clock, else at its sending',
  async (t) => {
    const { run } = testRun(undefined, {
      recorded: stored('check#1', 'check#2'),
      decidedAt: new Map([['check#1', NOON - 12_000]]),
    });
    t.strictSame(
      ['check#1', 'check#2', 'check#3'].map((id) => run.decidedAt(id)),
      [NOON - 12_000, NOON - 9900, undefined],
    );
  },
);

t.test('a request may have been done where its answer was lost, and has not been had since', async (t) => {
  const { run } = testRun(undefined, {
    recorded: stored('check#1'),
    unanswered: new Map([
      ['check#1', 0],
      ['check#2', 1],
    ]),
  });
  const ids = ['check#1', 'check#2', 'check#3'];
  t.strictSame(
    ids.map((id) => run.mayBeDone(id)),
    [false, true, false],
  );
  t.strictSame(
    [0, 1, 2].map((count) => ids.filter((id) => run.begunUntil(count, id))),
    [[], ['check#1', 'check#2'], ['check#1', 'check#2']],
    'of the process that ended with so many on record, or before',
  );
});

t.test('what was stored is handed out in the order of receipt, and new requests come after it', async (t) => {
  const recorded = stored('slow#1', 'quick#1', 'quick#2', 'slow#2');
  const { run, sent } = testRun(undefined, { recorded });
  const order: string[] = [];
  await Promise.all([
    lists(run, 'quick', 3, order),
    lists(run, 'slow', 2, order),
    lists(run, 'new', 1, order),
  ]);
  t.strictSame(order.slice(0, 4), ['slow#1', 'quick#1', 'quick#2', 'slow#2']);
  t.strictSame(order.slice(4).sort(), ['new#1', 'quick#3']);
  t.equal(sent.length, 2);
});

t.test('who waits for what was known then goes on after it, and before what came later', async (t) => {
  const recorded = stored('check#1', 'check#2', 'check#3', 'check#4');
  const order: string[] = [];
  const { run } = testRun(undefined, { recorded });
  await Promise.all([
    lists(run, 'check', 4, order),
    run.knownUntil(2).then(() => order.push('two on record')),
  ]);
  t.strictSame(order, ['check#1', 'check#2', 'two on record', 'check#3', 'check#4']);
  const again = testRun(undefined, { recorded }).run;
  const later: string[] = [];
  await Promise.all([
    lists(again, 'check', 4, later),
    again.receivedUntil(NOON - 10_000 + 215).then(() => later.push('received until then')),
  ]);
  t.strictSame(later, ['check#1', 'check#2', 'check#3', 'received until then', 'check#4']);
});

t.test('what is taken unseen is spent and read all the same, and kept as in a burst', async (t) => {
  const ids = ['count#1', 'count#2', 'count#3'];
  const { run } = testRun(undefined, { recorded: stored(...ids), resumedWith: new Set(['count#2']) });
  for (const id of [...ids, 'count#4']) await run.take(id);
  t.strictSame(read(run), ids, 'and nothing where nothing is stored');
  t.strictSame(
    run.readings.map(({ resumed }) => resumed),
    [undefined, true, undefined],
  );
  t.equal(run.exchanges.length, 2);
  t.equal(run.lanes[0]?.requests, 3);
});

t.test('a stored exchange of a key that the profile has no more is read, and is nobody’s', async (t) => {
  const old = answered({ id: 'check#1', key: 'gone' });
  const { run } = testRun(undefined, { recorded: new Map([[old.id, old]]) });
  await run.take('check#1');
  t.strictSame([run.requestsByKey, run.keyOf(old)], [new Map([['gone', 1]]), undefined]);
});

t.test(
  'where the stored run asked otherwise, what it sent with a key is lost; else only what is',
  async (t) => {
    const other = answered({ id: 'check#9', path: '/pets/9', operation: 'getPet' });
    const pro = answered({ id: 'check#8', key: 'pro-1' });
    const recorded = new Map([...stored('check#1', 'check#2'), [other.id, other], [pro.id, pro]]);
    const keys = [testKey(), testKey({ name: 'pro-1' })];
    const { run } = testRun(undefined, { keys, recorded, lost: new Map([['free-1', 5]]) });
    const lost = () => [run.lostRequests('free-1'), run.lostRequests('pro-1')];
    await run.take('check#1');
    t.strictSame(lost(), [5, 0], 'the others may be asked for yet');
    const request = { ...getPet(7n), authorization: { kind: 'none' } } as const;
    await t.rejects(run.exchange(request, { id: 'check#9', sentBy: 'check' }, false));
    t.strictSame(lost(), [5 + 2, 1]);
  },
);

t.test('an addition whose answer was lost may be repeated once a run', async (t) => {
  const { run } = testRun();
  t.strictSame([run.repeatsAddition(), run.repeatsAddition(), run.repeatsAddition()], [true, false, false]);
});

t.test('a request that the end of the run cut off is not stored as answered', async (t) => {
  const file = join(t.testdir(), 'journal.ndjson');
  const header = { journal: 1, runId: 'r4wn', startedAt: NOON, target: 'x', permissions: [] } as const;
  const journal = new Journal(file, { ...header, keys: ['free-1'], clockSpeed: 1 });
  const { run } = testRun((_request, number) => (number === 2 ? INTERRUPTED : {}), { journal });
  await lists(run, 'check', 2, []);
  journal.close();
  const content = readJournal(file);
  t.ok(content.ok);
  if (!content.ok) return;
  t.strictSame([...content.exchanges.keys()], ['check#1']);
  t.strictSame(content.unanswered, new Map([['check#2', 1]]), 'it is sent again');
});
