/** Scenes: played once, kept on disk, and not played again by whoever resumes or rejudges the run. */

import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { FailureOutcome } from '../wire/exchange.ts';
import { addPet, getPet, listPets, repeatable } from '../wire/requests.ts';
import type { AnswerParts } from '../wire/testing/answered.ts';
import { Journal, readJournal } from './journal.ts';
import type { Run, RunOptions } from './run.ts';
import { inTurn, keyScene, optional, playedOn, type Scene, scene } from './scene.ts';
import { JOURNAL_HEADER } from './testing/stored-run.ts';
import { type Answers, NOON, type TestRun, testKey, testRun } from './testing/test-run.ts';
import { NotAsked, Unsettled } from './unsettled.ts';

const one = scene('one', { requests: 1 }, async (probe) => ({
  list: await probe.send(listPets()),
  ids: [2n ** 60n],
}));
const two = scene('two', { needs: { one } }, async (probe, { one: { list } }) => ({
  list,
  got: await probe.send(getPet(1n)),
}));

async function outcomeOf<T>(run: Run, wanted: Scene<T>): Promise<T> {
  await run.play(wanted);
  return run.outcomeOf(wanted);
}

/** Runs with a journal; `stopped` is what the process had done when it ended. */
async function stopped(
  t: Test,
  work: (run: Run) => Promise<unknown>,
  answers?: Answers,
  options: Partial<RunOptions> = {},
) {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, JOURNAL_HEADER, 1);
  const first = testRun(answers, { journal, ...options });
  await work(first.run).catch(() => undefined);
  journal.close();
  const stored = readJournal(file);
  if (!stored.ok) throw new Error(stored.problem);
  const resume = (answers?: Answers, more: Partial<RunOptions> = {}): TestRun =>
    testRun(answers, { stored, ...options, ...more });
  return { first, stored, resume };
}

t.test('a scene is played once, whoever asks, and so is what it needs', async (t) => {
  const { run, sent } = testRun();
  await Promise.all([run.play(two), run.play(one), run.play(two)]);
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets', '/pets/1'],
  );
  t.match(run.outcomeOf(two), { list: { id: 'one#1', sentBy: 'one' }, got: { id: 'two#1', sentBy: 'two' } });
  t.strictSame(run.outcomeOf(one).ids, [2n ** 60n]);
});

t.test('what cannot be told of one scene cannot be told of those that need it', async (t) => {
  const { run } = testRun();
  const fails = scene('fails', {}, async (): Promise<number> => {
    throw new Unsettled('no answer');
  });
  const needs = scene('needs', { needs: { fails } }, async () => 'played');
  const does = scene(
    'does',
    { needs: { fails: optional(fails) } },
    async (_probe, { fails }) => fails ?? 'without',
  );
  await t.rejects(outcomeOf(run, needs), new Unsettled('no answer'));
  t.equal(await outcomeOf(run, does), 'without');
});

t.test('a defect is no outcome', async (t) => {
  const defect = new TypeError('undefined is not a function');
  const broken = scene('broken', {}, async () => {
    throw defect;
  });
  await t.rejects(testRun().run.play(broken), defect);
});

t.test('without its permission a scene is not played, nor what needs it', async (t) => {
  const bans = scene('bans', { permit: 'ban', needs: { one } }, async () => 'played');
  const after = scene('after', { needs: { bans } }, async () => 'played');
  const { run, sent } = testRun();
  await t.rejects(outcomeOf(run, bans), new NotAsked('needs the permission ban'));
  await t.rejects(outcomeOf(run, after), new NotAsked('needs the permission ban'));
  t.equal(sent.length, 0, 'nor is anything sent for it');
  t.equal(await outcomeOf(testRun(undefined, { permissions: new Set(['ban']) }).run, after), 'played');
});

t.test('a scene on several keys has an outcome for each, or the reason why not', async (t) => {
  const keys = ['free-1', 'free-2', 'pro-1'].map((name) => testKey({ name }));
  const onKeys = keyScene(
    'limit',
    {
      permit: 'exhaust',
      keys: (all) => all.filter(({ name }) => name.startsWith('free')),
      lacks: 'no key',
      spends: () => ({}),
    },
    async (probe, key) => {
      if (key.name === 'free-2') throw new Unsettled('no answer');
      return (await probe.attempt(listPets(), key)).id;
    },
  );
  const needs = scene('needs', { needs: { onKeys } }, async (_probe, outcomes) =>
    playedOn(outcomes.onKeys).map(({ key, outcome }) => `${key.name}: ${outcome}`),
  );
  const { run } = testRun(undefined, { keys, permissions: new Set(['exhaust']) });
  t.strictSame(await outcomeOf(run, needs), ['free-1: limit:free-1#1']);
  const failing = scene('failing', { needs: { onKeys } }, async (_probe, outcomes) =>
    playedOn(outcomes.onKeys.filter(({ kind }) => kind === 'unsettled')),
  );
  await t.rejects(outcomeOf(run, failing), new Unsettled('no answer'));
});

t.test('a resumed run does not play again what is on disk', async (t) => {
  const { first, resume } = await stopped(t, (run) => run.play(two));
  const again = resume();
  t.strictSame(await outcomeOf(again.run, two), first.run.outcomeOf(two));
  t.equal(again.sent.length, 0);
  t.equal(
    again.run.outcomeOf(two).list,
    again.run.trace.find('one#1'),
    'its exchanges are those of the trace',
  );
  t.match(again.run.trace.readings, [{ id: 'one#1' }, { id: 'two#1' }]);
  t.strictSame([...again.run.trace.requestsByKey], [['free-1', 2]]);
  t.equal(again.run.sender.lanes[0]?.left(NOON + 100), 58, 'and are spent');
});

t.test('what could not be told is on disk as well, unless the run ended there', async (t) => {
  const refuses: Answers = () => ({ status: 429, headers: [['Retry-After', '600']] });
  const { resume } = await stopped(t, (run) => run.play(one), refuses);
  const again = resume();
  await t.rejects(outcomeOf(again.run, one), {
    message: /another client were using the key/,
    evidence: [{ id: 'one#1' }],
  });
  t.equal(again.sent.length, 0);
  const ending = new AbortController();
  const ended = await stopped(
    t,
    (run) => run.play(one),
    () => {
      ending.abort(new Error('SIGINT'));
      return { kind: 'failure', reason: 'interrupted', message: 'interrupted' };
    },
    { signal: ending.signal },
  );
  const resumed = testRun(undefined, { stored: ended.stored });
  t.match(await outcomeOf(resumed.run, one), { list: { outcome: { status: 200 } } });
});

const REX = repeatable((again) => addPet({ name: `Rex${again}` }));
const adds = scene('adds', {}, async (probe) => {
  const first = await probe.part({ id: 'adds:first', play: (part) => part.send(REX) });
  const second = await probe.part({ id: 'adds:second', play: (part) => part.send(REX) });
  return { first, second, wasCutOff: probe.wasCutOff };
});

t.test('a scene that was cut off is played anew, but for its parts that are on disk', async (t) => {
  const kill: Answers = (_request, number) => {
    if (number === 2) throw new Error('killed');
    return { status: 201 };
  };
  const { resume, stored } = await stopped(t, (run) => run.play(adds), kill);
  const again = resume(() => ({ status: 201 }));
  const { first, second, wasCutOff } = await outcomeOf(again.run, adds);
  t.match(first, { id: 'adds:first#1', sentBy: 'adds', request: { body: '{"name":"Rex"}' } });
  t.match(
    second,
    { id: 'adds:second#1', request: { body: '{"name":"Rex b"}' }, session: 2 },
    'as another animal',
  );
  t.equal(wasCutOff, true);
  t.equal(again.sent.length, 1);
  const twice = {
    ...stored,
    entries: [...stored.entries, { session: 2 }, { playing: 'adds:second' }],
    sessions: 2,
  };
  const third = testRun(() => ({ status: 201 }), { stored: twice });
  t.match((await outcomeOf(third.run, adds)).second, { request: { body: '{"name":"Rex c"}' }, session: 3 });
});

t.test('exchanges of a scene that is played anew have numbers of their own', async (t) => {
  const kill: Answers = (_request, number) => {
    if (number === 3) throw new Error('killed');
    return {};
  };
  const three = scene('three', {}, async (probe) => {
    const sent = [];
    for (const id of [1n, 2n, 3n]) sent.push((await probe.send(getPet(id))).id);
    return sent;
  });
  const { resume } = await stopped(t, (run) => run.play(three), kill);
  t.strictSame(await outcomeOf(resume().run, three), ['three#3', 'three#4', 'three#5']);
});

const tries = scene('tries', {}, (probe) => inTurn([1n, 2n, 3n], (id) => probe.send(getPet(id))));
const LOST = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
const losing: Answers = ({ path }) => (path === '/pets/2' ? LOST : {});

t.test('of things that are tried in turn a lost answer costs one, on disk too', async (t) => {
  const { first, resume } = await stopped(t, (run) => run.play(tries), losing);
  const outcome = {
    done: [{ request: { path: '/pets/1' } }, { request: { path: '/pets/3' } }],
    unsettled: [{ reason: 'no answer: connection reset', evidence: [{ request: { path: '/pets/2' } }] }],
  };
  t.match(first.run.outcomeOf(tries), outcome);
  const again = resume();
  t.match(await outcomeOf(again.run, tries), outcome);
  t.equal(again.sent.length, 0);
});

t.test('after a refusal that somebody else earned none of them is sent', async (t) => {
  const { run, sent } = testRun(({ path }) =>
    path === '/pets/2' ? { status: 429, headers: [['Retry-After', '600']] } : {},
  );
  t.match(await outcomeOf(run, tries), {
    done: [{ request: { path: '/pets/1' } }],
    unsettled: [{ reason: /another client were using the key/ }],
  });
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets/1', '/pets/2'],
  );
});

t.test('where the run ended within them, a resumed run tries them all anew', async (t) => {
  const paths = ['/pets/1', '/pets/2', '/pets/3'];
  for (const last of paths.slice(1)) {
    const ending = new AbortController();
    const { resume } = await stopped(
      t,
      (run) => run.play(tries),
      ({ path }): AnswerParts | FailureOutcome => {
        if (path !== last) return {};
        ending.abort(new Error('SIGINT'));
        return { kind: 'failure', reason: 'interrupted', message: 'interrupted' };
      },
      { signal: ending.signal },
    );
    const again = resume(undefined, { signal: new AbortController().signal });
    t.match(await outcomeOf(again.run, tries), { unsettled: [] }, `${last}: interrupted`);
    t.strictSame(
      again.sent.map(({ path }) => path),
      paths,
      `${last}: interrupted`,
    );
    let isGone = false;
    const gone = await stopped(
      t,
      (run) => run.play(tries),
      ({ path }) => {
        isGone ||= path === last;
        return isGone ? LOST : {};
      },
    );
    t.match(gone.first.run.sender.presence.gone, /stopped answering/, `${last}: gone`);
    t.throws(() => gone.first.run.outcomeOf(tries), { name: 'RunEnded' }, `${last}: gone`);
    const back = gone.resume();
    t.match(await outcomeOf(back.run, tries), { unsettled: [] }, `${last}: gone`);
    t.equal(back.sent.length, 3, `${last}: gone`);
  }
});

t.test('a scene about now is played by each process, and rejudged as it was', async (t) => {
  const now = scene('now', { eachSession: true }, async (probe) => (await probe.send(listPets())).id);
  const { resume } = await stopped(t, (run) => run.play(now));
  t.equal(await outcomeOf(resume().run, now), 'now#2');
  t.equal(await outcomeOf(resume(undefined, { offline: true }).run, now), 'now#1');
});

t.test('rejudging sends nothing; a scene that is not stored costs what needs it', async (t) => {
  const { resume } = await stopped(t, (run) => run.play(one));
  const { run, sent } = resume(undefined, { offline: true });
  t.match(await outcomeOf(run, one), { list: { id: 'one#1' } });
  await t.rejects(outcomeOf(run, two), new Unsettled('the stored run did not play the scene two'));
  t.equal(sent.length, 0);
});

t.test('a scene whose outcome names what a damaged line held is played again', async (t) => {
  const { stored } = await stopped(t, (run) => run.play(one));
  const entries = stored.entries.filter((entry) => !('exchange' in entry));
  const again = testRun(undefined, { stored: { ...stored, entries } });
  t.match(await outcomeOf(again.run, one), { list: { session: 2 } });
});
