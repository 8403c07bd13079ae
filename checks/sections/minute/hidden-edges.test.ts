/** Windows by the clock, one of which ends while it is filled, where the headers describe the day and hide that. */
import t from 'tap';
import { alignedWindow } from '../../limits/testing/simulated-limits.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { judged, played } from '../testing/judged.ts';
import { nextWindow } from './minute-count.ts';
import { limitedRun } from './testing/limited-target.ts';
import { admittedReadings, exact, exhaustKey, minuteMeasured, more, windowOf } from './testing/measured.ts';
import { fill } from './window-filling.ts';

function* lists(): Generator<RequestSpec> {
  for (;;) yield listPets({ limit: 1 });
}

t.test('the window that begins meanwhile is filled to its refusal', async (t) => {
  const key = exhaustKey({ limits: { perMinute: 60, perDay: 1000 } });
  const { run } = limitedRun({
    keys: [key],
    limit: alignedWindow,
    tells: () => ({ limit: 1000, remaining: 500, reset: 3600 }),
    // Forty-nine of the first window, and sixty of the next.
    takes: (number) => (number === 1 ? MINUTE - 2 * SECOND : number === 50 ? 2 * SECOND : 0),
  });
  const { count, refusal } = await fill(run.probe('minute:free-1'), key, {
    requests: lists(),
    since: NOON,
    last: listPets({ limit: 1 }),
  });
  t.match(refusal?.outcome, { status: 429 });
  t.equal(count.admitted.length, 109);
});

t.test('more than the plan’s are a fault only where the headers would show a new window', async (t) => {
  const free = exhaustKey();
  const said = async (limit: number) => {
    const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust'] as const) });
    const window = windowOf(more, admittedReadings(8, { limit }));
    await played(run, 'minute:free-1', minuteMeasured(free, { windows: [windowOf(exact)], next: [window] }));
    return (await judged(run, [nextWindow], 'rate-next-window')).verdict;
  };
  t.equal(await said(free.limits.perMinute), 'fail');
  t.equal(await said(free.limits.perDay), 'inconclusive');
});

t.test('the minute after Retry-After is filled where Reset is the day’s', async (t) => {
  const said = async (retryAfter: number | undefined) => {
    const { run } = limitedRun({
      keys: [exhaustKey()],
      tells: ({ admitted }) => ({
        status: admitted ? 200 : 429,
        limit: 1000,
        remaining: 500,
        reset: 3600,
        ...(admitted ? {} : { retryAfter }),
      }),
      options: { permissions: new Set(['exhaust'] as const) },
    });
    return judged(run, [nextWindow], 'rate-next-window');
  };
  t.match(await said(60), { verdict: 'pass' });
  t.match(await said(undefined), { verdict: 'inconclusive', reason: /do not say when its minute ends/ });
});
