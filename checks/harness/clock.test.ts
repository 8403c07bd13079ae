import t from 'tap';
import { createClock } from './clock.ts';

t.test('real time, from the wall clock on', async (t) => {
  const before = Date.now();
  const clock = createClock();
  const now = clock.now();
  t.equal(clock.speed, 1);
  // The monotonic clock and the wall clock are read a moment apart.
  t.ok(now >= before - 5 && now <= Date.now() + 5, `${now - before} ms`);
});

t.test('so many times as fast', async (t) => {
  const clock = createClock(1000);
  const [from, realFrom] = [clock.now(), performance.now()];
  await clock.sleepUntil(from + 20_000);
  const [passed, real] = [clock.now() - from, performance.now() - realFrom];
  t.equal(clock.speed, 1000);
  t.ok(passed >= 20_000);
  t.ok(Math.abs(passed / 1000 - real) < 5, `${passed} in ${real} ms`);
});

t.test('it sleeps until the moment and not before; what has come is not slept for', async (t) => {
  const clock = createClock();
  const until = clock.now() + 30;
  await clock.sleepUntil(until);
  t.ok(clock.now() >= until);
  const at = performance.now();
  await clock.sleepUntil(until);
  await clock.sleepUntil(until - 60_000);
  t.ok(performance.now() - at < 20);
});

t.test('a signal ends a sleep, with its reason, and lets none begin', async (t) => {
  const clock = createClock();
  const stopping = new AbortController();
  const sleeping = clock.sleepUntil(clock.now() + 60_000, stopping.signal);
  stopping.abort(new Error('SIGINT'));
  await t.rejects(sleeping, { name: 'AbortError' });
  await t.rejects(clock.sleepUntil(clock.now() + 60_000, stopping.signal), new Error('SIGINT'));
  await t.rejects(clock.sleepUntil(0, stopping.signal), new Error('SIGINT'));
});

t.test('a sleep longer than a timer holds is slept in pieces', async (t) => {
  const stopping = new AbortController();
  const clock = createClock();
  const warnings: unknown[] = [];
  const note = (warning: unknown) => warnings.push(warning);
  process.on('warning', note);
  const sleeping = clock.sleepUntil(clock.now() + 2 ** 33, stopping.signal);
  const first = await Promise.race([
    sleeping.then(() => 'slept'),
    new Promise((resolve) => setTimeout(resolve, 30, 'sleeps')),
  ]);
  stopping.abort();
  await t.rejects(sleeping);
  process.off('warning', note);
  t.equal(first, 'sleeps');
  t.strictSame(warnings, []);
});

t.test('a run that is gone on with goes on by its own clock', async (t) => {
  const wall = Date.now();
  const fast = createClock(60, { startedAt: wall - 10_000, lastAt: wall - 9000 });
  t.ok(Math.abs(fast.now() - (wall - 10_000 + 600_000)) < 6000, 'ten seconds ago was ten minutes ago');
  const real = createClock(1, { startedAt: wall - 10_000, lastAt: wall - 9000 });
  t.ok(Math.abs(real.now() - wall) < 100);
  const setBack = createClock(1, { startedAt: wall + 300_000, lastAt: wall + 310_000 });
  t.ok(setBack.now() >= wall + 310_000, 'it does not go back, also where the machine’s clock did');
});
