/** Scenes: played once, kept on disk, and not played again by whoever resumes or rejudges the run. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { FailureOutcome } from '../wire/exchange.ts';
import { addPet, getPet, listPets, repeatable } from '../wire/requests.ts';
import type { AnswerParts } from '../wire/testing/answered.ts';
import { Journal, readJournal } from './journal.ts';
import { conclusionOf, Inconclusive } from './reason.ts';
import type { Run, RunOptions } from './run.ts';
import { inTurn, playedOn, scene, sceneOnKeys } from './scene.ts';
import { JOURNAL_HEADER } from './testing/stored-run.ts';
import { type Answers, NOON, type TestRun, testKey, testRun } from './testing/test-run.ts';

const one = scene('one', {}, async (run) => ({ list: await run.send(listPets()), ids: [2n ** 60n] }));
const two = scene('two', {}, async (run) => {
  const { list } = await run.play(one);
  return { list, got: await run.send(getPet(1n)) };
});

const LOST = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
const KILLED = new Error('killed');
const killedAt =
  (last: number): Answers =>
  (_request, number) => {
    if (number === last) throw KILLED;
    return { status: 201 };
  };

/** Plays with a journal until the process ends; `resume` is the next process. */
async function stopped(
  t: Test,
  work: (run: Run) => Promise<unknown>,
  answers?: Answers,
  options: Partial<RunOptions> = {},
) {
  const file = join(t.testdir(), 'journal.ndjson');
  const journal = new Journal(file, JOURNAL_HEADER);
  const first = testRun(answers, { journal, ...options });
  await work(first.run).catch(() => undefined);
  journal.close();
  const stored = readJournal(file);
  const resume = (more: Partial<RunOptions> = {}, later: Answers = () => ({ status: 201 })): TestRun =>
    testRun(later, { resume: stored, ...options, ...more });
  return { first, stored, resume };
}

t.test('a scene is played once, whoever asks, and knows which others it asked for', async (t) => {
  const { run, sent } = testRun();
  await Promise.all([run.play(two), run.play(one), run.play(two)]);
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets', '/pets/1'],
  );
  t.match(run.of(two), { list: { id: 'one#1', sentBy: 'one' }, got: { id: 'two#1', sentBy: 'two' } });
  t.strictSame(run.of(one).ids, [2n ** 60n]);
  t.strictSame(run.scenesBehind([two]), ['two', 'one']);
});

t.test('what a scene cannot tell, nor can those that need it; who can do without plays on', async (t) => {
  const { run } = testRun(({ path }) => (path === '/pets' ? LOST : {}));
  const patient = scene('patient', {}, async (run) => (await run.tryPlay(one)) ?? 'nothing');
  await t.rejects(run.play(two), { name: 'Inconclusive', reason: { kind: 'lost' } });
  t.equal(await run.play(patient), 'nothing');
  t.equal(run.maybe(two), undefined);
});

t.test('a defect is no outcome', async (t) => {
  const defect = scene('defect', {}, async () => {
    throw new TypeError('a defect');
  });
  await t.rejects(testRun().run.play(defect), { name: 'TypeError' });
});

t.test('without its permission a scene is not played', async (t) => {
  const writing = scene('writing', { permit: 'writes' }, (run) => run.send(addPet({ name: 'a' })));
  const { run, sent } = testRun();
  await t.rejects(run.play(writing), {
    name: 'Inconclusive',
    reason: { kind: 'not-permitted', permission: 'writes' },
  });
  t.equal(sent.length, 0);
});

t.test('a scene on several keys has an outcome for each, or the reason why not', async (t) => {
  const keys = [testKey(), testKey({ name: 'free-2' })];
  const each = sceneOnKeys(
    'each',
    { permit: 'exhaust', intent: 'fill', keys: (all) => all, wanted: { role: 'exhaust' } },
    (run, key) => run.attemptAnswered(listPets(), key),
  );
  const permissions = new Set(['exhaust'] as const);
  const losing: Answers = ({ authorization }) =>
    authorization.kind === 'key' && authorization.name === 'free-2' ? LOST : {};
  const { run } = testRun(losing, { keys, permissions });
  for (const key of keys) await conclusionOf(run.play(each.on(key)));
  t.match(run.on(each), [{ intent: 'fill', sentBy: 'each:free-1' }, { name: 'Inconclusive' }]);
  t.match(playedOn(run.on(each)), [{ sentBy: 'each:free-1' }]);
  t.match(testRun(undefined, { keys }).run.on(each), Array(2).fill({ reason: { kind: 'not-permitted' } }));
});

t.test('of a burst that a scene tallies a number is on disk, where not all of it is kept', async (t) => {
  for (const [count, tallied] of [
    [2, []],
    [5, [{ tallied: 3, key: 'free-1' }]],
  ] as const) {
    const burst = scene('burst', { intent: 'fill' }, async (run) => {
      await run.burst(Array(count).fill(listPets()), testKey(), { inFlight: 1, tallied: true });
    });
    const { stored, resume } = await stopped(t, (run) => run.play(burst));
    t.strictSame(
      stored.entries.filter((entry) => 'tallied' in entry),
      tallied,
    );
    t.strictSame([...resume().run.trace.requestsByKey], [['free-1', count]]);
  }
});

t.test('a resumed run does not play again what is on disk', async (t) => {
  const { first, resume } = await stopped(t, (run) => run.play(two));
  const again = resume();
  t.strictSame(await again.run.play(two), first.run.of(two));
  t.equal(again.sent.length, 0);
  t.equal(again.run.of(two).list, again.run.trace.find('one#1'), 'its exchanges are those of the trace');
  t.strictSame(again.run.scenesBehind([two]), ['two', 'one']);
  t.strictSame([...again.run.trace.requestsByKey], [['free-1', 2]]);
  const [lane] = again.run.sender.lanes;
  t.equal(lane?.left(NOON + 100), 58, 'and are spent');
  lane?.refusedUntil(NOON + 101);
  t.equal(lane?.left(NOON + 100), 0, 'a key that was refused early is left alone');
});

t.test('why nothing could be told is on disk as data, unless the run ended there', async (t) => {
  const refuses: Answers = () => ({ status: 429, headers: [['Retry-After', '600']] });
  const { resume } = await stopped(t, (run) => run.play(one), refuses);
  const again = resume();
  await t.rejects(again.run.play(one), {
    name: 'Inconclusive',
    reason: { kind: 'day-spent', key: 'free-1' },
    evidence: [{ id: 'one#1' }],
  });
  t.equal(again.sent.length, 0);
});

const REX = repeatable((again) => addPet({ name: `Rex${again}` }));
const adds = scene('adds', {}, async (run) => {
  const first = await run.remember('adds:first', (part) => part.send(REX));
  const second = await run.remember('adds:second', (part) => part.send(REX));
  return { first, second, wasCutOff: run.wasCutOff };
});

t.test('a scene that was cut off is played anew, but for what was remembered one by one', async (t) => {
  const { resume, stored } = await stopped(t, (run) => run.play(adds), killedAt(2));
  const again = resume();
  t.match(await again.run.play(adds), {
    first: { id: 'adds:first#1', sentBy: 'adds', request: { body: '{"name":"Rex"}' } },
    second: { id: 'adds:second#2.1', session: 2, request: { body: '{"name":"Rex b"}' } },
    wasCutOff: true,
  });
  t.equal(again.sent.length, 1);
  const entries = [...stored.entries, { session: 2 }, { playing: 'adds:second' }];
  const third = testRun(() => ({ status: 201 }), { resume: { ...stored, entries, sessions: 2 } });
  t.match((await third.run.play(adds)).second, { request: { body: '{"name":"Rex c"}' }, session: 3 });
});

t.test('exchanges of a scene that is played anew have numbers of their own', async (t) => {
  const three = scene('three', {}, async (run) => {
    const sent = [];
    for (const id of [1n, 2n, 3n]) sent.push((await run.send(getPet(id))).id);
    return sent;
  });
  const { resume } = await stopped(t, (run) => run.play(three), killedAt(3));
  t.strictSame(await resume().run.play(three), ['three#2.1', 'three#2.2', 'three#2.3']);
});

const tries = scene('tries', {}, (run) => inTurn([1n, 2n, 3n], (id) => run.send(getPet(id))));

t.test(
  'of things that are tried in turn a lost answer costs one, a stranger’s refusal the rest',
  async (t) => {
    const losing: Answers = ({ path }) => (path === '/pets/2' ? LOST : {});
    const { resume } = await stopped(t, (run) => run.play(tries), losing);
    t.match(await resume().run.play(tries), [
      { request: { path: '/pets/1' } },
      { reason: { kind: 'lost' }, evidence: [{ request: { path: '/pets/2' } }] },
      { request: { path: '/pets/3' } },
    ]);
    const refused = testRun(({ path }) =>
      path === '/pets/2' ? { status: 429, headers: [['Retry-After', '600']] } : {},
    );
    t.match(await refused.run.play(tries), [{}, { reason: { kind: 'day-spent' } }]);
    t.equal(refused.sent.length, 2);
  },
);

t.test('where the run ended within them, a resumed run tries them all anew', async (t) => {
  const ending = new AbortController();
  const interrupted: Answers = ({ path }): AnswerParts | FailureOutcome => {
    if (path !== '/pets/2') return {};
    ending.abort(new Error('SIGINT'));
    return { kind: 'failure', reason: 'interrupted', message: 'interrupted' };
  };
  const { resume } = await stopped(t, (run) => run.play(tries), interrupted, { signal: ending.signal });
  const again = resume({ signal: new AbortController().signal });
  t.ok((await again.run.play(tries)).every((one) => !(one instanceof Inconclusive)));
  t.equal(again.sent.length, 3);
  let isGone = false;
  const gone = await stopped(
    t,
    (run) => run.play(tries),
    ({ path }) => {
      isGone ||= path === '/pets/2';
      return isGone ? LOST : {};
    },
  );
  t.throws(() => gone.first.run.of(tries), {
    name: 'Inconclusive',
    reason: { kind: 'ended', by: 'target-gone' },
  });
  t.ok((await gone.resume().run.play(tries)).every((one) => !(one instanceof Inconclusive)));
});

t.test('a scene about now is played by each process, and rejudged as it was', async (t) => {
  const now = scene('now', { eachSession: true }, async (run) => (await run.send(listPets())).id);
  const { resume } = await stopped(t, (run) => run.play(now));
  t.equal(await resume().run.play(now), 'now#2.1');
  t.equal(await resume({ offline: true }).run.play(now), 'now#1');
});

t.test('rejudging sends nothing; a scene that is not stored costs what needs it', async (t) => {
  const { resume } = await stopped(t, (run) => run.play(one));
  const { run, sent } = resume({ offline: true });
  t.match(await run.play(one), { list: { id: 'one#1' } });
  await t.rejects(run.play(two), new Inconclusive({ kind: 'not-stored', scene: 'two' }));
  t.equal(sent.length, 0);
});

t.test('a scene whose outcome names what a damaged line held is played again', async (t) => {
  const { stored } = await stopped(t, (run) => run.play(one));
  const entries = stored.entries.filter((entry) => !('exchange' in entry));
  const again = testRun(undefined, { resume: { ...stored, entries } });
  t.match(await again.run.play(one), { list: { session: 2 } });
});

t.test('no more is sent than the bill allows, whatever confirms what', async (t) => {
  const { run, sent } = testRun(undefined, { mostRequests: 2 });
  await t.rejects(run.play(tries), { name: 'Inconclusive', reason: { kind: 'ended', by: 'bill' } });
  t.equal(sent.length, 2);
});
