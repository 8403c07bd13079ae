import t from 'tap';
import { TargetClock } from '../../limits/target-clock.ts';
import { reading } from '../../limits/testing/simulated-limits.ts';
import { MINUTE } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { KeyLane, TOGETHER } from './key-lane.ts';

const KEY: Key = {
  name: 'free-1',
  plan: 'free',
  roles: ['functional'],
  limits: { perMinute: 3, perDay: 1000 },
  value: 'a value',
  env: 'PETSTORE_FREE_KEY',
  unusedToday: false,
};
const NOON = Date.UTC(2026, 10, 21, 12);

/** A clock that is known to be exact, from an answer without a journey. */
function exactClock(): TargetClock {
  const clock = new TargetClock();
  clock.learn({ date: NOON, sentAt: NOON, receivedAt: NOON });
  return clock;
}

t.test('without headers the lane counts its own last minute', async (t) => {
  const lane = new KeyLane(KEY);
  t.equal(lane.left(NOON), 3);
  lane.spend(NOON);
  lane.spend(NOON + 1000);
  t.equal(lane.left(NOON + 1000), 1);
  t.equal(lane.left(NOON + MINUTE - 1), 1);
  t.equal(lane.left(NOON + MINUTE), 2, 'the first is a minute old');
  t.equal(lane.left(NOON + MINUTE + 1000), 3);
  lane.spend(NOON + 2000);
  lane.spend(NOON + 2000);
  t.equal(lane.left(NOON + 2000), 0, 'never fewer than none');
});

t.test(
  'a request that was sent later is not counted yet, and one that was sent before still is',
  async (t) => {
    const lane = new KeyLane(KEY);
    lane.spend(NOON);
    lane.spend(NOON + 1000);
    lane.spend(NOON + MINUTE + 30_000);
    t.equal(lane.left(NOON + 2000), 1);
    t.equal(lane.readyAt(NOON + 2000, new TargetClock()), NOON + 2000);
    lane.spend(NOON + 1500);
    t.equal(lane.readyAt(NOON + 2000, new TargetClock()), NOON + MINUTE);
    lane.learn(reading({ sentAt: NOON + MINUTE + 500, limit: 0 }));
    t.equal(lane.left(NOON + MINUTE + 500), 1, 'those of the last minute');
  },
);

t.test(
  'a few may be under way together, one where more could meet the limit or wait for one another',
  async (t) => {
    const limits = { perMinute: 60, perDay: 1000 };
    const lane = new KeyLane({ ...KEY, limits });
    const says = (remaining: number, took = 10, later = 0) =>
      lane.learn(reading({ sentAt: NOON + later, receivedAt: NOON + later + took, limit: 60, remaining }));
    t.equal(lane.together(NOON), TOGETHER, 'nothing was sent yet');
    says(2 * TOGETHER);
    t.equal(lane.together(NOON + 20), TOGETHER);
    says(2 * TOGETHER - 1);
    t.equal(lane.together(NOON + 20), 1, 'little is left');
    says(50, 1501);
    t.equal(lane.together(NOON + 2000), 1, 'the last answer took long');
    says(40, 1500, 10);
    t.equal(lane.together(NOON + 2000), TOGETHER);
    lane.learn(reading({ sentAt: NOON, limit: 60, remaining: 0, status: 429 }));
    says(30);
    t.equal(lane.together(NOON + 2000), 1, 'it was refused once');
  },
);

t.test('what the headers say of the minute counts more than what was sent', async (t) => {
  const lane = new KeyLane(KEY);
  lane.spend(NOON);
  lane.learn(reading({ sentAt: NOON, limit: 3, remaining: 0 }));
  t.equal(lane.left(NOON + 20), 0, 'somebody else spends it too');
  lane.learn(reading({ sentAt: NOON + 20, limit: 3, remaining: 3 }));
  t.equal(lane.left(NOON + 40), 3);
  lane.learn(reading({ sentAt: NOON + 40, limit: 3, remaining: -1 }));
  t.equal(lane.left(NOON + 60), 0);
});

t.test(
  'where window after window has nothing left after one request, the run’s own count is what is left',
  async (t) => {
    const answers = (
      lane: KeyLane,
      ...windows: readonly (readonly [window: number, remaining: number])[]
    ) => {
      for (const [window, remaining] of windows) {
        const sentAt = NOON + window * MINUTE;
        lane.spend(sentAt);
        lane.learn(reading({ sentAt, limit: 3, remaining, reset: sentAt + MINUTE }));
      }
      return lane.left(NOON + (windows.at(-1)?.[0] ?? 0) * MINUTE + 1000);
    };
    const lane = new KeyLane(KEY);
    t.equal(answers(lane, [0, 0], [1, 0], [2, 0]), 0, 'perhaps somebody else spends it');
    t.equal(answers(lane, [3, 0]), 2);
    t.equal(answers(lane, [4, 2], [4, 1]), 1, 'never believed again');
    t.equal(answers(new KeyLane(KEY), [0, 0], [1, 0], [2, 0], [3, 1], [4, 0], [5, 0]), 0, 'not in a row');
    t.equal(answers(new KeyLane(KEY), [0, 2], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]), 0, 'one window');
    const single = new KeyLane({ ...KEY, limits: { perMinute: 1, perDay: 100 } });
    t.equal(answers(single, [0, 0], [1, 0], [2, 0], [3, 0]), 0);
  },
);

t.test('only windows of the minute that admitted a request count as empty', async (t) => {
  type Given = Partial<Parameters<KeyLane['learn']>[0]>;
  const leftAfter = (given: (window: number) => Given) => {
    const lane = new KeyLane({ ...KEY, limits: { perMinute: 60, perDay: 1000 } });
    for (let window = 0; window <= 4; window += 1) {
      const sentAt = NOON + window * MINUTE;
      lane.spend(sentAt);
      lane.learn(reading({ sentAt, limit: 60, remaining: 0, reset: sentAt + MINUTE, ...given(window) }));
    }
    return lane.left(NOON + 4 * MINUTE + 1000);
  };
  t.equal(
    leftAfter(() => ({})),
    59,
    'as the run itself counts',
  );
  t.equal(
    leftAfter(() => ({ status: 429 })),
    0,
    'a refusal always leaves nothing',
  );
  t.equal(
    leftAfter(() => ({ reset: NOON + 5 * MINUTE })),
    0,
    'one window that others spend',
  );
  t.equal(
    leftAfter((window) => (window < 4 ? { limit: 1000 } : {})),
    0,
    'a day that is spent',
  );
  t.equal(
    leftAfter((window) => (window < 4 ? {} : { remaining: 7 })),
    59,
    'what misled once is not believed',
  );
});

t.test('headers that are a minute old, of another limit or absent say nothing', async (t) => {
  const lane = new KeyLane(KEY);
  lane.spend(NOON);
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON, limit: 3, remaining: 0 }));
  t.equal(lane.left(NOON + MINUTE - 1), 0);
  t.equal(lane.left(NOON + MINUTE), 3);
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON, limit: 1000, remaining: 0 }));
  t.equal(lane.left(NOON + 1), 2, 'the day’s');
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON, limit: 3 }));
  t.equal(lane.left(NOON + 1), 2);
});

t.test('the answer that came last is the one that counts, in whichever order they are learned', async (t) => {
  const lane = new KeyLane(KEY);
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON + 50, limit: 3, remaining: 1 }));
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON + 40, limit: 3, remaining: 2 }));
  t.equal(lane.left(NOON + 60), 1);
  lane.learn(reading({ sentAt: NOON, receivedAt: NOON + 50, limit: 3, remaining: 0 }));
  t.equal(lane.left(NOON + 60), 0);
});

t.test('a target that asked to wait is left alone until then', async (t) => {
  const lane = new KeyLane(KEY);
  lane.refusedUntil(NOON + 5000);
  lane.refusedUntil(NOON + 4000);
  t.equal(lane.left(NOON + 4999), 0);
  t.equal(lane.left(NOON + 5000), 3);
  t.equal(lane.readyAt(NOON, exactClock()), NOON + 5000);
  t.equal(lane.readyAt(NOON + 5000, exactClock()), NOON + 5000);
});

t.test('refusals are counted, other answers are not', async (t) => {
  const lane = new KeyLane(KEY);
  for (const status of [200, 429, 401, 403, 429]) lane.learn(reading({ status }));
  t.equal(lane.refusals, 2);
});

t.test('ready now while there is quota', async (t) => {
  const lane = new KeyLane(KEY);
  lane.spend(NOON);
  t.equal(lane.readyAt(NOON + 10, exactClock()), NOON + 10);
});

t.test('ready when the window resets, where the headers describe the minute', async (t) => {
  const lane = new KeyLane(KEY);
  const spent = (reset: number | undefined, receivedAt = NOON + 10) =>
    lane.learn(reading({ sentAt: NOON, receivedAt, limit: 3, remaining: 0, reset }));
  spent(NOON + 30_000);
  t.equal(lane.readyAt(NOON + 20, exactClock()), NOON + 30_000);
  spent(NOON - 30_000);
  t.equal(lane.readyAt(NOON + 20, exactClock()), NOON + 20, 'not in the past');
  spent(NOON + 3_600_000);
  t.equal(
    lane.readyAt(NOON + 20, exactClock()),
    NOON + 10 + MINUTE,
    'no later than a minute after the answer',
  );
});

t.test('the reset is waited for by the target’s clock', async (t) => {
  const lane = new KeyLane(KEY);
  lane.learn(reading({ sentAt: NOON, limit: 3, remaining: 0, reset: NOON + 30_000 }));
  const behind = new TargetClock();
  behind.learn({ date: NOON, sentAt: NOON + 5000, receivedAt: NOON + 5000 });
  t.equal(lane.readyAt(NOON + 20, behind), NOON + 35_000);
});

t.test('without such headers, or a clock to read them by, a minute after the oldest request', async (t) => {
  const lane = new KeyLane(KEY);
  for (const at of [0, 1000, 2000]) lane.spend(NOON + at);
  t.equal(lane.readyAt(NOON + 3000, exactClock()), NOON + MINUTE);
  const last = { sentAt: NOON + 2000, remaining: 0, reset: NOON + 9000 };
  lane.learn(reading({ ...last, limit: 1000 }));
  t.equal(lane.readyAt(NOON + 3000, exactClock()), NOON + MINUTE, 'the day’s headers');
  lane.learn(reading({ ...last, limit: 3, reset: undefined }));
  t.equal(lane.readyAt(NOON + 3000, exactClock()), NOON + MINUTE, 'no Reset');
  lane.learn(reading({ ...last, limit: 3 }));
  t.equal(lane.readyAt(NOON + 3000, new TargetClock()), NOON + MINUTE, 'no Date');
  t.equal(lane.readyAt(NOON + 3000, exactClock()), NOON + 9000);
});

t.test('requests of an earlier minute put nothing off', async (t) => {
  const lane = new KeyLane(KEY);
  for (const at of [0, MINUTE, MINUTE + 1, MINUTE + 2]) lane.spend(NOON + at);
  t.equal(lane.readyAt(NOON + MINUTE + 3, exactClock()), NOON + 2 * MINUTE);
});

t.test('told that nothing is left before anything was sent, ready at once', async (t) => {
  const lane = new KeyLane(KEY);
  lane.learn(reading({ sentAt: NOON, limit: 3, remaining: 0 }));
  t.equal(lane.readyAt(NOON + 20, exactClock()), NOON + 20);
});

t.test('of answers that overtook each other in one window the lowest tells what is left', async (t) => {
  const lane = new KeyLane({ ...KEY, limits: { perMinute: 60, perDay: 1000 } });
  const at = (sentAt: number, receivedAt: number, remaining: number, reset = NOON + MINUTE) =>
    lane.learn(
      reading({ sentAt: NOON + sentAt, receivedAt: NOON + receivedAt, limit: 60, remaining, reset }),
    );
  at(0, 20, 9);
  at(1, 21, 10);
  t.equal(lane.left(NOON + 30), 9, 'both were under way together');
  at(30, 40, 8);
  t.equal(lane.left(NOON + 50), 8);
  at(31, 41, 59, NOON + 2 * MINUTE);
  t.equal(lane.left(NOON + 50), 59, 'another window');
  at(50, 60, 60, NOON + 2 * MINUTE);
  t.equal(lane.left(NOON + 70), 60, 'one after the other, something was given back');
});
