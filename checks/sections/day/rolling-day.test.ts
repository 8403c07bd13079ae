/** X-RateLimit-Remaining where it tells of a day that begins meanwhile, or of one that looks back. */
import t from 'tap';
import { DAY, SECOND } from '../../limits/time.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import { remainingFalls } from '../headers/remaining.ts';
import { type Told, telling } from '../minute/testing/measured.ts';
import { judged } from '../testing/judged.ts';

const key = testKey();
const PER_DAY = key.limits.perDay;

/** What is said of twenty requests in a row that are told such figures of the day, by number from 0. */
async function said(told: (number: number) => Told) {
  const { run } = testRun((_request, number) =>
    telling({ status: 200, limit: PER_DAY, reset: 3600, ...told(number - 1) }),
  );
  const probe = run.probe('lists');
  for (let sent = 0; sent < 20; sent += 1) await probe.attempt(listPets(), key);
  return judged(run, [remainingFalls], 'rate-remaining-falls');
}

t.test('a day that begins meanwhile has its whole quota, whatever the hour', async (t) => {
  const begun = (number: number): Told =>
    number < 12
      ? { remaining: 500 - number }
      : { remaining: PER_DAY - 1 - (number - 12), reset: 3600 + DAY / SECOND };
  t.match(await said(begun), { verdict: 'pass' });
});

t.test('a day that looks back gives back what another run spent a day ago', async (t) => {
  const oneByOne = (number: number): Told => ({ remaining: 500, reset: 10 + Math.floor(number / 5) });
  const together = (number: number): Told => ({
    remaining: 500 - number + (number < 12 ? 0 : 40),
    reset: number < 15 ? 10 : 90,
  });
  for (const rolling of [oneByOne, together])
    t.match(await said(rolling), { verdict: 'inconclusive', reason: /still counts another run/ });
});

t.test('the figures of a day whose reset stands still fall', async (t) => {
  t.match(await said((number) => ({ remaining: 500 - number })), { verdict: 'pass' });
  t.match(await said(() => ({ remaining: 500 })), { verdict: 'fail' });
  const ofMinute = (number: number): Told => ({ limit: 60, remaining: 50, reset: 40 + number });
  t.match(await said(ofMinute), { verdict: 'fail' }, 'a minute that looks back holds this run’s alone');
});
