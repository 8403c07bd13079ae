import t from 'tap';
import { type AccuracyCase, profileOf, runCase, serverOf, settingOf } from './case.ts';

const breaking = (breaks: string): AccuracyCase => ({ kind: 'fault', name: 'made-up', breaks });
const VARIANT: AccuracyCase = { kind: 'variant', name: 'made-up' };

t.test('a case has keys for every verdict but those of the days and of the big plans', async (t) => {
  for (const accuracyCase of [
    VARIANT,
    breaking('add-echo'),
    breaking('ban-applied'),
    breaking('rate-minute-pro'),
  ]) {
    const { keys, permissions } = settingOf(accuracyCase);
    t.strictSame(keys, ['free-1', 'free-2', 'free-ban', 'pro-1']);
    t.strictSame(permissions, ['writes', 'exhaust', 'ban']);
  }
  t.strictSame(settingOf(breaking('rate-minute-business')).keys.at(-1), 'business-1');
  t.strictSame(settingOf(breaking('rate-minute-enterprise')).keys.at(-1), 'enterprise-1');
});

t.test('a day is spent by the key of its plan alone', async (t) => {
  for (const plan of ['free', 'pro', 'business', 'enterprise']) {
    const { keys, permissions } = settingOf(breaking(`rate-day-${plan}`));
    t.strictSame(keys, [`${plan}-1`]);
    t.strictSame(permissions, ['writes', 'exhaust', 'day']);
  }
  t.strictSame(settingOf(breaking('rate-day-refusal')).permissions, ['writes', 'exhaust', 'day']);
});

t.test(
  'a store is as large as the case says, and small where only a whole list shows the fault',
  async (t) => {
    const animals = (accuracyCase: AccuracyCase) => {
      const { animals } = serverOf(accuracyCase);
      return animals;
    };
    t.equal(animals({ ...VARIANT, animals: 0 }), 0);
    t.equal(animals(VARIANT), undefined);
    t.equal(animals(breaking('get-added')), undefined);
    t.equal(animals(breaking('list-shows-added')), 40);
    t.equal(animals({ ...breaking('list-shows-added'), animals: 100_000 }), 100_000);
  },
);

t.test('a server has the fault or the personality that the case names', async (t) => {
  t.match(serverOf(breaking('add-echo')), { fault: 'made-up', variant: undefined });
  t.match(serverOf(VARIANT), { fault: undefined, variant: 'made-up' });
});

t.test('the profile gives each key its plan, and one key to the ban', async (t) => {
  const { keys, permit, plans } = profileOf(
    'http://127.0.0.1:1/v1',
    settingOf(breaking('rate-minute-business')),
  );
  t.match(
    keys.map(({ name, plan, roles }) => `${name} ${plan} ${roles.join(' ')}`),
    [
      'free-1 free functional exhaust',
      'free-2 free functional',
      'free-ban free ban',
      'pro-1 pro functional exhaust',
      'business-1 business functional exhaust',
    ],
  );
  t.strictSame(permit, ['writes', 'exhaust', 'ban']);
  t.strictSame(plans.enterprise, serverOf(VARIANT).enterprise, 'what the server grants');
});

t.test('a case runs the whole suite against its fault', async (t) => {
  const { verdicts, requests, problem } = await runCase({
    kind: 'fault',
    name: 'list-cuts-name',
    breaks: 'list-shows-added',
    animals: 0,
    busy: true,
  });
  t.equal(problem, undefined);
  t.ok(requests > 300);
  t.match(
    verdicts.find(({ id }) => id === 'list-shows-added'),
    { verdict: 'fail', reason: /name/ },
  );
  t.match(
    verdicts.find(({ id }) => id === 'auth-missing-key'),
    { verdict: 'pass' },
  );
});
