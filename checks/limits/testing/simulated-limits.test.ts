/** The models of rate limits that other tests rely on are what they are said to be. */
import t from 'tap';
import { MINUTE } from '../time.ts';
import { type Burst, burstInto, fixedWindow } from './simulated-limits.ts';

/** A full minute. */
const EPOCH = 29_500_000 * MINUTE;

const BURST: Burst = { startsAt: EPOCH, inFlight: 1, latencies: [[10, 5]], pause: 0, most: 10 };
const inMilliseconds = (readings: ReturnType<typeof burstInto>) =>
  readings.map(({ sentAt, receivedAt, status, remaining }) => [
    sentAt - EPOCH,
    receivedAt - EPOCH,
    status,
    remaining,
  ]);

t.test('one at a time, until one is refused', async (t) => {
  t.strictSame(inMilliseconds(burstInto(fixedWindow(2), 2, { ...BURST, pause: 3 })), [
    [0, 15, 200, 1],
    [18, 33, 200, 0],
    [36, 51, 429, 0],
  ]);
  t.equal(burstInto(fixedWindow(20), 20, BURST).length, 10, 'or enough were sent');
  t.strictSame(burstInto(fixedWindow(20), 20, { ...BURST, most: 0 }), []);
});

t.test('the first is alone in flight; what is under way with a refusal is answered', async (t) => {
  t.strictSame(inMilliseconds(burstInto(fixedWindow(3), 3, { ...BURST, inFlight: 3 })), [
    [0, 15, 200, 2],
    [15, 30, 200, 1],
    [15, 30, 200, 0],
    [15, 30, 429, 0],
  ]);
});

t.test('requests count in the order in which they arrive, and are told in that of sending', async (t) => {
  const latencies = [
    [1, 1],
    [30, 1],
    [10, 1],
  ] as const;
  t.strictSame(
    inMilliseconds(burstInto(fixedWindow(10), 10, { ...BURST, inFlight: 2, latencies, most: 5 })),
    [
      [0, 2, 200, 9],
      [2, 33, 200, 6],
      [2, 13, 200, 8],
      [13, 15, 200, 7],
      [15, 46, 200, 5],
    ],
  );
});
