/** Section 8: how a ban is provoked at a target whose answers take long. */
import t from 'tap';
import { tokenBucket, tokenBucketByNextToken } from '../../limits/testing/simulated-limits.ts';
import { SECOND } from '../../limits/time.ts';
import { payer } from '../../run/testing/test-run.ts';
import type { LimitedTarget } from '../minute/testing/limited-target.ts';
import { judged, observed, outcomeOf } from '../testing/judged.ts';
import { banChecks } from './checks.ts';
import { banGaps } from './gaps.ts';
import { readBan } from './reading.ts';
import {
  type BanRules,
  banKeyForTests,
  banningRun,
  banScene,
  forbidden,
  proKey,
} from './testing/banning-target.ts';

/** A run against a target of sixty a minute whose answers take so long, however many are under way together. */
async function slowRun(seconds: number, rules: BanRules = {}, target: LimitedTarget = {}) {
  const key = { ...banKeyForTests, limits: { perMinute: 60, perDay: 1000 } };
  let known = 0;
  const test: Awaited<ReturnType<typeof banningRun>> = await banningRun(rules, {
    keys: [key, proKey],
    takes: () => {
      const isNext = test.sent.length > known;
      known = test.sent.length;
      return isNext ? seconds * SECOND : 0;
    },
    ...target,
  });
  const measured = readBan(await outcomeOf(test.run, banScene(key)), test.run.trace);
  const statuses = test.run.trace.readings.filter((reading) => reading.key === key.name);
  return { ...test, measured, statuses };
}

t.test('a slow target is sent as many before its window ends, several at a time', async (t) => {
  const { measured, statuses, run } = await slowRun(1.2);
  t.match(measured, { ban: undefined, enough: true });
  t.ok(measured.refusals.length >= 66 && measured.refusals.length < 66 + 15);
  t.equal(statuses.filter(({ status }) => status === 200).length, 60 + 1, 'all of them in one window');
  t.match(await judged(run, banChecks, 'ban-provoked'), { verdict: 'not-applicable' });
  const late = await slowRun(1.2, { after: 60 });
  t.match(late.measured, { ban: { after: 60 }, refusals: { length: 59 } });
});

t.test('a window that ends before a slow target was sent as many is followed by the next', async (t) => {
  const { measured } = await slowRun(9, { after: 62 });
  t.match(measured, { ban: { after: 62 }, enough: true });
});

t.test('a bucket that is asked slowly is asked more at a time', async (t) => {
  for (const seconds of [1.2, 6])
    for (const limit of [tokenBucket, tokenBucketByNextToken]) {
      const { measured } = await slowRun(seconds, {}, { limit });
      t.match(measured, { ban: undefined, enough: true, servedBeyondRefill: [] }, `${seconds}`);
    }
});

t.test('a ban that only refusals in a row lead to is earned of a bucket too', async (t) => {
  let inRow = 0;
  const { measured, statuses } = await slowRun(
    0.15,
    {
      otherwise: ({ request, admitted }) => {
        if (payer(request) !== banKeyForTests.name) return undefined;
        inRow = admitted ? 0 : inRow + 1;
        return inRow > 10 ? forbidden(20) : undefined;
      },
    },
    { limit: tokenBucketByNextToken },
  );
  t.match(measured, { ban: { answer: { outcome: { status: 403 } } } });
  t.ok(statuses.length < 60 + 6 + 30, `after ${statuses.length} requests`);
});

t.test('too few requests over the limit leave it open whether the target bans', async (t) => {
  const { run, measured } = await slowRun(50);
  t.match(measured, { ban: undefined, enough: false });
  t.match(await judged(run, banChecks, 'ban-provoked'), {
    verdict: 'inconclusive',
    reason: /was so slow that/,
  });
  for (const { id } of banGaps)
    await t.rejects(observed(run, banGaps, id), { name: 'Unsettled', message: /was so slow that/ });
});
