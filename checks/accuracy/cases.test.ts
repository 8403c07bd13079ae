import t, { type Test } from 'tap';
import { judgedCheck } from '../../cli/check/check-report.ts';
import { demoKeys } from '../../reference-server/api-keys.ts';
import { FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { buildReport } from '../../reports/build-report.ts';
import { currentId, requirements } from '../../spec/contract.ts';
import { sharedClock } from '../run/clock.ts';
import { DIRECT } from '../wire/access.ts';
import { runCase } from './case.ts';
import { casesFor, PAIRS, pairsWithout, sampleOf, someOf } from './cases.ts';
import { STYLES } from './framework-service.ts';
import { ENTERPRISE, requestOf, settingOf } from './setting.ts';

t.test('a fault runs with the keys and permissions that show it', async (t) => {
  const usual = ['free-1', 'free-2', 'free-ban', 'pro-1'];
  const limits = ['writes', 'exhaust', 'ban'];
  const days = ['writes', 'exhaust', 'day'];
  for (const [requirement, keys, permissions] of [
    [undefined, usual, limits],
    ['add-echoes-name', usual, limits],
    ['rate-minute-pro', usual, limits],
    ['rate-minute-business', [...usual, 'business-1'], limits],
    ['rate-day-free', ['free-1'], days],
    ['rate-day-enterprise', ['enterprise-1'], days],
    ['rate-day-refusal', ['free-1'], days],
  ] as const)
    t.match(settingOf(requirement), { keys, permissions }, requirement ?? 'any');
  const server = { baseUrl: 'http://127.0.0.1:1/v1', keys: demoKeys(), clock: sharedClock() };
  const { profile } = requestOf(server, settingOf());
  t.strictSame(profile.permit, limits);
  t.match(profile.keys[2], { name: 'free-ban', plan: 'free', roles: ['ban'] });
});

t.test(
  'a filter adds every conforming server to the faults that it matches, restricted to what they break',
  async (t) => {
    const { cases, checkable } = casesFor(/^filter-ignored$/);
    const [first] = cases.filter(({ kind }) => kind === 'fault');
    t.strictSame(checkable, [first?.breaks]);
    t.ok(cases.filter(({ kind }) => kind === 'service').length === STYLES.length);
    for (const one of cases) t.strictSame(one.only, one.kind === 'fault' ? undefined : checkable, one.name);
    t.ok(pairsWithout(cases).includes('answers lost: each variant'));
  },
);

t.test('a filter for a disturbance runs its pairs, and names those that it left out', async (t) => {
  const { cases } = casesFor(/^answers lost$/);
  t.strictSame(
    cases,
    PAIRS.filter(({ disturbance }) => disturbance === 'answers lost'),
  );
  const left = pairsWithout(cases);
  t.notOk(left.some((line) => line.startsWith('answers lost:')));
  t.ok(left.includes('a clock ahead: each variant'));
});

t.test('a sample is the same for the same seed', async (t) => {
  t.strictSame(sampleOf(5, 7).cases, sampleOf(5, 7).cases);
  t.notSame(someOf(PAIRS, 5, 7), someOf(PAIRS, 5, 8));
});

const failures = async (accuracyCase: Parameters<typeof runCase>[0]) => {
  const { verdicts, problem } = await runCase(accuracyCase);
  t.equal(problem, undefined);
  return verdicts.flatMap(({ id, verdict }) => (verdict === 'fail' ? [id] : []));
};

t.test('a case runs the whole suite against its fault', async (t) =>
  // What a key pays for requests that are wrongly served follows from their row.
  t.strictSame(await failures({ kind: 'fault', name: 'auth-basic-accepted', breaks: 'auth-other-scheme' }), [
    'auth-other-scheme',
  ]),
);

/** What is broken with a fault, and what its report says to repeat. */
async function brokenWith(t: Test, { name, breaks }: (typeof FAULTS)[number], only?: readonly string[]) {
  const clock = sharedClock();
  const server = await startReferenceServer({
    clock,
    enterprise: ENTERPRISE,
    ban: { seconds: 20 },
    fault: name,
  });
  t.teardown(() => server.close());
  const judged = await judgedCheck(
    {
      ...requestOf(server, settingOf(breaks)),
      ...{ access: DIRECT, clock, embedded: false, close: () => server.close() },
      ...(only === undefined ? {} : { only }),
      timeLimit: { longest: 600_000, taken: 0 },
      mostRequests: 10_000,
    },
    {},
    [],
  );
  if (typeof judged === 'string') throw new Error(judged);
  const { report } = judged;
  const commands = buildReport(report).steps.map(({ command = '' }) => / --only (\S+)/.exec(command)?.[1]);
  const [repeat] = commands.filter((ids) => ids !== undefined);
  return {
    broken: report.requirements.flatMap(({ id, verdict }) => (verdict === 'fail' ? id : [])),
    repeat: repeat?.split(',') ?? [],
  };
}

const REPEATS = process.env['REPEATS'] === undefined ? undefined : Number(process.env['REPEATS']);
const seed = Number(process.env['PETSTORE_SEED'] ?? Date.now() % 1e6);
t.test(`what a report says to repeat is broken again, PETSTORE_SEED=${seed}`, async (t) => {
  // They show now and then, in what a ban leaves behind, beside other keys, or beside other additions.
  const odd = ['auth-valid-refused-now-and-then', 'banned-add-stored', 'address-shares', 'empty-body-crash'];
  // One shows by a key's last letter, and each server has keys of its own.
  const cheap = FAULTS.filter(
    ({ name, breaks }) =>
      !/^rate-day|-business$|-enterprise$/.test(breaks) && name !== 'auth-ignores-last-character',
  );
  const some = someOf(cheap, Math.min(cheap.length, REPEATS ?? 5), seed);
  for (const fault of new Set([...FAULTS.filter(({ name }) => odd.includes(name)), ...some])) {
    const { repeat } = await brokenWith(t, fault);
    const { broken } = repeat.length === 0 ? { broken: [] } : await brokenWith(t, fault, repeat);
    t.strictSame([...broken].sort(), [...repeat].sort(), fault.name);
  }
});

/** Faults that break other readings with their own, and faults that break other readings in their own right. */
const BRINGING = [
  ...['filter-pending-empty', 'filter-hides-newest', 'added-stored-as-available', 'echo-status-available'],
  ...['get-pending-as-available', 'auth-ignores-case', 'ban-after-waiting'],
];
const BESIDES: Readonly<Record<string, readonly string[]>> = {
  'list-rounds-id': ['list-each-once'],
  'successor-has-other-status': ['list-status-complete', 'get-same-animal'],
  'successor-hides-retrieved': ['list-limit-fills', 'list-status-complete'],
  'successor-shows-other-ids': ['list-status-complete'],
};

t.test(`what a declined reading brings with it is not broken, PETSTORE_SEED=${seed}`, async (t) => {
  const readings = requirements.flatMap(({ id, reading }) => (reading === undefined ? [] : id));
  const all = FAULTS.filter(({ breaks }) => readings.includes(currentId(breaks)));
  const some = someOf(all, Math.min(all.length, REPEATS ?? 3), seed);
  for (const { name, breaks } of new Set([...all.filter((one) => BRINGING.includes(one.name)), ...some])) {
    const declined = currentId(breaks);
    const broken = await failures({ kind: 'fault', name, breaks: declined, declined: [declined] });
    t.strictSame(
      broken.filter((id) => readings.includes(id)),
      (BESIDES[name] ?? []).map(currentId),
      name,
    );
  }
  // A target that need not show a status keeps what the document states.
  const hidden = { name: 'echo-status-dropped-everywhere', breaks: 'add-echoes-status' };
  t.strictSame(await failures({ kind: 'fault', ...hidden, declined: [hidden.breaks] }), []);
});

t.test("a service's windows and bans pass in no time", async (t) =>
  t.strictSame(await failures({ kind: 'service', name: STYLES[0] ?? '' }), []),
);
