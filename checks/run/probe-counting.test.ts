/** A key of which every request is counted: what others leave alone, and what an interruption ends. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Exchange } from '../wire/exchange.ts';
import { getPet } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { CountInterrupted, Unsettled } from './check.ts';
import type { Key } from './key-pool.ts';
import type { Probe } from './probe.ts';
import type { RunOptions } from './run.ts';
import { NOON, type TestRun, testKey, testRun } from './testing/test-run.ts';

const KEY = testKey();
const STRANGER = testKey({ name: 'stranger' });

/** Whether the key is counted before, during and after. */
async function counted(probe: Probe, key: Key, ending: () => Promise<void>): Promise<boolean[]> {
  const seen = [probe.isCounted(key)];
  await probe
    .counting(key, () => {
      seen.push(probe.isCounted(key));
      return ending();
    })
    .catch(() => undefined);
  return [...seen, probe.isCounted(key)];
}

t.test('a key is counted until the count is over, however it ends', async (t) => {
  const probe = testRun().run.probe('count');
  t.strictSame(await counted(probe, KEY, async () => {}), [false, true, false]);
  t.strictSame(await counted(probe, KEY, () => Promise.reject(new Unsettled('no answer'))), [
    false,
    true,
    false,
  ]);
  t.strictSame(await counted(probe, STRANGER, async () => {}), [false, false, false]);
  t.equal(await probe.counting(STRANGER, async () => 7), 7, 'a key that the run does not have is nobody’s');
});

/** These ids of requests, `/pets/N` each, in the order in which their answers came. */
const stored = (...exchanges: readonly string[]): Map<string, Exchange> =>
  new Map(
    exchanges.map((id, position) => [
      id,
      answered({
        id,
        operation: 'getPet',
        path: `/pets/${id.split('#')[1]}`,
        sentAt: NOON - 10_000 + position * 100,
      }),
    ]),
  );
const lookups = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => getPet(BigInt(from + index)));
const read = ({ run }: TestRun) => run.readings.map(({ id }) => id).sort();

t.test('a stored request is taken while its key is counted: that count knew of it', async (t) => {
  const target = testRun(undefined, { recorded: stored('check#1') });
  t.equal(target.run.probe('check').storedKey(), 'free-1');
  const over: string[] = [];
  const count = target.run.probe('count').counting(KEY, async () => {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  });
  const probe = target.run.probe('check');
  await Promise.all([
    count.then(() => over.push('count')),
    probe.send(getPet(1n), { key: KEY }).then(() => over.push('request')),
  ]);
  t.strictSame(over, ['request', 'count']);
  t.equal(probe.storedKey(), undefined, 'nothing more is stored');
  const keyless = answered({ id: 'check#1', key: null });
  const none = testRun(undefined, { recorded: new Map([[keyless.id, keyless]]) });
  t.equal(none.run.probe('check').storedKey(), undefined);
});

/** An earlier process had the answers to 1, 2 and 4 when it ended; 3 and 5 were under way, 6 was sent by the next one. */
const INTERRUPTED: Partial<RunOptions> = {
  recorded: stored('count#1', 'count#2', 'count#4', 'count#6'),
  unanswered: new Map([
    ['count#3', 3],
    ['count#5', 3],
  ]),
};

t.test('a count of which a request was under way when the run was interrupted is no count', async (t) => {
  for (const inFlight of [1, 2, 3]) {
    const target = testRun(undefined, INTERRUPTED);
    const probe = target.run.probe('count');
    const ended = await probe
      .counting(KEY, () => probe.burst(lookups(1, 20), KEY, inFlight))
      .catch((error: unknown) => error);
    t.ok(ended instanceof CountInterrupted);
    t.strictSame(target.sent, [], 'nothing more of it is sent');
    t.strictSame(
      read(target),
      ['count#1', 'count#2', 'count#4'],
      'what that process sent is spent all the same',
    );
    t.match(await probe.attempt(getPet(6n), KEY), { id: 'count#6' }, 'and the next one’s is next');
    t.strictSame(target.sent, []);
  }
});

t.test('where nothing is counted, a request whose answer was lost is sent again', async (t) => {
  const target = testRun(undefined, INTERRUPTED);
  await target.run.probe('count').burst(lookups(1, 6), KEY, 1);
  t.strictSame(
    target.sent.map(({ path }) => path),
    ['/pets/3', '/pets/5'],
  );
  t.strictSame(
    read(target),
    [1, 2, 3, 4, 5, 6].map((number) => `count#${number}`),
  );
});

t.test('a count that no interruption fell into is gone through to its end, and on', async (t) => {
  const target = testRun(undefined, {
    ...INTERRUPTED,
    recorded: stored('count#1', 'count#2'),
    unanswered: new Map(),
  });
  const probe = target.run.probe('count');
  const exchanges = await probe.counting(KEY, () => probe.burst(lookups(1, 4), KEY, 2));
  t.strictSame(
    exchanges.map(({ id }) => id),
    ['count#1', 'count#2', 'count#3', 'count#4'],
  );
  t.equal(target.sent.length, 2);
});

t.test('who counts goes on when all is known that was known when the count was interrupted', async (t) => {
  const recorded = stored('count#1', 'other#1', 'other#2', 'other#3');
  const target = testRun(undefined, { recorded, unanswered: new Map([['count#2', 3]]) });
  const [count, other] = [target.run.probe('count'), target.run.probe('other')];
  const order: string[] = [];
  await Promise.all([
    count
      .counting(KEY, () => count.burst(lookups(1, 4), KEY, 1))
      .catch((error: Error) => order.push(error.name)),
    (async () => {
      for (const spec of lookups(1, 3)) order.push((await other.attempt(spec, STRANGER)).id);
    })(),
  ]);
  t.equal(order.length, 4);
  t.strictSame(order.slice(0, 2), ['other#1', 'other#2']);
  t.strictSame(new Set(order.slice(2)), new Set(['Unsettled', 'other#3']));
});
