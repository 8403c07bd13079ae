import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type CheckedTarget, type CheckRequest, checkTarget, JOURNAL_FILE } from './check-target.ts';
import { readJournal } from './run/journal.ts';
import type { RunResult } from './run/judge.ts';
import { allChecks, allGapObservers } from './sections/all-checks.ts';
import { nameSent } from './sections/animals/add-checks.ts';
import { checked, sharedClockTarget } from './testing/shared-clock-target.ts';

const verdicts = ({ requirements }: RunResult) =>
  Object.fromEntries([...requirements].map(([id, { verdict }]) => [id, verdict]));
/** Reasons and evidence too. */
const inFull = ({ requirements }: RunResult) =>
  Object.fromEntries(
    [...requirements].map(([id, { verdict, reasons, evidence }]) => [
      id,
      [verdict, reasons, ...evidence.map((exchange) => exchange.id)],
    ]),
  );
const answersToGaps = ({ gaps }: RunResult) =>
  Object.fromEntries([...gaps].map(([id, found]) => [id, 'answer' in found ? found.answer : found.kind]));

const journalOf = (directory: string) => readJournal(join(directory, JOURNAL_FILE));

const requestsOf = ({ trace }: CheckedTarget) =>
  [...trace.requestsByKey.values()].reduce((sum, count) => sum + count, 0);
const animalsAdded = ({ trace }: CheckedTarget) =>
  trace.readings.filter(({ operation, status }) => operation === 'createPet' && status === 201).length;

/** The most that a run without limits, bans and days may cost: on a Free key, and with what carries no key. */
const MOST_REQUESTS = { onKey: 130, inAll: 160 };

const STORES: readonly { readonly name: string; readonly variant?: string; readonly animals?: number }[] = [
  { name: 'a store with 120 animals', animals: 120 },
  { name: 'an empty strict store', variant: 'strict', animals: 0 },
  { name: 'a store with answers of its own', variant: 'everything-else' },
];

for (const permissions of [[], ['writes']] as const) {
  for (const { name, ...personality } of STORES) {
    t.test(
      `${name}, permitted ${permissions.join() || 'nothing'}: one Free key is enough, within its minutes`,
      async (t) => {
        const { request } = await sharedClockTarget(t, personality, ['free-1'], permissions);
        const run = await checked(request);
        const { trace, result } = run;
        const [onKey = 0, total] = [run.trace.requestsByKey.get('free-1'), requestsOf(run)];
        t.ok(onKey <= MOST_REQUESTS.onKey, `${onKey} requests on the key`);
        t.ok(total <= MOST_REQUESTS.inAll, `${total} requests in all`);
        t.strictSame(
          trace.readings.filter(({ status }) => status === 429),
          [],
          'nothing is refused for its rate',
        );
        const found = Object.entries(verdicts(result));
        t.strictSame(
          found.filter(([, verdict]) => verdict === 'fail'),
          [],
        );
        // An empty store shows animals only to who may add one.
        const least = permissions.length > 0 ? 60 : personality.animals === 0 ? 20 : 30;
        t.ok(found.filter(([, verdict]) => verdict === 'pass').length >= least);
        t.equal(animalsAdded(run) > 0, permissions.length > 0);
      },
    );
  }
}

const ADDING = /^add-(?!rejected-stores)/;

t.test('a key that may not add leaves the additions to one that may', async (t) => {
  const { request } = await sharedClockTarget(
    t,
    { variant: 'one-key-reads-only', animals: 30 },
    ['free-1', 'free-2'],
    ['writes'],
  );
  // The one that comes first pays, and may not add.
  const keys = request.profile.keys.toReversed();
  const { trace, result } = await checked({ ...request, profile: { ...request.profile, keys } });
  const found = Object.entries(verdicts(result));
  t.strictSame(
    found.filter(([id, verdict]) => verdict === 'fail' || (ADDING.test(id) && verdict !== 'pass')),
    [],
  );
  const forbidden = trace.readings.filter(({ status }) => status === 403);
  t.equal(forbidden.length, 1, 'the other key is asked once');
});

t.test('where no key may add, nothing is told of additions, and all of the rest', async (t) => {
  const { request } = await sharedClockTarget(
    t,
    { variant: 'one-key-reads-only', animals: 30 },
    ['free-2'],
    ['writes'],
  );
  const run = await checked(request);
  const { trace, result } = run;
  const found = Object.entries(verdicts(result));
  t.strictSame(
    found.filter(([id, verdict]) => verdict === 'fail' || (ADDING.test(id) && verdict !== 'inconclusive')),
    [],
  );
  t.match(result.requirements.get('add-rejects-name-type')?.reasons, [
    { what: /no key of the profile seems to be allowed to add/ },
  ]);
  for (const id of ['list-limit-fills', 'list-status-filter', 'get-answers-200', 'auth-missing-key'])
    t.equal(result.requirements.get(id)?.verdict, 'pass', id);
  t.equal(animalsAdded(run), 0);
  t.ok(trace.readings.filter(({ operation, key }) => operation === 'createPet' && key !== null).length <= 6);
});

t.test('a stored run', async (t) => {
  const { server, request } = await sharedClockTarget(
    t,
    {},
    ['free-1', 'free-2', 'free-ban', 'pro-1'],
    ['writes', 'exhaust', 'ban'],
  );
  const directory = t.testdir();
  const live = await checked({ ...request, directory });
  await server.close();
  const journal = journalOf(directory);
  const rejudged = (entries = journal.entries) =>
    checked({ ...request, resume: { ...journal, entries }, offline: true });

  t.test('is rejudged with nothing there to answer, to the same result', async (t) => {
    const again = await rejudged();
    t.strictSame(inFull(again.result), inFull(live.result));
    t.strictSame(answersToGaps(again.result), answersToGaps(live.result));
    t.strictSame(again.trace.requestsByKey, live.trace.requestsByKey);
    t.equal(animalsAdded(again), animalsAdded(live));
    t.equal(again.trace.run.id, live.trace.run.id);
    t.equal(again.startedAt, live.startedAt);
    t.strictSame(again.banned, live.banned);
    t.notOk(Object.values(verdicts(live.result)).includes('fail'));
    t.ok(JSON.stringify(journal.entries).length < 2_000_000, 'it is small');
  });

  const scenes = journal.entries.flatMap((entry) => ('scene' in entry ? [entry.scene] : []));
  t.test('loses the rows that need a scene which it lacks, and no others', async (t) => {
    const before = { ...inFull(live.result), ...answersToGaps(live.result) };
    const behind = new Map(
      journal.entries.flatMap((entry) => ('scene' in entry ? [[entry.scene, entry.asked]] : [])),
    );
    /** Whether a row names the scene, or one that asked for it. */
    const rests = (ids: readonly string[], scene: string): boolean =>
      ids.some((id) => id === scene || rests(behind.get(id) ?? [], scene));
    const rows = [...allChecks, ...allGapObservers].map((row) => ({
      id: row.id,
      scenes: row.scenes.flatMap((one) =>
        one.kind === 'scene' ? [one.id] : one.keys(live.trace.run.keys).map((key) => one.on(key).id),
      ),
    }));
    // Every sixth: a rejudged run takes a moment.
    for (const scene of scenes.filter((_, index) => index % 6 === 0)) {
      const { result } = await rejudged(
        journal.entries.filter((entry) => !('scene' in entry && entry.scene === scene)),
      );
      const after: Readonly<Record<string, unknown>> = { ...inFull(result), ...answersToGaps(result) };
      const other = Object.entries(before)
        .filter(([id, found]) => JSON.stringify(after[id]) !== JSON.stringify(found))
        // It judges filled minutes too, where there are any.
        .filter(
          ([id]) =>
            id !== 'rate-remaining-falls' && !rests(rows.find((row) => row.id === id)?.scenes ?? [], scene),
        );
      t.strictSame(
        other.map(([id]) => id),
        [],
        scene,
      );
    }
    t.ok(scenes.length > 50, `${scenes.length} scenes`);
    // What a scene asks today is no matter: none is played, and the server has ended.
  });
});

/** After how many exchanges the process ends, and how many bytes of the last line do not reach the disk. */
const CRASHES = [
  { after: 3, cut: 0 },
  { after: 64, cut: 1 },
  { after: 101, cut: 400 },
];

t.test('a run that crashed is resumed to the same verdict, and adds no animal twice', async (t) => {
  const names = ['free-1', 'pro-1'];
  const whole = await sharedClockTarget(t, {}, names, ['writes']);
  const expected = verdicts((await checked(whole.request)).result);
  for (const { after, cut } of CRASHES) {
    const { request } = await sharedClockTarget(t, {}, names, ['writes']);
    const directory = t.testdir();
    let exchanges = 0;
    const crash = new Error('the process ended');
    const onEvent: CheckRequest['onEvent'] = ({ kind }) => {
      if (kind === 'exchange') exchanges += 1;
      if (exchanges === after) throw crash;
    };
    await t.rejects(checkTarget({ ...request, directory, onEvent }), crash);
    const file = join(directory, JOURNAL_FILE);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - cut));
    const before = journalOf(directory);
    const { result, trace } = await checked({ ...request, directory, resume: before });
    t.strictSame(verdicts(result), expected, `after ${after}`);
    const added = trace.exchanges
      .filter(({ key, outcome }) => key !== null && outcome.kind === 'response' && outcome.status === 201)
      .flatMap((exchange) => nameSent(exchange) ?? []);
    // One is added twice on purpose: nothing makes a name unique.
    t.ok(new Set(added).size >= added.length - 1, `no animal twice, after ${after}`);
    const again = await checked({ ...request, resume: journalOf(directory), offline: true });
    t.strictSame(inFull(again.result), inFull(result), 'rejudged, it comes to the same');
    t.strictSame(
      trace.readings.filter(({ status }) => status === 429),
      [],
      'what was spent before counts towards the minute',
    );
  }
});

t.test('only what is asked for is checked, and no gap', async (t) => {
  const { request } = await sharedClockTarget(t, {}, ['free-1'], []);
  const { trace, result, warnings } = await checked({
    ...request,
    only: ['list-limit-fills', 'version-path-segment'],
  });
  t.strictSame(
    [...result.requirements].flatMap(([id, { verdict }]) => (verdict === 'skipped' ? [] : [id])).sort(),
    ['list-limit-fills', 'version-path-segment'],
  );
  t.match(result.requirements.get('list-answers-200'), { reasons: [{ kind: 'left-out' }] });
  t.equal(result.gaps.size, 0);
  t.ok(trace.readings.length < 40, `${trace.readings.length} requests`);
  t.strictSame(warnings, []);
  const skipped = await checked({ ...request, only: ['add-rejected-stores-nothing'] });
  t.equal(requestsOf(skipped), 1, 'nothing but the key is tried for what is not permitted');
});

t.test(
  'with nothing at the address there is nothing to judge, and the journal says what was tried',
  async (t) => {
    const { server, request } = await sharedClockTarget(t, {}, ['free-1'], []);
    await server.close();
    const directory = t.testdir();
    const result = await checkTarget({ ...request, directory });
    t.match(result, {
      nothingToJudge:
        /cannot be reached: the connection was refused.*; start the service, or correct the port/,
    });
    t.match(
      journalOf(directory).entries.find((entry) => 'exchange' in entry),
      { exchange: { outcome: { kind: 'failure', reason: 'refused' } } },
    );
  },
);

t.test('keys that only feed load are left alone', async (t) => {
  const { request } = await sharedClockTarget(t, {}, ['free-1', 'business-load'], []);
  const keys = request.profile.keys.map((key) =>
    key.name === 'business-load' ? { ...key, roles: ['load'] as const } : key,
  );
  const { trace } = await checked({
    ...request,
    profile: { ...request.profile, keys },
    only: ['list-limit-range'],
  });
  t.strictSame(
    trace.run.keys.map(({ name }) => name),
    ['free-1'],
  );
});
