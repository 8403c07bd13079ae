import t from 'tap';
import { capacityResult } from '../../../reports/testing/sample-load.ts';
import { renderCapacity } from './render-capacity.ts';

const without = { ...capacityResult(), capacity: null, interval: null };

t.test('a lower bound is said as one, with what bounds the search', async (t) => {
  const text = renderCapacity({ ...without, outcome: 'quota-limited', reason: 'too dear', atLeast: 320 });
  t.match(text, /\n\nat least 320 requests\/s \(limited by the plans’ quotas\): too dear\n$/);
});

t.test(
  'where the generator was the limit, what held is said, and the step that could not be made',
  async (t) => {
    const failedStep = { rate: 640, phase: 'bracket', seconds: 3, reason: 'arrivals were late' } as const;
    const text = renderCapacity({
      ...without,
      outcome: 'generator-limited',
      reason: 'late',
      atLeast: 320,
      failedStep,
    });
    t.match(
      text,
      /\nnot made: 640\/s: arrivals were late\n\nat least 320 requests\/s \(as much as this machine /,
    );
  },
);

t.test('no capacity is claimed where nothing held', async (t) => {
  t.match(renderCapacity({ ...without, outcome: 'generator-limited', reason: 'late' }), /NO CAPACITY/);
  t.match(renderCapacity({ ...without, outcome: 'quota-limited', reason: 'spent' }), /NO CAPACITY/);
});

t.test('a search that quotas ended late says so beside its interval', async (t) => {
  const text = renderCapacity({ ...capacityResult(), outcome: 'quota-limited', reason: 'the day is spent' });
  t.match(text, /95 % interval 398\.0 to 421\.0 \(±2\.8 %\), quota-limited: the day is spent\n$/);
});
