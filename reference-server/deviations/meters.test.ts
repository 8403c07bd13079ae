import fc from 'fast-check';
import t from 'tap';
import { type Meter, WindowFromFirstRequest } from '../rate-meter.ts';
import {
  bucketBySecond,
  slidingCounter,
  slidingLog,
  slidingLogOfAll,
  tokenBucket,
  windowByClock,
} from './meters.ts';

const MINUTE = 60_000;
const START = 1_700_000_000_123;

const KINDS: Record<string, () => Meter> = {
  'from the first request': () => new WindowFromFirstRequest(60, MINUTE),
  'by the clock': () => windowByClock(60, MINUTE),
  'sliding log': () => slidingLog(60, MINUTE),
  'sliding log of all': () => slidingLogOfAll(60, MINUTE),
  'token bucket': () => tokenBucket(60, MINUTE),
  'token bucket by the second': () => bucketBySecond(60, MINUTE),
};

function burst(meter: Meter, now: number): number {
  let admitted = 0;
  while (meter.left(now) > 0) {
    meter.spend(now);
    admitted += 1;
  }
  return admitted;
}

for (const [name, make] of Object.entries(KINDS)) {
  t.test(`${name}: a burst gets the limit, and the window ahead is at most one minute`, async (t) => {
    const meter = make();
    t.equal(meter.left(START), 60);
    t.equal(burst(meter, START), 60);
    t.equal(meter.left(START), 0);
    t.ok(meter.resetAt(START) > START && meter.resetAt(START) <= START + MINUTE);
    t.ok(meter.freeAt(START) > START && meter.freeAt(START) <= START + MINUTE);
    t.equal(burst(meter, meter.freeAt(START) - 1), 0, 'nothing before freeAt');
    t.ok(meter.left(meter.freeAt(START)) >= 1, 'at least one at freeAt');
  });

  t.test(`${name}: the whole quota is back a minute after a burst`, async (t) => {
    const meter = make();
    burst(meter, START);
    t.equal(burst(meter, START + MINUTE), 60);
  });

  t.test(
    `${name}: whatever the times of the requests, what is left stays between 0 and the limit`,
    async () => {
      fc.assert(
        fc.property(fc.array(fc.nat(5_000), { maxLength: 300 }), (gaps) => {
          const meter = make();
          let now = START;
          for (const gap of gaps) {
            now += gap;
            const left = meter.left(now);
            if (left < 0 || left > 60 || meter.resetAt(now) < now || meter.resetAt(now) > now + MINUTE)
              return false;
            if (left === 0) continue;
            meter.spend(now);
            if (meter.left(now) !== left - 1) return false;
          }
          return true;
        }),
      );
    },
  );
}

t.test('from the first request: the window is a full minute, to the millisecond', async (t) => {
  const meter = new WindowFromFirstRequest(60, MINUTE);
  burst(meter, START);
  t.equal(meter.resetAt(START + 30_000), START + MINUTE);
  t.equal(meter.left(START + MINUTE - 1), 0);
  t.equal(meter.left(START + MINUTE), 60);
});

t.test('sliding log: never more than the limit in any minute', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4_000), { minLength: 100, maxLength: 300 }), (gaps) => {
      const meter = slidingLog(60, MINUTE);
      const admitted: number[] = [];
      let now = START;
      for (const gap of gaps) {
        now += gap;
        if (meter.left(now) === 0) continue;
        meter.spend(now);
        admitted.push(now);
      }
      return admitted.every(
        (time) => admitted.filter((other) => other <= time && other > time - MINUTE).length <= 60,
      );
    }),
  );
});

t.test('token bucket: one request each second once it is empty', async (t) => {
  const meter = tokenBucket(60, MINUTE);
  burst(meter, START);
  t.equal(burst(meter, START + 999), 0);
  t.equal(burst(meter, START + 1_000), 1);
  t.equal(burst(meter, START + 11_000), 10);
});

t.test('sliding log of all: a refused request makes the wait longer', async (t) => {
  const meter = slidingLogOfAll(2, MINUTE);
  burst(meter, START);
  t.equal(meter.freeAt(START), START + MINUTE);
  meter.refused?.(START + 1000);
  t.equal(meter.freeAt(START + 1000), START + MINUTE, 'one of the three has still to be given back');
  meter.refused?.(START + 2000);
  t.equal(meter.freeAt(START + 2000), START + MINUTE + 1000);
  t.equal(meter.left(START + MINUTE + 999), 0);
  t.equal(meter.left(START + MINUTE + 1000), 1);
});

t.test(
  'sliding counter: the window before counts by the share of it that a minute still holds',
  async (t) => {
    const edge = START - (START % MINUTE) + MINUTE;
    const meter = slidingCounter(60, MINUTE);
    t.equal(burst(meter, edge - 1000), 60);
    t.equal(meter.resetAt(edge - 1000), edge);
    t.equal(meter.freeAt(edge - 1000), edge + 1000);
    t.equal(meter.left(edge), 0, 'at the edge all of them still count');
    t.equal(meter.left(edge + 999), 0);
    t.equal(burst(meter, edge + 1000), 1);
    t.equal(burst(meter, edge + 30_000), 29, 'half of the minute before, and the one since');
    t.equal(burst(meter, edge + 3 * MINUTE), 60, 'nothing of it is left');
  },
);
