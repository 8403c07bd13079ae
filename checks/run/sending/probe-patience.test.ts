/** How long a check waits: for a target that does not answer, and where somebody else spends its key. */
import t from 'tap';
import type { FailureOutcome } from '../../wire/exchange.ts';
import { addPet, getPet, listPets } from '../../wire/requests.ts';
import type { Probe } from '../probe.ts';
import { type Answers, type TestRun, testRun } from '../testing/test-run.ts';
import { Unsettled } from '../unsettled.ts';

const LOST: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'the connection was closed' };
const TOO_LARGE: FailureOutcome = { kind: 'failure', reason: 'too-large', message: 'the answer is too long' };
const THERE = { status: 200 };
const GATEWAY = { status: 503, headers: [['Content-Type', 'text/html']], body: '<h1>Busy</h1>' } as const;

/** These answers in turn, and from then on an ordinary one. */
const inTurn =
  (...answers: readonly ReturnType<Answers>[]): Answers =>
  (_request, number) =>
    answers[number - 1] ?? THERE;

const asked = ({ sent }: TestRun) => sent.map(({ method, path }) => `${method} ${path}`);
const ASKS = 'GET /pets/1';
const LOOKS = 'GET /pets?limit=1';
const WAITS_FOR_IT = 'the target, which does not answer';

const probeOf = ({ run }: TestRun, name = 'check'): Probe => run.probe(name);
const send = (target: TestRun, name = 'check') => probeOf(target, name).send(getPet(1n));
const noAnswer = { name: 'Unsettled', message: 'no answer: the connection was closed' };

t.test('a connection that broke once is tried again at once', async (t) => {
  const target = testRun(inTurn(LOST));
  await send(target);
  t.strictSame(asked(target), [ASKS, ASKS]);
  t.strictSame(target.waits(), []);
});

t.test('a gateway in front of a target that is away is given a second', async (t) => {
  const target = testRun(inTurn(GATEWAY));
  await send(target);
  t.strictSame(target.waits(), ['1.01: the target, which is unavailable']);
});

t.test('where the target answers something else it is this request that it does not answer', async (t) => {
  const target = testRun(inTurn(LOST, LOST));
  await t.rejects(send(target), noAnswer);
  t.strictSame(asked(target), [ASKS, ASKS, LOOKS]);
});

t.test('a target that was away is asked again when it is back, once', async (t) => {
  const target = testRun(inTurn(LOST, LOST, LOST, LOST));
  await send(target);
  t.strictSame(asked(target), [ASKS, ASKS, LOOKS, LOOKS, LOOKS, ASKS]);
  t.strictSame(target.waits(), [`1.03: ${WAITS_FOR_IT}`, `3.04: ${WAITS_FOR_IT}`]);
  const again = testRun(inTurn(LOST, LOST, LOST, THERE, LOST, LOST, THERE));
  await t.rejects(send(again), noAnswer);
  t.strictSame(asked(again), [ASKS, ASKS, LOOKS, LOOKS, ASKS, LOOKS, LOOKS]);
});

t.test('an addition is not sent twice, be the target back or not', async (t) => {
  const target = testRun(inTurn(LOST, LOST));
  await t.rejects(probeOf(target).send(addPet({ name: 'Rex', categoryId: 1n })), noAnswer);
  t.strictSame(asked(target), ['POST /pets', LOOKS, LOOKS]);
});

t.test('a target that stays away is waited for as long as the patience lasts', async (t) => {
  const target = testRun(() => LOST, { patience: 10_000 });
  await t.rejects(send(target), { ...noAnswer, name: 'RunEnded' });
  t.strictSame(
    target.waits(),
    ['1.03', '3.04', '5.55', '8.06', '10.57'].map((time) => `${time}: ${WAITS_FOR_IT}`),
  );
  const { length } = target.sent;
  await t.rejects(send(target), { message: /^the target stopped answering/ });
  t.equal(target.sent.length, length, 'and nothing more is sent');
});

t.test('the first question of a run waits for nobody', async (t) => {
  const target = testRun(inTurn(LOST, LOST));
  await t.rejects(send(target, 'preflight'), noAnswer);
  t.strictSame(asked(target), [ASKS, ASKS]);
});

t.test('an answer that is too long to read shows that the target is there', async (t) => {
  const target = testRun(inTurn(TOO_LARGE));
  await t.rejects(send(target), { message: 'no answer: the answer is too long' });
  t.strictSame(asked(target), [ASKS]);
});

t.test('without a key the target is looked for without a key', async (t) => {
  const target = testRun(inTurn(LOST, LOST, LOST));
  await probeOf(target).sendWithoutKey(getPet(1n), 'none');
  t.strictSame(asked(target), [ASKS, ASKS, LOOKS, LOOKS, ASKS]);
  t.ok(target.sent.every(({ authorization }) => authorization.kind === 'none'));
});

const refusing =
  (retryAfter?: string): Answers =>
  () => ({
    status: 429,
    headers: retryAfter === undefined ? [] : [['Retry-After', retryAfter]],
  });
const SPENT =
  '429 for key free-1 of 60 a minute although the check had quota left, as if another client were using the key';

t.test('a refusal is waited out three times, and then said with what it asks for', async (t) => {
  const words = 'x'.repeat(61);
  const cases: [retryAfter: string | undefined, message: string][] = [
    [undefined, SPENT],
    ['5', `${SPENT}, and Retry-After says 5`],
    [words.slice(1), `${SPENT}, and Retry-After says ${words.slice(1)}`],
    [words, `${SPENT}, and Retry-After says ${words.slice(1)}…`],
  ];
  for (const [retryAfter, message] of cases) {
    const target = testRun(refusing(retryAfter));
    const ended: unknown = await send(target).catch((error: unknown) => error);
    t.equal(ended instanceof Unsettled && ended.message, message, 'in full');
    t.equal(target.sent.length, 4);
  }
});

t.test('without a key too', async (t) => {
  const target = testRun(refusing('5'));
  await t.rejects(probeOf(target).sendWithoutKey(listPets(), 'none'), {
    message: /^429 for a request without a key: the target limits those as well/,
  });
  t.equal(target.sent.length, 4);
});

t.test('two minutes are waited for, and no more', async (t) => {
  const patient = testRun(inTurn({ status: 429, headers: [['Retry-After', '120']] }));
  await send(patient);
  t.equal(patient.sent.length, 2);
  const target = testRun(refusing('121'));
  await t.rejects(send(target), { message: `${SPENT}, and Retry-After says 121` });
  t.equal(target.sent.length, 1);
});

t.test('nine waits of a key in vain are enough for all checks', async (t) => {
  const target = testRun(refusing('5'));
  for (let check = 1; check <= 4; check += 1) await t.rejects(send(target, `check-${check}`), Unsettled);
  t.equal(target.sent.length, 4 + 4 + 4 + 1);
});
