/** Many requests with one key, several at a time, and the quota that they spend. */
import t from 'tap';
import { MINUTE } from '../../limits/time.ts';
import { getPet } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import type { Probe } from '../probe.ts';
import { NOON, type TestRun, testKey, testRun } from '../testing/test-run.ts';

const REFUSED: AnswerParts = { status: 429, headers: [['Retry-After', '5']] };
/** A target that answers these in turn, and 200 from then on. */
const inTurn = (...answers: readonly AnswerParts[]) =>
  testRun((_request, number) => answers[number - 1] ?? {});
const probeOf = ({ run }: TestRun): Probe => run.probe('check');
const lists = (count: number) => Array.from({ length: count }, (_, index) => getPet(BigInt(index + 1)));

t.test('a burst sends everything, so many at a time, and returns it in the order of sending', async (t) => {
  let underWay = 0;
  let most = 0;
  const target = testRun(() => {
    underWay -= 1;
    return {};
  });
  const { run } = target;
  const exchange = run.sender.exchange.bind(run.sender);
  run.sender.exchange = (...args) => {
    underWay += 1;
    most = Math.max(most, underWay);
    return exchange(...args);
  };
  const answers = await probeOf(target).burst(lists(10), testKey(), { inFlight: 3 });
  t.equal(most, 3);
  t.strictSame(
    answers.map(({ request }) => request.path),
    lists(10).map(({ path }) => path),
  );
  t.equal(run.trace.exchanges.length, 2, 'of uniform answers two are kept in full');
});

t.test('a burst of fewer than may be under way, and of none', async (t) => {
  const target = inTurn();
  t.equal((await probeOf(target).burst(lists(2), testKey(), { inFlight: 50 })).length, 2);
  t.strictSame(await probeOf(target).burst([], testKey(), { inFlight: 50 }), []);
  t.equal(target.sent.length, 2);
});

t.test('a burst that has seen enough starts nothing more, and keeps what was under way', async (t) => {
  const target = inTurn({}, {}, {}, REFUSED);
  const answers = await probeOf(target).burst(lists(20), testKey(), {
    inFlight: 2,
    enough: ({ outcome }) => outcome.kind === 'response' && outcome.status === 429,
  });
  t.ok(answers.length >= 4 && answers.length <= 5, `${answers.length}`);
  t.equal(target.sent.length, answers.length);
});

t.test('a burst in which a request cannot be made starts nothing more', async (t) => {
  const stopping = new AbortController();
  const target = testRun(
    (_request, number) => {
      if (number === 3) stopping.abort();
      return {};
    },
    { signal: stopping.signal },
  );
  await t.rejects(probeOf(target).burst(lists(10), testKey(), { inFlight: 3 }), { message: 'interrupted' });
  // Those under way end, and would go on.
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  t.ok(target.sent.length <= 5, `${target.sent.length} were sent`);
});

t.test('what a scene counts by itself leaves the first of each status, and a number', async (t) => {
  const target = testRun((_request, number) => (number === 5 ? REFUSED : {}));
  await probeOf(target).burst(lists(9), testKey(), { inFlight: 1, tallied: true });
  t.strictSame(
    target.run.trace.readings.map(({ id, status }) => [id, status]),
    [
      ['check#1', 200],
      ['check#2', 200],
      ['check#5', 429],
    ],
  );
  t.equal(target.run.trace.requestsByKey.get('free-1'), 9);
  t.equal(target.run.sender.lanes[0]?.left(NOON + 100), 51, 'the lane knows of all');
});

t.test('a key’s quota is waited for by whoever sends with it', async (t) => {
  const key = testKey({ limits: { perMinute: 2, perDay: 1000 } });
  const { run, waits, clock } = testRun(undefined, { keys: [key] });
  const probe = run.probe('check');
  t.equal(probe.lane(key).left(probe.now()), 2);
  await probe.burst(lists(2), key, { inFlight: 1 });
  t.equal(probe.lane(key).left(probe.now()), 0);
  t.equal(probe.lane(key).readyAt(probe.now(), probe.trace.targetClock), NOON + MINUTE);
  await probe.send(getPet(1n), { key });
  t.strictSame(waits(), ['60: the next window of key free-1']);
  t.ok(clock.now() >= NOON + MINUTE);
});

t.test('refusals of a key', async (t) => {
  const target = inTurn(REFUSED, REFUSED);
  await probeOf(target).burst(lists(3), testKey(), { inFlight: 1 });
  t.equal(probeOf(target).lane(testKey()).refusals, 2);
  t.equal(probeOf(target).lane(testKey({ name: 'stranger' })).refusals, 0);
});
