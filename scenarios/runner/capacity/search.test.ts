/** What steps that take no time show of a search; measure.test.ts has the others. */
import t from 'tap';
import { parseSlo } from '../../lib/slo.ts';
import { type StepOutcome, SUSTAINED_SECONDS } from './judge-steps.ts';
import { searchCapacity } from './search.ts';

/** A search at a target that holds 100 requests/s, with time for so many steps. */
function search(slo: string, steps: number, happens = () => {}) {
  const taken: StepOutcome[] = [];
  const take = async (rate: number) => {
    happens();
    taken.push({ rate, held: rate <= 100 });
    return undefined;
  };
  return searchCapacity({ taken, take, left: () => 7 * (steps - taken.length) }, parseSlo(slo));
}

t.test('the interval is wider by the backlog that a latency bound lets pass', async (t) => {
  const [exact, backlog] = await Promise.all(['errors<0.1%', 'p99<1500ms'].map((slo) => search(slo, 30)));
  const part = 1.5 / SUSTAINED_SECONDS;
  const [low = 0, high = 0] = exact?.interval ?? [];
  t.ok(0.95 < low / 100 && low < 100 && high > 100, `${low} to ${high}`);
  t.strictSame(backlog?.interval, [low * (1 - part), high * (1 + part)]);
});

t.test('a search ends where no further step has time', async (t) => {
  t.match(await search('errors<0.1%', 9), { outcome: 'found', reason: /^8 steps; / });
});

t.test('whatever else goes wrong is nobody’s capacity', async (t) => {
  const full = () => {
    throw new Error('the disk is full');
  };
  await t.rejects(search('errors<0.1%', 30, full), { message: 'the disk is full' });
});
