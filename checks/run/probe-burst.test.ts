/** Many requests with one key, several at a time, and the quota that they spend. */
import t from 'tap';
import { getPet } from '../wire/requests.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { MINUTE } from './key-pool.ts';
import type { Probe } from './probe.ts';
import { NOON, type TestRun, testKey, testRun } from './testing/test-run.ts';

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
  const exchange = run.exchange.bind(run);
  run.exchange = (...args) => {
    underWay += 1;
    most = Math.max(most, underWay);
    return exchange(...args);
  };
  const answers = await probeOf(target).burst(lists(10), testKey(), 3);
  t.equal(most, 3);
  t.strictSame(
    answers.map(({ request }) => request.path),
    lists(10).map(({ path }) => path),
  );
  t.equal(run.exchanges.length, 2, 'of uniform answers two are kept in full');
});

t.test('a burst of fewer than may be under way, and of none', async (t) => {
  const target = inTurn();
  t.equal((await probeOf(target).burst(lists(2), testKey(), 50)).length, 2);
  t.strictSame(await probeOf(target).burst([], testKey(), 50), []);
  t.equal(target.sent.length, 2);
});

t.test('a burst that has seen enough starts nothing more, and keeps what was under way', async (t) => {
  const target = inTurn({}, {}, {}, REFUSED);
  const answers = await probeOf(target).burst(
    lists(20),
    testKey(),
    2,
    ({ outcome }) => outcome.kind === 'response' && outcome.status === 429,
  );
  t.ok(answers.length >= 4 && answers.length <= 5, `${answers.length}`);
  t.equal(target.sent.length, answers.length);
});

t.test('a burst in which a request cannot be made starts nothing more', async (t) => {
  const other = answered({ id: 'check#2', path: '/pets/other' });
  const target = testRun(undefined, { recorded: new Map([[other.id, other]]) });
  await t.rejects(probeOf(target).burst(lists(10), testKey(), 3), { message: /^the stored run asked/ });
  // Those under way end, and would go on.
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  t.ok(target.sent.length < 5, `${target.sent.length} were sent`);
});

t.test('quota is what the key’s lane says, and is waited for', async (t) => {
  const key = testKey({ limits: { perMinute: 2, perDay: 1000 } });
  const { run, waits, clock } = testRun(undefined, { keys: [key] });
  const probe = run.probe('check');
  t.equal(probe.quotaLeft(key), 2);
  t.equal(probe.quotaAt(key), NOON);
  await probe.untilQuota(key);
  t.strictSame(waits(), []);
  await probe.burst(lists(2), key, 1);
  t.equal(probe.quotaLeft(key), 0);
  t.equal(probe.quotaAt(key), NOON + MINUTE);
  await probe.untilQuota(key);
  t.strictSame(waits(), ['60: the next window of key free-1']);
  t.equal(clock.now(), NOON + MINUTE);
  const stranger = testKey({ name: 'stranger' });
  t.strictSame([probe.quotaLeft(stranger), probe.quotaAt(stranger)], [0, NOON + MINUTE]);
});

t.test('refusals of a key', async (t) => {
  const target = inTurn(REFUSED, REFUSED);
  await probeOf(target).burst(lists(3), testKey(), 1);
  t.equal(probeOf(target).refusalsOf(testKey()), 2);
  t.equal(probeOf(target).refusalsOf(testKey({ name: 'stranger' })), 0);
});
