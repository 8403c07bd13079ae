import t from 'tap';
import type { LoadProfileName } from '../../lib/load-profiles.ts';
import { parseSlo } from '../../lib/slo.ts';
import { k6Options } from './k6-options.ts';

/** What k6 is told of a load that is one rate. */
function told(profile: LoadProfileName, rate: number, seconds: number, tagged = false): unknown {
  const facts = {
    name: 'test',
    answers: '',
    profile,
    mix: { listPets: 1, createPet: 0, getPet: 0 },
    thresholds: 'errors==0',
  };
  const load = { facts, rate, seconds, tagged, clauses: parseSlo('p99<100ms'), clients: [] };
  return k6Options({ ...load, clockSpeed: 1, graceSeconds: 1, processes: 1 }).options;
}

t.test('a constant rate ends before the moment of the first request that nobody paid', async (t) => {
  t.match(told('constant', 40, 5), {
    scenarios: { clients: { executor: 'constant-arrival-rate', rate: 24_000, duration: '4987.5ms' } },
  });
  // 25 requests: the last of them 1.2 s before the end.
  t.match(told('constant', 0.8, 31), { scenarios: { clients: { rate: 480, duration: '30625ms' } } });
});

t.test('less than k6 takes as a constant rate is a ramp without a slope', async (t) => {
  const { scenarios } = Object(told('constant', 10, 1));
  t.match(scenarios.clients, {
    executor: 'ramping-arrival-rate',
    startRate: 6000,
    stages: [{ duration: '1050ms', target: 6000 }],
  });
});

t.test('rates of less than one request in ten minutes are one in ten minutes', async (t) => {
  t.match(told('constant', 0.0001, 60), { scenarios: { clients: { rate: 1, duration: '60000ms' } } });
});

t.test('k6 sets its own tags only where it writes its metrics somewhere', async (t) => {
  t.strictSame(Object(told('constant', 10, 5)).systemTags, []);
  t.match(Object(told('constant', 10, 5, true)).systemTags, ['status', 'name', 'scenario']);
});
