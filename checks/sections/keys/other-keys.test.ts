/** Which other keys show what another caller sees. */
import t from 'tap';
import { MINUTE } from '../../limits/time.ts';
import type { RunOptions } from '../../run/run.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { freeKey, otherKeys } from './other-keys.ts';

const [first, second, third] = [testKey(), testKey({ name: 'free-2' }), testKey({ name: 'free-3' })] as const;
const KEYS = [first, second, third, testKey({ name: 'load', roles: ['load'] })];
const OTHERS = [second, third];

/** A run whose requests are answered with these statuses in turn, and then with 200. */
function answering(statuses: readonly number[] = [], options: Partial<RunOptions> = {}) {
  const { run, clock } = testRun((_request, number) => ({ status: statuses[number - 1] ?? 200 }), {
    keys: KEYS,
    ...options,
  });
  return { probe: run.probe('a check'), clock };
}

t.test('the other keys are those that pay for ordinary checks', (t) => {
  const { probe } = answering();
  const names = (name: string | null) => otherKeys(probe.keys, { name }).map((key) => key.name);
  t.strictSame(names('free-1'), ['free-2', 'free-3']);
  t.strictSame(names(null), ['free-1', 'free-2', 'free-3']);
  t.end();
});

t.test('a key that was refused again and again may be banned, until it is admitted', async (t) => {
  for (const [statuses, free] of [
    [[], 'free-2'],
    [[429], 'free-2'],
    [[429, 429], 'free-3'],
    [[429, 429, 403], 'free-3'],
    [[429, 429, 500], 'free-3'],
    [[429, 429, 200], 'free-2'],
    [[429, 429, 404], 'free-2'],
    [[429, 429, 200, 429], 'free-3'],
  ] as const) {
    const { probe } = answering(statuses);
    for (const _ of statuses) await probe.attempt(listPets(), second);
    t.equal(freeKey(probe, OTHERS)?.name, free, statuses.join());
  }
  const { probe, clock } = answering([429, 429]);
  for (const _ of [1, 2]) await probe.attempt(listPets(), second);
  clock.pass(MINUTE + 1);
  t.equal(freeKey(probe, OTHERS)?.name, 'free-3', 'time alone does not show it');
  t.equal(freeKey(probe, [second]), undefined);
});

t.test('a key that is counted, or at its limit, is left alone', async (t) => {
  const { probe } = answering();
  await probe.lane(second).reserveFor(async () => t.equal(freeKey(probe, OTHERS)?.name, 'free-3'));
  t.equal(freeKey(probe, OTHERS)?.name, 'free-2');
  const small = testKey({ name: 'small', limits: { perMinute: 2, perDay: 10 } });
  const spent = answering([], { keys: [small, second] });
  await spent.probe.attempt(listPets(), small);
  t.equal(freeKey(spent.probe, [small, second])?.name, 'small');
  await spent.probe.attempt(listPets(), small);
  t.equal(freeKey(spent.probe, [small, second])?.name, 'free-2');
  spent.clock.pass(MINUTE);
  t.equal(freeKey(spent.probe, [small, second])?.name, 'small');
});
