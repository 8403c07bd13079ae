/**
 * `npm run prove:limits`: minute windows and bans in real time. It checks servers with every kind of window and every
 * style of ban; those with different windows run side by side (`--once`: each kind and each style once). It compares
 * the time of each run with what the document forces, and exits 1 unless every requirement except the day's passes on
 * each server.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Personality, together } from '../../reference-server/deviations/personality.ts';
import {
  banAnsweredWith,
  bucketMinute,
  slidingMinute,
  windowsByClock,
} from '../../reference-server/deviations/variants/limits.ts';
import { startServer } from '../../reference-server/server.ts';
import { checkTarget } from '../check-target.ts';
import { SECOND } from '../limits/time.ts';
import { profileOf, type Setting } from './case.ts';

const { values: options } = parseArgs({ options: { once: { type: 'boolean', default: false } } });

const BAN_SECONDS = 20;
const WINDOW_SECONDS = 60;
/** Requests that a run may send beyond those that the limits need. */
const REQUESTS_BESIDE = 250;

const WINDOWS = {
  'from the first request': [],
  'by the clock': [windowsByClock],
  'sliding log': [slidingMinute],
  'token bucket': [bucketMinute],
};
const BANS = {
  '429': [],
  '403': [banAnsweredWith(403, true)],
  '401, its end not told': [banAnsweredWith(401, false)],
};

const SETTING: Setting = {
  keys: ['free-1', 'pro-1', 'business-1', 'free-ban'],
  permissions: ['writes', 'exhaust', 'ban'],
};

interface Outcome {
  readonly name: string;
  readonly seconds: number;
  readonly requests: number;
  /** Of these, the requests until each key's first refusal: a token bucket's refill is a part of its limit. */
  readonly limits: number;
  readonly problems: readonly string[];
}

async function prove(name: string, answers: readonly Personality[]): Promise<Outcome> {
  const server = await startServer({
    ban: { seconds: BAN_SECONDS },
    ...together(...answers),
  });
  try {
    const checked = await checkTarget({
      profile: profileOf(server.baseUrl, SETTING),
      values: new Map(server.keys.map(({ name, value }) => [name, value])),
      permissions: SETTING.permissions,
    });
    if (checked.kind === 'not-ready')
      return { name, seconds: 0, requests: 0, limits: 0, problems: [checked.message] };
    const { readings } = checked.trace;
    return {
      name,
      seconds: (checked.endedAt - checked.startedAt) / 1000,
      requests: readings.length,
      limits: SETTING.keys
        .map((name) => readings.filter(({ key }) => key === name).findIndex(({ status }) => status === 429))
        .reduce((sum, count) => sum + count),
      problems: [...checked.result.requirements].flatMap(([id, { verdict, reason }]) =>
        verdict === 'pass' || verdict === 'not-applicable' || verdict === 'skipped'
          ? []
          : [`${id}: ${verdict}: ${reason}`],
      ),
    };
  } finally {
    await server.close();
  }
}

/** Runs start this far apart: a token bucket refills while it is emptied, so a fill needs the machine to itself. */
const APART = 6 * SECOND;

// For the same reason the styles of ban run one after the other.
const outcomes: Outcome[] = [];
const styles = Object.entries(BANS);
const rounds = options.once ? 1 : styles.length;
for (let round = 0; round < rounds; round += 1) {
  outcomes.push(
    ...(await Promise.all(
      Object.entries(WINDOWS).map(async ([window, kind], index) => {
        const [ban, style] = styles[(index + round) % styles.length] ?? ['429', []];
        await setTimeout(index * APART);
        return prove(`${window}, ban as ${ban}`, [...kind, ...style]);
      }),
    )),
  );
}

const forced = WINDOW_SECONDS + BAN_SECONDS;
for (const { name, seconds, requests, limits, problems } of outcomes) {
  process.stdout.write(
    `${name.padEnd(50)} ${seconds.toFixed(1).padStart(6)} s, ${(seconds / forced).toFixed(2)} of the forced ${forced} s; ${requests} requests, ${requests - limits} beyond the limits' ${limits} (at most ${REQUESTS_BESIDE})\n`,
  );
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
}
process.exitCode = outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1;
