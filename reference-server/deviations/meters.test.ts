import fc from 'fast-check';
import t from 'tap';
import { type Meter, type MeterKind, windowFromFirst } from '../rate-limiter.ts';
import { bucketInSteps, slidingLog, slidingLogOfAll, tokenBucket, windowByClock } from './meters.ts';

const MINUTE = 60_000;
const START = 1_700_000_000_123;

function burst(meter: Meter, now: number): number {
  let admitted = 0;
  for (; meter.left(now) > 0; admitted += 1) meter.spend(now);
  return admitted;
}

const inSteps = bucketInSteps(1000);
const kinds = { windowFromFirst, windowByClock, slidingLog, slidingLogOfAll, tokenBucket, inSteps };
for (const [name, kind] of Object.entries<MeterKind>(kinds)) {
  t.test(`${name}: a burst gets the limit, and all of it again a minute later`, async (t) => {
    const meter = kind(60, MINUTE);
    t.equal(burst(meter, START), 60);
    const freeAt = meter.freeAt(START);
    t.ok(freeAt > START && freeAt <= START + MINUTE);
    t.equal(burst(meter, freeAt - 1), 0, 'nothing before freeAt');
    t.ok(meter.left(freeAt) >= 1, 'at least one at freeAt');
    t.equal(burst(meter, START + MINUTE), 60);
  });

  t.test(`${name}: at any times, each request takes one, and the reset is within a minute`, async () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { maxLength: 300 }), (gaps) => {
        const meter = kind(60, MINUTE);
        let now = START;
        return gaps.every((gap) => {
          now += gap;
          const left = meter.left(now);
          if (left < 0 || left > 60 || meter.resetAt(now) < now || meter.resetAt(now) > now + MINUTE)
            return false;
          if (left === 0) return true;
          meter.spend(now);
          return meter.left(now) === left - 1;
        });
      }),
    );
  });
}

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
      return admitted.every((time, at) => time - (admitted[at - 60] ?? 0) >= MINUTE);
    }),
  );
});
