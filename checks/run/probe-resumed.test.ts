/** A check of a run that is gone on with, or judged again: stored exchanges in place of new ones. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPets } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { Journal, readJournal } from './journal.ts';
import type { Probe } from './probe.ts';
import { NOON, type TestRun, testKey, testRun } from './testing/test-run.ts';

const probeOf = ({ run }: TestRun) => run.probe('check');
const ids = ({ run }: TestRun) => run.exchanges.map(({ id }) => id);

t.test('when the run was gone on with', async (t) => {
  t.equal(probeOf(testRun()).resumedAt(testKey()), 0, 'never');
  const stored = [1, 2, 3, 4].map((number) =>
    answered({ id: `check#${number}`, sentAt: NOON - 1000 * (10 - number) }),
  );
  const target = testRun(undefined, {
    recorded: new Map(stored.map((exchange) => [exchange.id, exchange])),
    resumedWith: new Set(['check#2']),
  });
  const offline = testRun(undefined, { recorded: new Map(), offline: true });
  t.equal(probeOf(offline).resumedAt(testKey()), 0, 'judged again, it does not go on');
  const probe = probeOf(target);
  const at = async () => {
    const before = probe.resumedAt(testKey());
    await probe.attempt(listPets(), testKey());
    return before;
  };
  t.strictSame(
    [await at(), await at(), await at(), await at(), await at()],
    [0, NOON - 8000, NOON - 8000, NOON - 8000, NOON],
    'as far as the next request tells: not yet, then, since then, now',
  );
});

t.test('a run that is judged again has quota for what it sent, and for nothing more', async (t) => {
  const recorded = new Map([['check#1', answered({ id: 'check#1', sentAt: NOON - 1000 })]]);
  const again = testRun(undefined, { recorded, offline: true });
  const probe = probeOf(again);
  t.equal(probe.quotaAt(testKey()), NOON - 1000);
  await probe.send(listPets());
  t.equal(probe.quotaAt(testKey()), Number.POSITIVE_INFINITY);
  t.equal(probe.now(), NOON);
  await probe.waitUntil(NOON + 5000, 'another key');
  t.equal(probe.now(), NOON + 5000, 'who waits for a moment comes to it');
  t.strictSame(again.waits(), [], 'at once');
  t.equal(probeOf(testRun(undefined, { recorded: new Map() })).quotaAt(testKey()), NOON, 'it goes on');
});

t.test('going through stored exchanges takes no time; the clock is that of the next one', async (t) => {
  const stored = [1, 2].map((number) =>
    answered({
      id: `check#${number}`,
      sentAt: NOON - 1000 * (10 - number),
      status: number === 1 ? 429 : 200,
    }),
  );
  const target = testRun(undefined, { recorded: new Map(stored.map((exchange) => [exchange.id, exchange])) });
  const probe = probeOf(target);
  t.equal(probe.now(), NOON - 9000);
  t.equal(await probe.send(listPets()), stored[1], 'the wait for Retry-After is over');
  t.strictSame([target.sent.length, target.waits()], [0, []]);
  t.equal(probe.now(), NOON);
  await probe.waitUntil(NOON + 1000, 'something');
  t.strictSame(target.waits(), ['1: something']);
  await probe.send(listPets());
  t.strictSame(ids(target), ['check#1', 'check#2', 'check#3']);
});

t.test(
  'what was decided by the clock is decided by the same time when it is gone through again',
  async (t) => {
    const file = join(t.testdir({}), 'journal.ndjson');
    const header = { journal: 1, runId: 'r4wn', startedAt: NOON, target: 'x', permissions: [] } as const;
    const journal = new Journal(file, { ...header, keys: ['free-1'], clockSpeed: 1 });
    const live = testRun(undefined, { journal });
    const probe = probeOf(live);
    /** A busy machine takes its time from the decision to the sending. */
    const decide = (going: typeof probe) => {
      const decided = going.now();
      live.clock.pass(1500);
      return decided;
    };
    const decided = [decide(probe)];
    await probe.attempt(listPets(), testKey());
    await probe.attempt(listPets(), testKey());
    decided.push(decide(probe));
    await probe.attempt(listPets(), testKey());
    journal.close();

    const { recorded, decidedAt } = stored(file);
    const again = probeOf(testRun(undefined, { recorded, decidedAt, offline: true }));
    t.equal(again.now(), decided[0]);
    await again.attempt(listPets(), testKey());
    t.equal(again.now(), recorded.get('check#2')?.sentAt, 'nothing was decided: the time of the sending');
    await again.attempt(listPets(), testKey());
    t.equal(again.now(), decided[1]);
  },
);

/** A journal as a run that is gone on with takes it. */
function stored(file: string) {
  const content = readJournal(file);
  if (!content.ok) throw new Error(content.problem);
  const { exchanges: recorded, decidedAt, unanswered, resumedWith } = content;
  return { recorded, decidedAt, unanswered, resumedWith };
}

/** What two lanes knew when they decided: one waited and used another key, the other one sent meanwhile. */
async function lanesSideBySide(target: TestRun): Promise<string[]> {
  const [free, other] = [testKey(), testKey({ name: 'free-2' })];
  const decisions: string[] = [];
  const decide = (probe: Probe) =>
    decisions.push(`${probe.readingsOf(free).length} and ${probe.readingsOf(other).length}`);
  const [waiting, sending] = [target.run.probe('waiting'), target.run.probe('sending')];
  const wait = async () => {
    await waiting.attempt(listPets(), free);
    await waiting.waitUntil(NOON + 30_000, 'something');
    decide(waiting);
    await waiting.attempt(listPets(), free);
    decide(waiting);
  };
  const send = async () => {
    for (let number = 1; number <= 5; number += 1) {
      await sending.attempt(listPets(), other);
      decide(sending);
    }
  };
  await Promise.all([wait(), send()]);
  return decisions;
}

t.test(
  'a run that is gone through again decides by what was known then, wherever it was interrupted',
  async (t) => {
    const file = join(t.testdir({}), 'journal.ndjson');
    const header = { journal: 1, runId: 'r4wn', startedAt: NOON, target: 'x', permissions: [] } as const;
    const keys = [testKey(), testKey({ name: 'free-2' })];
    const live = new Journal(file, { ...header, keys: keys.map(({ name }) => name), clockSpeed: 1 });
    await lanesSideBySide(testRun(undefined, { keys, journal: live }));
    live.close();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    for (let kept = 1; kept <= lines.length; kept += 1) {
      writeFileSync(file, `${lines.slice(0, kept).join('\n')}\n`);
      const resumed = testRun(undefined, { keys, ...stored(file), journal: new Journal(file, undefined) });
      const decisions = await lanesSideBySide(resumed);
      const again = testRun(undefined, { keys, ...stored(file), offline: true });
      t.strictSame(await lanesSideBySide(again), decisions, `after line ${kept}`);
      t.strictSame(again.sent, []);
    }
  },
);
