import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startReferenceServer } from '../reference-server/reference-server.ts';
import type { ReferenceServer } from '../reference-server/server.ts';
import { type CheckedTarget, type CheckRequest, checkTarget, JOURNAL_FILE } from './check-target.ts';
import type { KeyRole } from './profile/target-profile.ts';
import { readJournal } from './run/journal.ts';
import type { RunResult } from './run/run-checks.ts';
import type { Permission } from './run/verdict.ts';

/** A minute of the target's clock is a second. */
const CLOCK_SPEED = 60;

const ROLES: Readonly<Record<string, readonly KeyRole[]>> = {
  'free-1': ['functional', 'exhaust'],
  'free-2': ['functional'],
  'free-ban': ['ban'],
  'pro-1': ['functional', 'exhaust'],
};

interface Target {
  readonly server: ReferenceServer;
  readonly request: CheckRequest;
}

/** A reference server, and what is to be checked of it with some of its keys. */
async function target(
  personality: { readonly variant?: string; readonly animals?: number },
  names: readonly string[],
  permissions: readonly Permission[],
  clockSpeed = CLOCK_SPEED,
): Promise<Target> {
  const server = await startReferenceServer({ clockSpeed, ban: { seconds: 20 }, ...personality });
  const keys = server.keys.filter(({ name }) => names.includes(name));
  return {
    server,
    request: {
      profile: {
        target: server.baseUrl,
        keys: keys.map(({ name, plan }) => ({
          name,
          plan,
          roles: ROLES[name] ?? [],
          env: 'PETSTORE_KEY',
          unusedToday: true,
        })),
        plans: {},
        permit: permissions,
        load: { allowed: false },
        gaps: {},
        clock: { speed: clockSpeed },
        samples: {},
      },
      values: new Map(keys.map(({ name, value }) => [name, value])),
      permissions,
    },
  };
}

type Checked = Extract<CheckedTarget, { kind: 'checked' }>;

async function checked(request: CheckRequest): Promise<Checked> {
  const result = await checkTarget(request);
  if (result.kind !== 'checked') throw new Error(result.message);
  return result;
}

const verdicts = ({ requirements }: RunResult) =>
  Object.fromEntries([...requirements].map(([id, { verdict }]) => [id, verdict]));
/** Reasons and evidence too. */
const inFull = ({ requirements }: RunResult) =>
  Object.fromEntries(
    [...requirements].map(([id, { verdict, reason, evidence }]) => [
      id,
      [verdict, reason, ...evidence.map((exchange) => exchange.id)],
    ]),
  );
const answersToGaps = ({ gaps }: RunResult) =>
  Object.fromEntries(
    [...gaps].map(([id, answer]) => [id, typeof answer === 'string' ? answer : answer.answer]),
  );

function journalOf(directory: string) {
  const journal = readJournal(join(directory, JOURNAL_FILE));
  if (!journal.ok) throw new Error(journal.problem);
  return journal;
}

/** The most that a run without limits, bans and days may cost (a Free key's two and a half minutes). */
const MOST_REQUESTS = 150;

const STORES: readonly { readonly name: string; readonly variant?: string; readonly animals?: number }[] = [
  { name: 'a store with 120 animals', animals: 120 },
  { name: 'an empty store', animals: 0 },
  { name: 'a strict store', variant: 'strict' },
  { name: 'an empty strict store', variant: 'strict', animals: 0 },
  { name: 'a store with answers of its own', variant: 'everything-else' },
];

for (const permissions of [[], ['writes']] as const) {
  for (const { name, ...personality } of STORES) {
    t.test(
      `${name}, permitted ${permissions.join() || 'nothing'}: one Free key is enough, within its minutes`,
      async (t) => {
        const { server, request } = await target(personality, ['free-1'], permissions);
        t.teardown(() => server.close());
        const { run, result } = await checked(request);
        const total = [...run.requestsByKey.values()].reduce((sum, count) => sum + count, 0);
        t.ok(total <= MOST_REQUESTS, `${total} requests`);
        t.strictSame(
          run.readings.filter(({ status }) => status === 429),
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
        t.equal(run.animalsAdded > 0, permissions.length > 0);
      },
    );
  }
}

const ADDING = /^add-(?!rejected-stores)/;

t.test('a key that may not add leaves the additions to one that may', async (t) => {
  const { server, request } = await target(
    { variant: 'one-key-reads-only', animals: 30 },
    ['free-1', 'free-2'],
    ['writes'],
  );
  t.teardown(() => server.close());
  // The one that comes first pays, and may not add.
  const keys = request.profile.keys.toReversed();
  const { run, result } = await checked({ ...request, profile: { ...request.profile, keys } });
  const found = Object.entries(verdicts(result));
  t.strictSame(
    found.filter(([id, verdict]) => verdict === 'fail' || (ADDING.test(id) && verdict !== 'pass')),
    [],
  );
  const forbidden = run.readings.filter(({ status }) => status === 403);
  t.equal(forbidden.length, 1, 'the other key is asked once');
});

t.test('keys of one plan that see their own animals only are no failure', async (t) => {
  const { server, request } = await target(
    { variant: 'own-animals-only', animals: 40 },
    ['free-1', 'free-2'],
    ['writes'],
  );
  t.teardown(() => server.close());
  const { result } = await checked(request);
  t.strictSame(
    Object.entries(verdicts(result)).filter(([, verdict]) => verdict === 'fail'),
    [],
  );
});

t.test('where no key may add, nothing is told of additions, and all of the rest', async (t) => {
  const { server, request } = await target(
    { variant: 'one-key-reads-only', animals: 30 },
    ['free-2'],
    ['writes'],
  );
  t.teardown(() => server.close());
  const { run, result } = await checked(request);
  const found = Object.entries(verdicts(result));
  t.strictSame(
    found.filter(([id, verdict]) => verdict === 'fail' || (ADDING.test(id) && verdict !== 'inconclusive')),
    [],
  );
  t.match(result.requirements.get('add-rejects-name-type')?.reason, /no key of the profile may add/);
  for (const id of ['list-limit-fills', 'list-status-filter', 'get-answers-200', 'auth-missing-key'])
    t.equal(result.requirements.get(id)?.verdict, 'pass', id);
  t.equal(run.animalsAdded, 0);
  t.ok(run.readings.filter(({ operation, key }) => operation === 'createPet' && key !== null).length <= 5);
});

t.test(
  'a run is judged again from its journal, with nothing there to answer, to the same result',
  async (t) => {
    const { server, request } = await target(
      {},
      ['free-1', 'free-2', 'free-ban', 'pro-1'],
      ['writes', 'exhaust', 'ban'],
      CLOCK_SPEED / 2,
    );
    t.teardown(() => server.close());
    const directory = t.testdir();
    const live = await checked({ ...request, directory });
    await server.close();
    const journal = journalOf(directory);
    t.equal(
      journal.exchanges.size,
      [...live.run.requestsByKey.values()].reduce((sum, count) => sum + count, 0),
      'every exchange has an id of its own',
    );
    t.strictSame([...new Set(journal.lost.values())], [0]);
    const again = await checked({ ...request, resume: journal, offline: true });
    t.strictSame(inFull(again.result), inFull(live.result));
    t.strictSame(answersToGaps(again.result), answersToGaps(live.result));
    t.strictSame(new Map(again.run.requestsByKey), live.run.requestsByKey);
    t.equal(again.run.animalsAdded, live.run.animalsAdded);
    t.equal(again.run.runId, live.run.runId);
    t.equal(again.startedAt, live.startedAt);
    t.equal(again.endedAt, Math.max(...live.run.readings.map(({ receivedAt }) => receivedAt)));
    t.notOk(Object.values(verdicts(live.result)).includes('fail'));
  },
);

t.test('judged by a version whose checks ask otherwise, a run leaves open what they ask', async (t) => {
  const { server, request } = await target({}, ['free-1'], []);
  t.teardown(() => server.close());
  const directory = t.testdir();
  const only = ['list-limit-range', 'list-status-filter', 'list-answers-200'];
  const live = await checked({ ...request, directory, only });
  t.notOk(Object.values(verdicts(live.result)).includes('fail'));
  const journal = journalOf(directory);
  // As if the filters had been asked for in another order: judged, each answer would break its filter.
  const turned: Readonly<Record<string, string>> = {
    available: 'pending',
    pending: 'sold',
    sold: 'available',
  };
  const exchanges = new Map(
    [...journal.exchanges].map(([id, exchange]) => {
      const path = exchange.request.path.replace(/(?<=status=)\w+/, (status) => turned[status] ?? status);
      return [id, { ...exchange, request: { ...exchange.request, path } }];
    }),
  );
  const again = await checked({ ...request, only, resume: { ...journal, exchanges }, offline: true });
  const open = [...again.result.requirements].filter(([, { verdict }]) => verdict !== 'pass');
  t.ok(open.length > 0);
  for (const [id, { verdict, reason }] of open) {
    t.equal(verdict, 'inconclusive', id);
    t.match(
      reason,
      /^the stored run asked GET \S+ as \S+#\d+, where this one asks GET \S+: it is not judged/,
    );
  }
});

/** After how many exchanges the process ends, and how many bytes of the last line do not reach the disk. */
const CRASHES = [
  { after: 3, cut: 0 },
  { after: 25, cut: 40 },
  { after: 64, cut: 1 },
  { after: 101, cut: 400 },
];

t.test('a run that crashed goes on to the same verdict without sending a request twice', async (t) => {
  const names = ['free-1', 'pro-1'];
  const whole = await target({}, names, ['writes']);
  t.teardown(() => whole.server.close());
  const expected = verdicts((await checked(whole.request)).result);
  for (const { after, cut } of CRASHES) {
    const { server, request } = await target({}, names, ['writes']);
    t.teardown(() => server.close());
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
    t.equal(before.exchanges.size, cut <= 1 ? after : after - 1);

    const sent: string[] = [];
    const { result, run } = await checked({
      ...request,
      directory,
      resume: before,
      onEvent: (event) => {
        if (event.kind === 'exchange' && !before.exchanges.has(event.exchange.id))
          sent.push(event.exchange.id);
      },
    });
    t.strictSame(verdicts(result), expected, `after ${after}`);
    t.equal(new Set(sent).size, sent.length);
    const whole = journalOf(directory);
    t.equal(whole.exchanges.size, before.exchanges.size + sent.length);
    const again = await checked({ ...request, resume: whole, offline: true });
    t.strictSame(inFull(again.result), inFull(result), 'judged again, it comes to the same');
    t.strictSame(
      run.readings.filter(({ status }) => status === 429),
      [],
      'what was spent before counts towards the minute',
    );
  }
});

t.test('only what is asked for is checked, and no gap', async (t) => {
  const { server, request } = await target({}, ['free-1'], []);
  t.teardown(() => server.close());
  const { run, result, warnings } = await checked({
    ...request,
    only: ['list-limit-range', 'media-type-json'],
  });
  t.strictSame([...result.requirements.keys()].sort(), ['list-limit-range', 'media-type-json']);
  t.equal(result.gaps.size, 0);
  t.ok(run.readings.length < 20);
  t.strictSame(warnings, []);
});

t.test(
  'with nothing at the address there is nothing to judge, and the journal says what was tried',
  async (t) => {
    const { server, request } = await target({}, ['free-1'], []);
    await server.close();
    const directory = t.testdir();
    const result = await checkTarget({ ...request, directory });
    t.match(result, {
      kind: 'not-ready',
      message: /cannot be reached: the connection was refused.*; start the service, or correct the port/,
    });
    t.match([...journalOf(directory).exchanges.values()][0], {
      outcome: { kind: 'failure', reason: 'refused' },
    });
  },
);

t.test('keys that only feed load are left alone', async (t) => {
  const { server, request } = await target({}, ['free-1', 'business-load'], []);
  t.teardown(() => server.close());
  const keys = request.profile.keys.map((key) =>
    key.name === 'business-load' ? { ...key, roles: ['load'] as const } : key,
  );
  const { run } = await checked({
    ...request,
    profile: { ...request.profile, keys },
    only: ['list-limit-range'],
  });
  t.strictSame(
    run.keys.map(({ name }) => name),
    ['free-1'],
  );
});
