/** What a key has spent before a count begins, and how long it rests where that is unknown. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { atStart, rest, restForWindow } from './key-at-rest.ts';
import { exhaustKey, type Told, telling } from './testing/measured.ts';

const key = exhaustKey();

/** A request that the run has made on the key, some seconds after noon, and what it was told. */
interface Earlier extends Told {
  readonly at: number;
}

/** An answer of a minute that has begun at noon; its Date is right. */
const inMinute = (at: number, told: Told = {}): Earlier => ({
  at,
  status: 200,
  remaining: 3,
  reset: 60,
  date: Math.floor(at),
  ...told,
});

/** A run that made these requests, at a moment of its clock. */
async function runAt(seconds: number, earlier: readonly Earlier[]) {
  const test = testRun((_request, number) => telling(earlier[number - 1]), { keys: [key] });
  const probe = test.run.probe('earlier');
  const moveTo = (at: number) => test.clock.pass(NOON + at * SECOND - test.clock.now());
  for (const { at } of earlier) {
    moveTo(at);
    await probe.attempt(listPets(), key);
  }
  moveTo(seconds);
  return { ...test, probe };
}

/** At which seconds the requests were sent that a count begins with, and what was waited for first. */
async function startAt(seconds: number, ...earlier: readonly Earlier[]) {
  const { probe, waits } = await runAt(seconds, earlier);
  const counted = await atStart(probe, key);
  return { counted: counted.map(({ sentAt }) => (sentAt - NOON) / SECOND), waits: waits() };
}

const REST = 'key free-1 to be at rest for a minute';
const NEXT_WINDOW = 'the next window of key free-1';

t.test('what was spent in the last minute is counted, a refusal is not', async (t) => {
  t.strictSame(await startAt(0), { counted: [], waits: [] }, 'a key that nobody has used');
  t.strictSame(await startAt(10, inMinute(0), inMinute(5)), { counted: [0, 5], waits: [] });
  t.strictSame(
    await startAt(10, inMinute(0), inMinute(5, { status: 429 }), inMinute(6, { status: 404 })),
    { counted: [0, 6], waits: [] },
    'an animal that is not there costs a request too',
  );
  t.strictSame(
    await startAt(100, inMinute(0, { status: 429 }), inMinute(90, { reset: 150 })),
    { counted: [90], waits: [] },
    'before the first request that was admitted nothing was spent',
  );
});

t.test('a key that was left alone for a minute has its whole quota', async (t) => {
  const twoRequests = [inMinute(0), inMinute(0.99, { reset: undefined, date: 0 })] as const;
  t.strictSame(await startAt(300, ...twoRequests), { counted: [], waits: [] });
  t.strictSame(await startAt(61, ...twoRequests), { counted: [], waits: [] }, 'to the very end');
});

t.test('of a key that was used for more than a minute, a window that stands still tells', async (t) => {
  const second = (at: number, told: Told = {}) => inMinute(at, { reset: 120, ...told });
  t.strictSame(
    await startAt(90, inMinute(0), inMinute(50), second(62), second(70), second(80)),
    { counted: [62, 70, 80], waits: [] },
    'the fixed window that goes on now, and not the one before',
  );
  const rested = (last: number) => ({ counted: [], waits: [`${last + 61}.01: ${REST}`] });
  t.strictSame(
    await startAt(90, inMinute(0), inMinute(50), second(70), second(80)),
    rested(80),
    'two answers alike are no window yet',
  );
  t.strictSame(
    await startAt(90, inMinute(0), second(62, { reset: 122 }), second(70, { reset: 130 }), second(80)),
    rested(80),
    'a Reset that moves on is not the end of a fixed window',
  );
  t.strictSame(
    await startAt(90, inMinute(0), second(62, { limit: 1000 }), second(70), second(80)),
    rested(80),
    'now the day’s figures and now the minute’s',
  );
  const untold = { reset: undefined };
  t.strictSame(
    await startAt(90, inMinute(0, untold), second(62, untold), second(70, untold), second(80, untold)),
    rested(80),
    'a target that shows no Reset',
  );
  t.strictSame(
    await startAt(60, inMinute(0, untold), inMinute(30, untold)),
    rested(30),
    'a whole minute ago is no longer the last minute',
  );
});

t.test('under headers of the day, which stand still for long, the last minute is counted', async (t) => {
  const day = (at: number) => inMinute(at, { limit: 1000, remaining: 900, reset: 43_200 });
  t.strictSame(await startAt(100, day(0), day(40), day(50), day(60), day(70)), {
    counted: [50, 60, 70],
    waits: [],
  });
  const ending = (at: number) => inMinute(at, { limit: 1000, remaining: 900, reset: 12 });
  t.strictSame(
    await startAt(10, ending(8), ending(9)),
    { counted: [8, 9], waits: [] },
    'the day that is about to end is not the minute',
  );
  t.strictSame(await startAt(20, ending(8), ending(9)), { counted: [8, 9], waits: [] });
});

t.test('a window that is about to end is waited out, and what it held no longer counts', async (t) => {
  // The second that Reset names has to be over, by a clock that is known to a hundredth of a second.
  const waited = { counted: [], waits: [`61.01: ${NEXT_WINDOW}`] };
  t.strictSame(await startAt(58, inMinute(20), inMinute(30)), waited);
  t.strictSame(await startAt(56.02, inMinute(20), inMinute(30)), waited);
  t.strictSame(
    await startAt(56.01, inMinute(20), inMinute(30)),
    { counted: [20, 30], waits: [] },
    'five seconds are enough for a burst',
  );
  t.strictSame(
    await startAt(58, inMinute(20, { reset: 58 }), inMinute(25, { reset: 90 }), inMinute(30)),
    { counted: [20, 25], waits: [`61.01: ${NEXT_WINDOW}`] },
    'the last answer tells; another Reset may be that of a window which still holds its request',
  );
  t.strictSame(
    await startAt(58, inMinute(20, { reset: undefined }), inMinute(30)),
    { counted: [20], waits: [`61.01: ${NEXT_WINDOW}`] },
    'nothing is known of a request without a Reset',
  );
});

t.test('a Reset that names the second of its answer ends no window', async (t) => {
  const now = (at: number) => inMinute(at, { reset: Math.ceil(at) });
  t.strictSame(await startAt(20, now(2), now(9.2), now(9.7)), { counted: [2, 9.2, 9.7], waits: [] });
});

t.test('a window that has ended holds nothing of the next one', async (t) => {
  t.strictSame(await startAt(70, inMinute(20), inMinute(30)), { counted: [], waits: [] });
  t.strictSame(await startAt(61.01, inMinute(20), inMinute(30)), { counted: [], waits: [] });
  t.strictSame(
    await startAt(70, inMinute(20, { date: undefined }), inMinute(30, { date: undefined })),
    { counted: [20, 30], waits: [] },
    'without the target’s clock nobody knows whether it has ended',
  );
});

/** How long a key rests at 100 seconds past noon. */
async function restsUntil(how: typeof rest, edge: number | undefined, ...earlier: readonly Earlier[]) {
  const { probe, waits } = await runAt(100, earlier);
  await how(probe, key, edge === undefined ? undefined : NOON + edge * SECOND);
  return waits();
}

t.test('at rest for a minute: a minute and a second after the last answer', async (t) => {
  t.strictSame(await restsUntil(rest, undefined), [], 'a key that nobody has used');
  t.strictSame(await restsUntil(rest, undefined, inMinute(20)), [], 'it was long ago');
  t.strictSame(await restsUntil(rest, undefined, inMinute(70), inMinute(80), inMinute(90)), [
    `151.01: ${REST}`,
  ]);
});

t.test('at rest for a minute: on to the next edge of a window by the clock', async (t) => {
  const until = (edge: number) => restsUntil(rest, edge, inMinute(20), inMinute(89.99, { date: 89 }));
  for (const [edge, expected] of [
    [200, 200],
    [151, 151],
    [150.99, 210.99],
    [120, 180],
    [60, 180],
    [31, 151],
  ] as const)
    t.strictSame(await until(edge), [`${expected}: ${REST}`], `an edge at ${edge}`);
});

t.test('at rest for a whole window by the clock: two minutes, or one after the window ends', async (t) => {
  const whole = 'key free-1 to be at rest for a whole window';
  const at = (seconds: number) => [`${seconds}: ${whole}`];
  const until = (...earlier: readonly Earlier[]) => restsUntil(restForWindow, undefined, ...earlier);
  t.strictSame(await until(), [], 'a key that nobody has used');
  const shown = (told: Told) => [inMinute(70), inMinute(75), inMinute(90, told)] as const;
  t.strictSame(await until(...shown({ reset: 120 })), at(181.01));
  t.strictSame(await until(...shown({ reset: 200 })), at(211.01), 'never longer than two minutes');
  t.strictSame(await until(...shown({ reset: undefined })), at(211.01));
  t.strictSame(await until(...shown({ limit: 1000, reset: 120 })), at(211.01), 'the day’s Reset');
  t.strictSame(
    await until(inMinute(90, { reset: 120, date: undefined })),
    at(211.01),
    'without the target’s clock',
  );
});
