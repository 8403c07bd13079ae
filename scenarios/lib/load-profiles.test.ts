import t from 'tap';
import { arrivalsOf, type LoadProfileName, peakOf, slopesOf } from './load-profiles.ts';

const NAMES: LoadProfileName[] = ['constant', 'average-load', 'stress', 'spike', 'soak', 'breakpoint'];

const timing = (profile: LoadProfileName, rate: number, seconds: number) => ({
  facts: { profile },
  rate,
  seconds,
});

t.test('every profile lasts as long as it is told and joins up', async (t) => {
  for (const name of NAMES) {
    const shape = slopesOf(timing(name, 50, 200));
    t.ok(Math.abs(shape.reduce((sum, { seconds }) => sum + seconds, 0) - 200) < 1e-9, name);
    for (const [index, slope] of shape.entries()) {
      const next = shape[index + 1];
      if (next !== undefined) t.equal(slope.to, next.from, `${name} has no jump`);
    }
  }
});

t.test('arrivals are the area under the rate', async (t) => {
  t.equal(arrivalsOf(timing('constant', 10, 60)), 600);
  t.equal(arrivalsOf(timing('breakpoint', 10, 60)), 300);
  t.equal(arrivalsOf(timing('constant', 0.1, 5)), 1, 'one that has begun counts');
});

t.test('stress goes to twice the usual rate', async (t) => {
  t.equal(peakOf(timing('stress', 10, 60)), 20);
  t.equal(peakOf(timing('spike', 10, 60)), 10);
});
