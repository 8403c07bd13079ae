import t from 'tap';
import { parseSlo } from '../../lib/slo.ts';
import { type StepOutcome, SUSTAINED_SECONDS } from './judge-steps.ts';
import { type Search, type SearchEnd, searchCapacity } from './search.ts';

const SLO = parseSlo('p99<200ms,errors<0.1%');

/** Steps at a target that holds up to a rate, until one cannot be taken. */
function steps(
  capacity: number,
  endAt: (rate: number, taken: number) => SearchEnd | undefined,
): Pick<Search, 'take' | 'taken'> {
  const taken: StepOutcome[] = [];
  return {
    taken,
    async take(rate) {
      const end = endAt(rate, taken.length);
      if (end === undefined) taken.push({ rate, held: rate <= capacity });
      return end;
    },
  };
}

const quota = (reason: string): SearchEnd => ({ outcome: 'quota-limited', reason });

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
  const poor = (rate: number) => (rate > 320 ? quota('1920 requests are more') : undefined);
  t.match(await search(steps(1e6, poor)), {
    outcome: 'quota-limited',
    atLeast: 320,
    capacity: null,
    interval: null,
    reason: '1920 requests are more',
  });
});

t.test('where quotas end it later, the interval is as wide as what the steps leave open', async (t) => {
  const spent = (_: number, taken: number) => (taken === 5 ? quota('the day is spent') : undefined);
  const { outcome, interval, atLeast, reason } = await search(steps(100, spent));
  t.equal(outcome, 'quota-limited');
  t.equal(atLeast, undefined);
  t.ok(interval !== null && interval[0] < 100 && interval[0] > 50 && interval[1] > 120, `${interval}`);
  t.match(reason, /^5 steps; .*; the day is spent$/);
});

t.test('a rate that broke once and cannot be tried again is no part of a lower bound', async (t) => {
  const poor = (rate: number, taken: number) => (taken > 4 ? quota(`no second ${rate}/s`) : undefined);
  const { interval, atLeast, outcome } = await search(steps(200, poor));
  t.equal(outcome, 'quota-limited');
  t.equal(atLeast, undefined, 'above it something broke');
  t.ok(interval !== null && interval[0] > 100 && interval[0] < 200 && interval[1] > 250, `${interval}`);
});

t.test('where no step could be paid, or all of them broke, there is no bound', async (t) => {
  const broke = await search(steps(0, () => quota('nothing left')));
  t.match(broke, { outcome: 'quota-limited', capacity: null });
  t.equal(broke.atLeast, undefined);
  const once = (_: number, taken: number) => (taken === 2 ? quota('nothing left') : undefined);
  t.equal((await search(steps(0, once))).atLeast, undefined);
});

t.test('nothing that broke up to the highest rate is a lower bound too', async (t) => {
  t.match(await search(steps(1e6, () => undefined)), { outcome: 'at-least', atLeast: 20_000 });
});

t.test('a generator that is the limit says up to where the target held', async (t) => {
  const weak = (rate: number) =>
    rate > 200 ? ({ outcome: 'generator-limited', reason: 'arrivals were late' } as const) : undefined;
  t.match(await search(steps(1e6, weak)), {
    outcome: 'generator-limited',
    atLeast: 160,
    capacity: null,
    reason: 'the generator was the limit: arrivals were late; 160/s held',
  });
});

t.test('whatever else goes wrong is nobody’s capacity', async (t) => {
  const full = () => {
    throw new Error('the disk is full');
  };
  await t.rejects(search(steps(100, full)), { message: 'the disk is full' });
});
