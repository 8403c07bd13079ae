import fc from 'fast-check';
import t from 'tap';
import { rateReading } from '../wire/rate-headers.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { TargetClock, wentBack } from './target-clock.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

/** What a response tells of the clock. */
const told = (parts?: AnswerParts) => rateReading(answered(parts));

/** A response that says it is `date`, sent and received at moments of ours. */
const dated = (date: number, sentAt: number, receivedAt: number) =>
  told({ sentAt, receivedAt, headers: [['Date', new Date(date).toUTCString()]] });

t.test('nothing is known before a response', async (t) => {
  const clock = new TargetClock();
  t.equal(clock.known, false);
  t.equal(clock.skew, undefined);
  t.equal(clock.at(NOON), undefined);
  t.equal(clock.certainlyReached(NOON), undefined);
});

t.test('a response without a readable Date teaches nothing', async (t) => {
  const clock = new TargetClock();
  clock.learn(told());
  clock.learn(told({ headers: [['date', 'yesterday']] }));
  t.equal(clock.known, false);
  clock.learn(dated(NOON, NOON + 500, NOON + 700));
  clock.learn(told({ headers: [['date', 'yesterday']] }));
  t.strictSame(clock.at(0), { earliest: -700, latest: 2500 });
});

t.test('a clock that was never set tells no time; one that is a day or a year off is read', async (t) => {
  const learned = (date: number) => {
    const clock = new TargetClock();
    clock.learn(dated(date, NOON, NOON));
    return clock.known;
  };
  t.notOk(learned(0), 'since 1970');
  t.notOk(learned(NOON + 80 * 365 * 86_400_000));
  for (const days of [1, -1, 365, -365, 9 * 365]) t.ok(learned(NOON + days * 86_400_000), `${days} days`);
});

t.test('when a time is reached: by the target’s clock where it is known, else by ours', async (t) => {
  const clock = new TargetClock();
  t.equal(clock.reached(NOON), NOON);
  clock.learn(dated(NOON, NOON + 500, NOON + 700));
  t.equal(clock.reached(NOON), NOON + 700);
});

t.test(
  'a clock that is a little ahead may be a proxy’s: ours must have reached the time as well',
  async (t) => {
    const ahead = (seconds: number) => {
      const clock = new TargetClock();
      clock.learn(dated(NOON + seconds * 1000, NOON, NOON));
      return (clock.reached(NOON) - NOON) / 1000;
    };
    t.equal(ahead(20), 0);
    t.equal(ahead(59), 0);
    t.equal(ahead(300), -300, 'a clock that is set wrong, and not waited for');
    t.equal(ahead(-40), 40);
  },
);

t.test('a clock went back where less passed on it than can have passed', async (t) => {
  const before = dated(NOON, NOON, NOON + 100);
  const after = (seconds: number) => dated(NOON + seconds * 1000, NOON + 60_000, NOON + 60_100);
  t.notOk(wentBack(before, after(60)));
  t.notOk(wentBack(before, after(57)), 'a Date may be three seconds old');
  t.ok(wentBack(before, after(55)));
  t.notOk(wentBack(before, after(90)));
  t.notOk(wentBack(before, told({ sentAt: NOON + 60_000 })), 'no Date, no doubt');
});

t.test(
  'one response bounds the skew by its journey and the three seconds that a Date may be old',
  async (t) => {
    const clock = new TargetClock();
    clock.learn(dated(NOON, NOON + 500, NOON + 700));
    t.equal(clock.known, true);
    t.strictSame(clock.at(0), { earliest: -700, latest: 2500 });
    t.strictSame(clock.at(NOON), { earliest: NOON - 700, latest: NOON + 2500 });
    t.equal(clock.skew, 900);
    t.equal(clock.certainlyReached(NOON), NOON + 700);
  },
);

t.test('further responses narrow it down from both sides', async (t) => {
  const clock = new TargetClock();
  clock.learn(dated(NOON, NOON + 500, NOON + 700));
  clock.learn(dated(NOON + 1000, NOON + 1200, NOON + 1300));
  t.strictSame(clock.at(0), { earliest: -300, latest: 2500 });
  clock.learn(dated(NOON + 2000, NOON + 2900, NOON + 2950));
  t.strictSame(clock.at(0), { earliest: -300, latest: 2100 });
  t.equal(clock.skew, 900);
});

t.test('a clock that was set begins anew, forward and back', async (t) => {
  for (const jump of [300_000, -300_000]) {
    const clock = new TargetClock();
    clock.learn(dated(NOON, NOON + 500, NOON + 700));
    clock.learn(dated(NOON + jump, NOON + 1200, NOON + 1300));
    t.strictSame(clock.at(0), { earliest: jump - 1300, latest: jump + 1800 });
    t.strictSame(clock.ever(0), {
      earliest: Math.min(-700, jump - 1300),
      latest: Math.max(2500, jump + 1800),
    });
  }
});

t.test('bounds that touch still agree', async (t) => {
  const clock = new TargetClock();
  clock.learn(dated(NOON, NOON, NOON));
  t.strictSame(clock.at(0), { earliest: 0, latest: 3000 });
  clock.learn(dated(NOON + 3000, NOON, NOON));
  t.strictSame(clock.at(0), { earliest: 3000, latest: 3000 });
  const later = new TargetClock();
  later.learn(dated(NOON, NOON, NOON));
  later.learn(dated(NOON - 3000, NOON, NOON));
  t.strictSame(later.at(0), { earliest: 0, latest: 0 });
});

t.test('the true skew is always within the bounds, whatever the journeys are', async (t) => {
  const journey = fc.record({
    there: fc.nat(3000),
    back: fc.nat(3000),
    stale: fc.nat(1999),
    pause: fc.nat(5000),
  });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.integer({ min: -600_000, max: 600_000 }),
        fc.array(journey, { minLength: 1, maxLength: 20 }),
        (skew, journeys) => {
          const clock = new TargetClock();
          let now = NOON;
          for (const { there, back, stale, pause } of journeys) {
            const made = now + there;
            const shown = Math.floor((made + skew - stale) / 1000) * 1000;
            clock.learn(dated(shown, now, made + back));
            now = made + back + pause;
          }
          const range = clock.at(0);
          return range !== undefined && range.earliest <= skew && skew <= range.latest;
        },
      ),
      { numRuns: 200 },
    ),
  );
});
