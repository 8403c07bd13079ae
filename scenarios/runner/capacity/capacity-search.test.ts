import t from 'tap';
import { parseSlo } from '../../lib/slo.ts';
import { type Search, SearchEnded, searchCapacity } from './capacity-search.ts';
import { SUSTAINED_SECONDS } from './judge-step.ts';
import type { StepOutcome } from './knee.ts';

const SLO = parseSlo('p99<200ms,errors<0.1%');

/** Steps at a target that holds up to a rate, until one cannot be taken. */
function steps(
  capacity: number,
  end: (rate: number, taken: number) => Error | undefined,
): Pick<Search, 'take' | 'taken'> {
  const taken: StepOutcome[] = [];
  return {
    taken,
    async take(rate) {
      const error = end(rate, taken.length);
      if (error !== undefined) throw error;
      const step = { rate, held: rate <= capacity };
      taken.push(step);
      return step;
    },
  };
}

/** Thirty steps, whatever the machine does meanwhile. */
const search = (taker: Pick<Search, 'take' | 'taken'>, slo = SLO) =>
  searchCapacity({ ...taker, left: () => 7.5 * (30 - taker.taken.length) }, slo);

t.test('a capacity within what the keys pay is found', async (t) => {
  const { outcome, capacity, interval } = await search(steps(100, () => undefined));
  t.equal(outcome, 'found');
  t.ok(capacity !== null && Math.abs(capacity - 100) < 3, `${capacity}`);
  t.ok(interval !== null && interval[0] <= 100 && 100 <= interval[1], `${interval}`);
});

t.test('the interval is wider by the backlog that a latency bound lets pass', async (t) => {
  const [exact, backlog] = await Promise.all(
    ['errors<0.1%', 'p99<1500ms'].map((slo) =>
      search(
        steps(100, () => undefined),
        parseSlo(slo),
      ),
    ),
  );
  const part = 1.5 / SUSTAINED_SECONDS;
  const [low = 0, high = 0] = exact?.interval ?? [];
  t.strictSame(backlog?.interval, [low * (1 - part), high * (1 + part)]);
});

t.test('where quotas end it before anything broke, what held is a lower bound', async (t) => {
  const poor = (rate: number) =>
    rate > 320 ? new SearchEnded('quota-limited', '1920 requests are more') : undefined;
  t.match(await search(steps(1e6, poor)), {
    outcome: 'quota-limited',
    atLeast: 320,
    capacity: null,
    interval: null,
    reason: '1920 requests are more',
  });
});

t.test('where quotas end it later, the interval is as wide as what the steps leave open', async (t) => {
  const spent = (_: number, taken: number) =>
    taken === 5 ? new SearchEnded('quota-limited', 'the day is spent') : undefined;
  const { outcome, interval, atLeast, reason } = await search(steps(100, spent));
  t.equal(outcome, 'quota-limited');
  t.equal(atLeast, undefined);
  t.ok(interval !== null && interval[0] < 100 && interval[0] > 50 && interval[1] > 120, `${interval}`);
  t.match(reason, /^5 steps; .*; the day is spent$/);
});

t.test('a rate that broke once and cannot be tried again is no part of a lower bound', async (t) => {
  const poor = (rate: number, taken: number) =>
    taken > 4 ? new SearchEnded('quota-limited', `no second ${rate}/s`) : undefined;
  const { interval, atLeast, outcome } = await search(steps(200, poor));
  t.equal(outcome, 'quota-limited');
  t.equal(atLeast, undefined, 'above it something broke');
  t.ok(interval !== null && interval[0] > 100 && interval[0] < 200 && interval[1] > 250, `${interval}`);
});

t.test('where no step could be paid, or all of them broke, there is no bound', async (t) => {
  const broke = await search(steps(0, () => new SearchEnded('quota-limited', 'nothing left')));
  t.match(broke, { outcome: 'quota-limited', capacity: null });
  t.equal(broke.atLeast, undefined);
  const once = (_: number, taken: number) =>
    taken === 2 ? new SearchEnded('quota-limited', 'nothing left') : undefined;
  t.equal((await search(steps(0, once))).atLeast, undefined);
});

t.test('nothing that broke up to the highest rate is a lower bound too', async (t) => {
  t.match(await search(steps(1e6, () => undefined)), { outcome: 'at-least', atLeast: 20_000 });
});

t.test('a generator that is the limit says up to where the target held', async (t) => {
  const weak = (rate: number) =>
    rate > 200 ? new SearchEnded('generator-limited', 'arrivals were late') : undefined;
  t.match(await search(steps(1e6, weak)), {
    outcome: 'generator-limited',
    atLeast: 160,
    capacity: null,
    reason: 'the generator was the limit: arrivals were late; 160/s held',
  });
});

t.test('whatever else goes wrong is nobody’s capacity', async (t) => {
  await t.rejects(search(steps(100, () => new Error('the disk is full'))), { message: 'the disk is full' });
});
