/** Section 8: what is said of the window after the reset. */
import t from 'tap';
import { SECOND } from '../../limits/time.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { judged, played } from '../testing/judged.ts';
import { nextWindow } from './minute-count.ts';
import type { MinuteMeasurement } from './scenes.ts';
import {
  admittedReadings,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  more,
  retryOf,
  windowOf,
} from './testing/measured.ts';

const free = exhaustKey();

/** What is said where the minute was measured so, of a run that was admitted so many requests at noon. */
async function said(measurement: Measured, before = 0) {
  const { run } = testRun(() => ({}), { keys: [free], permissions: new Set(['exhaust'] as const) });
  for (let sent = 0; sent < before; sent += 1) await run.probe('earlier').attempt(listPets(), free);
  await played(run, `minute:${free.name}`, minuteMeasured(free, measurement));
  return judged(run, [nextWindow], 'rate-next-window');
}

t.test('after the reset the whole quota is there again', async (t) => {
  const next = (windows: MinuteMeasurement['next'], given: Measured = {}) =>
    said({ next: windows, ...given });
  t.match(await next([windowOf(exact)]), { verdict: 'pass', evidence: /^refusal$/ });
  for (const [reason, given] of [
    [/no request of key free-1 was refused/, { windows: [windowOf(more, 7, { refusal: undefined })] }],
    [
      /^5 requests .* first minute of key free-1, not 6 .*rate-minute-free/,
      { windows: [windowOf(fewer(1), 5)] },
    ],
    [/headers of key free-1 do not say/, { afterReset: undefined }],
    [/key free-1 was not admitted again/, { afterReset: retryOf('again', 61, { status: 429 }) }],
  ] as const)
    t.match(await next([], given), { verdict: 'inconclusive', reason });
  const fromRest = [windowOf(fewer(1), 5), windowOf(exact, 6, { refusal: exchangeAt('again', 130) })];
  t.match(
    await next([], { refilling: true, windows: fromRest }),
    { verdict: 'pass', evidence: /^again$/ },
    'what comes back bit by bit was whole after a minute at rest',
  );
  t.match(
    await next([], { refilling: false, windows: fromRest }),
    { verdict: 'inconclusive' },
    'a window that was left out lay in between',
  );
  const neverFull = [windowOf(fewer(1), 5), windowOf(fewer(1), 5)];
  t.match(await next([], { refilling: true, windows: neverFull }), { verdict: 'inconclusive' });
  const large = exhaustKey({ limits: { perMinute: 301, perDay: 10_000 } });
  const { run } = testRun(() => ({}), { keys: [large], permissions: new Set(['exhaust'] as const) });
  t.match(await judged(run, [nextWindow], 'rate-next-window'), {
    verdict: 'skipped',
    reason: /no key with the role exhaust whose plan is small enough/,
  });
  t.match(await next([windowOf(more, 7)]), { verdict: 'fail', reason: '7 were', expected: /^6 .* free-1$/ });
  t.match(await next([windowOf(fewer(), 4)]), { verdict: 'inconclusive', reason: /another client/ });
  t.match(await next([windowOf(fewer(), 4), windowOf(fewer(), 4)]), { verdict: 'fail', reason: '4 were' });
  t.match(await next([windowOf(fewer(), 4), windowOf(fewer(), 5)]), { verdict: 'inconclusive' });
  t.match(
    await next([windowOf(fewer(), 4), windowOf(exact), windowOf(fewer(), 4)]),
    { verdict: 'fail' },
    'every other window is short',
  );
  const slow = { refusal: undefined, last: exchangeAt('last', 130, { status: 200 }) };
  t.match(await next([windowOf(fewer(), 4, slow)]), {
    verdict: 'inconclusive',
    reason: /too slow/,
    evidence: /^last$/,
  });
  t.match(await next([windowOf(fewer(), 4)], { refilling: true }), {
    verdict: 'inconclusive',
    reason: /after a minute at rest: quota comes back too slowly/,
  });
});

t.test('where quota comes back bit by bit, requests of this run may still be held', async (t) => {
  const held = (before: number, between: number, admitted: number, heldBefore: number, refilling = true) => {
    const window = admittedReadings(admitted).map((one) => ({ ...one, sentAt: one.sentAt + 30 * SECOND }));
    return said({ next: [windowOf(fewer(before, between), window)], refilling }, heldBefore);
  };
  t.match(await held(2, 0, 4, 2), { verdict: 'pass' });
  t.match(await held(2, 0, 4, 3), { verdict: 'pass' }, 'not all of them');
  t.match(await held(2, 0, 4, 1), { verdict: 'inconclusive' }, 'more than this run spent');
  t.match(await held(2, 1, 4, 2), { verdict: 'inconclusive' }, 'somebody else between');
  t.match(await held(2, 0, 3, 2), { verdict: 'inconclusive' }, 'one is missing');
  t.match(await held(2, 0, 4, 2, false), { verdict: 'inconclusive' }, 'a fixed window holds nothing');
});
