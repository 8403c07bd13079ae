/** Targets whose Date is not the clock that their limits go by: a proxy's, which is off, or a clock that is set. */
import t from 'tap';
import { type Personality, together } from '../../reference-server/deviations/personality.ts';
import { header } from '../../reference-server/deviations/shapes.ts';
import { VARIANTS } from '../../reference-server/deviations/variants/index.ts';
import { httpDate } from '../../reference-server/headers.ts';
import { startServer } from '../../reference-server/server.ts';
import { sharedClock } from '../run/clock.ts';
import { resultOf, type Setting } from './case.ts';

const SETTING: Setting = { keys: ['free-1', 'free-ban'], permissions: ['exhaust', 'ban'] };
const byClock = VARIANTS.filter(({ name }) => name === 'windows-by-clock');

const dateOffBy = (seconds: number): Personality =>
  header(
    'Date',
    () => true,
    (_value, { now }) => httpDate(now + seconds * 1000),
  );

/** A clock that is set while a run waits for the end of its first windows. */
const clockSet = (seconds: number): Personality => ({
  recipe({ clock }) {
    const at = clock.now() + 30_000;
    return { clock: { ...clock, now: () => clock.now() + (clock.now() > at ? seconds * 1000 : 0) } };
  },
});

/** The rows that fail, for a run that begins in that second of the minute. */
async function failures(second: number, ...personalities: readonly Personality[]): Promise<string[]> {
  const clock = sharedClock();
  await clock.sleepUntil(Math.ceil(clock.now() / 60_000) * 60_000 + second * 1000);
  const server = await startServer({ clock, ban: { seconds: 20 }, ...together(...personalities) });
  try {
    const { verdicts } = await resultOf({ ...server, clock }, SETTING);
    return verdicts.flatMap(({ id, verdict, reason }) => (verdict === 'fail' ? [`${id}: ${reason}`] : []));
  } finally {
    await server.close();
  }
}

for (const seconds of [5, 40])
  for (const [kind, personalities] of [
    ['seconds and windows from the first request', []],
    ['dates and windows by the clock', byClock],
  ] as const)
    t.test(`a Date that is off by ${seconds} s, ${kind}`, async (t) =>
      t.strictSame(await failures(50, ...personalities, dateOffBy(seconds)), []),
    );

for (const seconds of [-5, -30])
  t.test(`a clock that is set back by ${-seconds} s`, async (t) =>
    t.strictSame(await failures(10, clockSet(seconds)), []),
  );
