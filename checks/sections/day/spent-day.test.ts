/** A key whose day is over, or ends meanwhile: what its minute shows is nobody's fault. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { banChecks } from '../ban/checks.ts';
import { rateLimitChecks } from '../minute/checks.ts';
import type { MinuteMeasurement } from '../minute/scenes.ts';
import { exact, exhaustKey, fewer, minuteMeasured, retryOf, windowOf } from '../minute/testing/measured.ts';
import { judged, played } from '../testing/judged.ts';

const free = exhaustKey();
const checks = [...rateLimitChecks, ...banChecks];

async function said(id: string, measurement: Partial<MinuteMeasurement>) {
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust'] as const) });
  await played(run, `minute:${free.name}`, minuteMeasured(free, measurement));
  return judged(run, checks, id);
}

const AFTER_THE_WAIT = ['retry-after-honest', 'rate-reset-true', 'ban-spares-polite'];
const again = (told: object) => {
  const refused = retryOf('again', 60, { status: 429, code: 'no_more_today', ...told });
  return { afterRetryAfter: refused, afterReset: refused };
};

t.test('a refusal for the day after the wait for the minute', async (t) => {
  const ofDay = { ...again({ limit: free.limits.perDay }), windows: [windowOf(exact)] };
  const ofMinute = { ...again({}), windows: [windowOf(exact)] };
  for (const id of AFTER_THE_WAIT) {
    t.match(await said(id, ofDay), { verdict: 'inconclusive', reason: /daily/, evidence: /^again/ }, id);
    t.match(await said(id, ofMinute), { verdict: 'fail' }, id);
  }
});

t.test('a key that was refused before its minute’s limit may have been refused for its day', async (t) => {
  for (const id of AFTER_THE_WAIT)
    t.match(
      await said(id, { ...again({}), windows: [windowOf(fewer(), 5)] }),
      { verdict: 'inconclusive' },
      id,
    );
});

t.test('a key that is admitted nothing at all shows no limit of its minute', async (t) => {
  const minute = (admitted: number) =>
    said('rate-minute-free', {
      windows: [windowOf(fewer(), admitted), windowOf(fewer(), admitted)],
    });
  t.match(await minute(0), { verdict: 'inconclusive', reason: /daily/ });
  t.match(await minute(1), { verdict: 'fail' });
});
