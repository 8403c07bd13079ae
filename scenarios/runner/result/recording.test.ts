import t from 'tap';
import { redactorOf } from '../../../checks/wire/redaction.ts';
import { logged, planWith, START } from '../testing/made-results.ts';
import { Samples } from './figures.ts';
import { Recording } from './recording.ts';

const PLAN = planWith('p', {
  scenario: 'noisy-neighbour',
  clients: [2],
  keys: planWith('p').keys.flatMap((key) => [
    key,
    { ...key, name: 'b', plan: 'business' as const },
    { ...key, name: 'n' },
  ]),
});

t.test('samples become counts by stream, operation and plan, and time blocks', async (t) => {
  const store = new Samples(PLAN);
  const add = (since: number, samples: Record<string, number[]>) => store.add(since, samples);
  t.ok(add(START, { '0 listPets 200 ok': [0, 1500], '1 createPet 201 ok': [300, 2500] }));
  t.ok(add(START + 2000, { '0 listPets 1050 error': [0, 10_000_000], '2 listPets 429 refused': [1, 500] }));
  // A straggler, after its block was looked at.
  t.equal(store.since(START).requests, 4);
  t.ok(add(START + 500, { '0 listPets 200 ok': [0, 3000] }));
  const [lists, additions, noise] = store.series();
  t.match(lists, {
    stream: 'clients',
    operation: 'listPets',
    plan: 'pro',
    requests: 3,
    statuses: { 200: 2, 1050: 1 },
  });
  t.match(additions, { operation: 'createPet', plan: 'business', requests: 1, outcomes: { ok: 1 } });
  t.match(noise, { stream: 'noise', outcomes: { refused: 1 } });
  t.match(lists?.blocks, [
    { at: START, statuses: { 200: 2 }, histogram: { 1500: 1 } },
    { at: START + 2000, outcomes: { ok: 0, error: 1 } },
  ]);
  t.same(store.paid.get('p'), { sent: 3, refused: 0 });
  t.match(store.since(0), { requests: 5, errors: 1 });
  t.match(store, { first: START, last: START + 12_000 });
});

t.test('a duration that no request can take is counted as half an hour', async (t) => {
  const store = new Samples(PLAN);
  store.add(START, { '0 listPets 200 ok': [0, 1e13] });
  const max = store.series()[0]?.latency?.max ?? 0;
  t.ok(max > 2_100_000 && max < 2_200_000, `${max} ms`);
});

t.test('samples that the plan does not know are told, and change nothing', async (t) => {
  for (const name of [
    '',
    'x',
    '9 listPets 200 ok',
    ' listPets 200 ok',
    '0 dogs 200 ok',
    '0 listPets 200 fine',
  ]) {
    const store = new Samples(PLAN);
    t.notOk(store.add(START, { [name]: [0, 1] }), name);
    t.same(store.series(), []);
  }
});

t.test('what cannot be read fails the run; keys are redacted; k6 is quoted a few times', async (t) => {
  const notes: string[] = [];
  const recording = new Recording({
    plan: planWith('k'),
    processes: 1,
    redact: redactorOf(['sk_secret']),
    note: (line) => void notes.push(line),
  });
  for (const message of [
    { samples: {} },
    { samples: { since: 1, series: {}, lags: ['x'], added: [] } },
    { other: 1 },
    7,
  ])
    recording.add(logged(Object(message)));
  recording.add(
    logged({ threshold: { kind: 'client', name: 'a', key: 'k', held: null, actual: 'sk_secret' } }),
  );
  for (let line = 0; line < 100; line += 1)
    recording.add(JSON.stringify({ level: 'warning', msg: `Request Failed ${line}`, error: 'sk_secret' }));
  recording.add('{"level":"error","msg":"boom"}');
  recording.add('plain words of k6');
  const { thresholds, generator } = recording.part();
  t.same(generator.errorLines, ['k6 wrote a message that cannot be read', 'boom']);
  t.match(thresholds, [{ kind: 'client', name: 'a', held: null, actual: '[key redacted]' }]);
  t.equal(notes.length, 11, 'the first ten, and that there are more');
  t.equal(notes[0], 'k6 warning: Request Failed 0 [key redacted]');
});

t.test('a client that reports nothing is a broken threshold', async (t) => {
  const plan = planWith('free-1', { scenario: 'polite-clients', clients: [0] });
  const silent = new Recording({ plan, processes: 1, redact: redactorOf([]) });
  t.match(silent.part().thresholds, [{ held: false, actual: 'none from free-1' }]);
  t.same(silent.part({ interrupted: 'by a signal' }).thresholds, [], 'unless it was cut short');
  silent.add(logged({ measurement: { name: 'm', key: 'free-1', value: 1, unit: 's' } }));
  t.same(silent.part().thresholds, []);
});
