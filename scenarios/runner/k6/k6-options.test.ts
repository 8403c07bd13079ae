import t from 'tap';
import type { LoadProfileName } from '../../lib/load-profiles.ts';
import { planWith } from '../testing/made-results.ts';
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
  const unused = { validateEvery: 1, headers: [], samples: { categoryId: '1', ids: [] } };
  return k6Options({ ...planWith('k', { rate, seconds }), ...unused, tagged, facts }, 1).options;
}

t.test('a constant rate lasts as long as it is told, and at least as k6 wants it', async (t) => {
  for (const [seconds, duration] of [
    [5, '5000ms'],
    [0.5, '1000ms'],
  ] as const)
    t.match(told('constant', 40, seconds), {
      scenarios: { clients: { executor: 'constant-arrival-rate', rate: 24_000, duration } },
    });
});

t.test('rates of less than one request in ten minutes are one in ten minutes', async (t) => {
  t.match(told('constant', 0.0001, 60), { scenarios: { clients: { rate: 1, duration: '60000ms' } } });
});

t.test('k6 sets its own tags only where it writes its metrics somewhere', async (t) => {
  t.strictSame(Object(told('constant', 10, 5)).systemTags, []);
  t.match(Object(told('constant', 10, 5, true)).systemTags, ['status', 'name', 'scenario']);
});
