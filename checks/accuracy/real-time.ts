/**
 * `npm run prove:limits`: minute windows and bans by the machine's own clock, which `--speed N` has run N times as fast.
 * Each kind of window and each style of ban once, side by side. Exits 1 unless every requirement passes, the day's apart.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { deviating } from '../../reference-server/deviations/deviation.ts';
import { LIMIT_ANSWERS } from '../../reference-server/deviations/variants/limits.ts';
import { startServer } from '../../reference-server/server.ts';
import { checkTarget } from '../check-target.ts';
import { resultOf } from './case.ts';
import { requestOf, settingOf } from './setting.ts';

const { values: options } = parseArgs({ options: { speed: { type: 'string', default: '1' } } });
const speed = Number(options.speed);

const { 'rate-window-kind': windows, 'ban-answer': bans } = LIMIT_ANSWERS;
const SERVERS = {
  'windows from the first request, a ban as 429': [],
  'windows by the clock, a ban as 403': [windows.fixed, bans['banned-403']],
  'a sliding log, a ban as 401, its end not told': [
    windows['refilling (log)'],
    bans['banned-401 (until untold)'],
  ],
  'a token bucket': [windows['refilling (bucket)']],
};

const setting = settingOf('rate-minute-business');

/** A token bucket refills while it is emptied: each fill wants the machine to itself, so runs begin this far apart. */
const APART_MS = 6000;

await Promise.all(
  Object.entries(SERVERS).map(async ([name, deviations], index) => {
    await setTimeout((index * APART_MS) / speed);
    const server = await startServer({
      clockSpeed: speed,
      ban: { seconds: 20 },
      design: (usual) => deviating(usual, deviations),
    });
    const startedAt = performance.now();
    const { verdicts, problem } = resultOf(await checkTarget(requestOf(server, setting)));
    await server.close();
    const broken = verdicts.filter(({ verdict }) => verdict === 'fail' || verdict === 'inconclusive');
    const seconds = ((performance.now() - startedAt) / 1000) * speed;
    process.stdout.write(`${name}: ${seconds.toFixed(0)} s\n`);
    for (const { id, verdict, reason } of broken) process.stdout.write(`  ${id}: ${verdict}: ${reason}\n`);
    if (problem !== undefined) process.stdout.write(`  ${problem}\n`);
    if (problem !== undefined || broken.length > 0) process.exitCode = 1;
  }),
);
