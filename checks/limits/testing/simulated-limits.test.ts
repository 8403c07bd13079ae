/** The models of rate limits that other tests rely on are what they are said to be. */
import t from 'tap';
import { MINUTE } from '../time.ts';
import {
  alignedWindow,
  type Burst,
  burstInto,
  fixedWindow,
  reading,
  type SimulatedLimit,
  slidingCounter,
  slidingLog,
  tokenBucket,
  tokenBucketByNextToken,
} from './simulated-limits.ts';

/** A full minute. */
const EPOCH = 29_500_000 * MINUTE;

/** What a limit of three says to requests so many seconds after a full minute: `admitted or not/Remaining/Reset`. */
function said(kind: SimulatedLimit, seconds: readonly number[], capacity = 3): string {
  const limit = kind(capacity);
  return seconds
    .map((at) => limit(EPOCH + at * 1000))
    .map(
      ({ admitted, remaining, reset }) => `${admitted ? 'yes' : 'no'}/${remaining}/${(reset - EPOCH) / 1000}`,
    )
    .join(' ');
}

t.test('a fixed window opens with the first request, for a minute', async (t) => {
  t.equal(
    said(fixedWindow, [10, 20, 20, 69.999, 70, 200]),
    'yes/2/70 yes/1/70 yes/0/70 no/0/70 yes/2/130 yes/2/260',
  );
});

t.test('an aligned window ends with the minute of the clock', async (t) => {
  t.equal(
    said(alignedWindow, [10, 20, 20, 59.999, 60, 200]),
    'yes/2/60 yes/1/60 yes/0/60 no/0/60 yes/2/120 yes/2/240',
  );
});

t.test('a sliding log holds each request for a minute, refused ones not at all', async (t) => {
  t.equal(
    said(slidingLog, [10, 20, 30, 69.999, 70, 70, 80, 300]),
    'yes/2/70 yes/1/70 yes/0/70 no/0/70 yes/0/80 no/0/80 yes/0/90 yes/2/360',
  );
});

t.test('a sliding counter holds the part of the minute before that it still looks back on', async (t) => {
  t.equal(said(slidingCounter, [50, 50, 50, 50]), 'yes/2/60 yes/1/60 yes/0/60 no/0/60');
  t.equal(
    said(slidingCounter, [50, 50, 50, 60, 80, 100, 100, 100]),
    'yes/2/60 yes/1/60 yes/0/60 no/0/120 yes/0/120 yes/0/120 no/0/120 no/0/120',
  );
  t.equal(
    said(slidingCounter, [50, 50, 50, 120]),
    'yes/2/60 yes/1/60 yes/0/60 yes/2/180',
    'only of the one before',
  );
});

t.test('a token bucket gives back evenly, and never more than it holds', async (t) => {
  t.equal(
    said(tokenBucket, [0, 0, 0, 10, 20, 30, 300]),
    'yes/2/20 yes/1/40 yes/0/60 no/0/60 yes/0/80 no/0/80 yes/2/320',
  );
  t.equal(
    said(tokenBucketByNextToken, [0, 0, 0, 10, 20, 30, 300]),
    'yes/2/0 yes/1/0 yes/0/20 no/0/20 yes/0/40 no/0/40 yes/2/300',
  );
});

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

t.test(
  'a neighbour spends what nobody sees; the headers tell the target’s time, in whole seconds',
  async (t) => {
    const readings = burstInto(fixedWindow(10), 60, {
      ...BURST,
      startsAt: EPOCH + 250,
      most: 3,
      clockAhead: 5000,
      neighbour: (arrival) => arrival === 1,
    });
    t.strictSame(
      readings.map(({ limit, remaining, reset, date }) => [
        limit,
        remaining,
        ((reset ?? 0) - EPOCH) / 1000,
        ((date ?? 0) - EPOCH) / 1000,
      ]),
      [
        [60, 9, 66, 5],
        [60, 7, 66, 5],
        [60, 6, 66, 5],
      ],
    );
  },
);

t.test('what is shown need not be the truth', async (t) => {
  const readings = burstInto(fixedWindow(10), 10, { ...BURST, most: 2 }, (truth) => ({
    ...truth,
    remaining: 99,
  }));
  t.strictSame(
    readings.map(({ remaining }) => remaining),
    [99, 99],
  );
});

t.test('a reading is an ordinary list that was answered at once, but for what is given', async (t) => {
  t.match(reading(), {
    key: 'free-1',
    operation: 'listPets',
    path: '/pets',
    status: 200,
    sentAt: 0,
    receivedAt: 10,
  });
  t.match(reading({ sentAt: 500, status: 429 }), { id: 'test#500', status: 429, receivedAt: 510 });
});
