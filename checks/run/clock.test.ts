import { getEventListeners } from 'node:events';
import t from 'tap';
import { createClock, sharedClock } from './clock.ts';

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
  // Between two readings of the machine's time, however long the process is kept from going on in between.
  const reading = () => ({ after: performance.now(), now: clock.now(), before: performance.now() });
  const from = reading();
  await clock.sleepUntil(from.now + 20_000);
  const to = reading();
  const passed = to.now - from.now;
  t.equal(clock.speed, 1000);
  t.ok(passed >= 20_000);
  const [least, most] = [to.after - from.before, to.before - from.after];
  // Numbers of this size are told apart to a quarter of a thousandth.
  t.ok(
    passed / 1000 >= least - 0.001 && passed / 1000 <= most + 0.001,
    `${passed} in ${least} to ${most} ms`,
  );
});

t.test('it sleeps until the moment and not before; what has come is not slept for', async (t) => {
  const clock = createClock();
  const until = clock.now() + 30;
  await clock.sleepUntil(until);
  t.ok(clock.now() >= until);
  const first = await Promise.race([
    clock
      .sleepUntil(until)
      .then(() => clock.sleepUntil(until - 60_000))
      .then(() => 'went on'),
    // A timer takes a turn of the event loop at least.
    new Promise((resolve) => setImmediate(resolve, 'slept')),
  ]);
  t.equal(first, 'went on');
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
  const fast = createClock(60, wall - 10_000, wall - 9000).now();
  const real = createClock(1, wall - 10_000, wall - 9000).now();
  // Milliseconds that were spent on the lines above, the one that a wall clock leaves out included.
  const spent = Date.now() - wall + 1;
  const fastAhead = fast - (wall - 10_000 + 600_000);
  t.ok(fastAhead >= 0 && fastAhead <= 60 * spent, `ten seconds ago was ten minutes ago: ${fastAhead}`);
  t.ok(real >= wall && real <= wall + spent, `${real - wall} ms`);
  const setBack = createClock(1, wall + 300_000, wall + 310_000);
  t.ok(setBack.now() >= wall + 310_000, 'it does not go back, also where the machine’s clock did');
});

t.test('a shared clock leaves out the time in which nothing is under way', async (t) => {
  const clock = sharedClock();
  const from = clock.now();
  const began = performance.now();
  const order: string[] = [];
  const sleep = async (seconds: number, name: string) => {
    await clock.sleepUntil(from + seconds * 1000);
    order.push(name);
  };
  await Promise.all([sleep(3600, 'an hour'), sleep(60, 'a minute').then(() => sleep(86_400, 'a day'))]);
  t.strictSame(order, ['a minute', 'an hour', 'a day']);
  const passed = clock.now() - from;
  t.ok(passed >= 86_400_000 && passed < 86_400_000 + 5000, `${passed}`);
  t.ok(performance.now() - began < 5000, 'in no time');
});

t.test(
  'a target in another thread is told how far the shared clock is ahead, before anybody wakes',
  async (t) => {
    const told: number[] = [];
    const clock = sharedClock((ahead) => told.push(ahead));
    const before = clock.now();
    await clock.sleepUntil(before + 60_000);
    t.equal(told.length, 1);
    t.ok(Math.abs((told[0] ?? 0) - 60_000) < 1000, `${told[0]}`);
  },
);

t.test('while something is under way no time is left out', async (t) => {
  const clock = sharedClock();
  const from = clock.now();
  let finish = () => {};
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let slept = false;
  const sleeping = clock.sleepUntil(from + 60_000).then(() => {
    slept = true;
  });
  const during = clock.during?.(() => work);
  for (let count = 0; count < 20; count += 1) await new Promise(setImmediate);
  t.notOk(slept);
  t.ok(clock.now() - from < 5000);
  finish();
  await Promise.all([during, sleeping]);
  t.ok(clock.now() >= from + 60_000);
});

t.test('who sleeps by a shared clock can be woken', async (t) => {
  const clock = sharedClock();
  const stopping = new AbortController();
  let finish = () => {};
  const during = clock.during?.(() => new Promise<void>((resolve) => (finish = resolve)));
  const sleeping = clock.sleepUntil(clock.now() + 60_000, stopping.signal);
  stopping.abort(new Error('SIGINT'));
  await t.rejects(sleeping, { name: 'AbortError' });
  finish();
  await during;
});

t.test('a sleep that is over no longer listens to its signal', async (t) => {
  const { signal } = new AbortController();
  for (const clock of [sharedClock(), createClock(1000)]) {
    await clock.sleepUntil(clock.now() + 1000, signal);
    t.strictSame(getEventListeners(signal, 'abort'), []);
  }
});
