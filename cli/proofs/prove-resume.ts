/**
 * `npm run prove:resume [-- RUNS]`: a run that spends the day of two keys is killed (SIGKILL) and resumed ten times. Half of
 * the kills come at a random moment, half while a window's requests are counted or a ban is provoked. The verdict must be
 * that of an undisturbed run. No animal may be added twice, and no key may be banned except the one for bans.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JOURNAL_FILE } from '../../checks/check-target.ts';
import { serverProfile, variableOf } from '../../checks/profile/server-profile.ts';
import type { KeyRole } from '../../checks/profile/target-profile.ts';
import { profileYaml } from '../../checks/profile/write-profile.ts';
import { readJournal } from '../../checks/run/journal.ts';
import { nameSent } from '../../checks/sections/animals/refused-additions.ts';
import { startReferenceServer } from '../../reference-server/reference-server.ts';
import { readReport } from '../../reports/read-report.ts';
import { type Took, took } from '../bench/command.ts';

const KILLS = 10;
/** A window of the smaller key, and a few more. */
const MOST_COUNTED = 100;
/** With this a day of seventeen minutes takes less than a minute, which even a busy machine manages. */
const CLOCK_SPEED = 20;
/** A small plan, whose day takes as long as that of the other key. */
const ENTERPRISE = { perMinute: 90, perDay: 1200 };
/** The days of two keys are spent. One key pays for the other checks, and one is banned. */
const ROLES: Readonly<Record<string, readonly KeyRole[]>> = {
  'free-1': ['functional', 'exhaust'],
  'enterprise-1': ['functional', 'exhaust'],
  'free-2': ['functional'],
  'free-ban': ['ban'],
};
const runs = Number(process.argv[2] ?? 3);

/** When a process is killed: after some milliseconds, or after some more requests of a count or a ban. */
type Kill = { readonly after: number } | { readonly counted: number };

/** How many requests of counts and bans a journal knows. */
async function countedIn(journal: string): Promise<number> {
  const lines = await readFile(journal, 'utf8').catch(() => '');
  return lines.match(/^\{"(?:exchange|reading)":\{"id":"(?:minute|ban):/gm)?.length ?? 0;
}

/** Resolves when it is time to kill the process that writes a journal. */
async function timeToKill(kill: Kill, journal: string, signal: AbortSignal): Promise<void> {
  if ('after' in kill) return sleep(kill.after, undefined, { signal });
  const most = (await countedIn(journal)) + kill.counted;
  while ((await countedIn(journal)) < most) await sleep(3, undefined, { signal });
}

interface DayRun {
  readonly kills: number;
  readonly seconds: number;
  readonly verdict: string;
  readonly verdicts: ReadonlyMap<string, string>;
  readonly requests: number;
  /** Animals that were added twice, and keys that were banned without having been meant to. */
  readonly harm: readonly string[];
}

/** One day run on a server of its own, killed each of these times. */
async function dayRun(killed: readonly Kill[]): Promise<DayRun> {
  const server = await startReferenceServer({
    clockSpeed: CLOCK_SPEED,
    enterprise: ENTERPRISE,
    ban: { seconds: 20 },
  });
  const folder = await mkdtemp(join(tmpdir(), 'prove-resume-'));
  try {
    const keys = server.keys.filter(({ name }) => name in ROLES);
    const profile = join(folder, 'target.yaml');
    const out = join(folder, 'out');
    const described = serverProfile({ ...server, keys });
    const ownKeys = described.keys.map((key) => ({ ...key, roles: ROLES[key.name] ?? [] }));
    await writeFile(profile, profileYaml({ ...described, keys: ownKeys }));
    const env = Object.fromEntries(keys.map(({ name, value }) => [variableOf(name), value]));
    let [kills, seconds] = [0, 0];
    let ended: Took | undefined;
    const journal = join(out, JOURNAL_FILE);
    for (const kill of [...killed, undefined]) {
      const begun = await readFile(journal, 'utf8').catch(() => '');
      const args = begun.includes('\n') ? ['--resume', out] : ['--profile', profile, '--out', out];
      const dying = new AbortController();
      const killed = kill && timeToKill(kill, journal, dying.signal).catch(() => undefined);
      ended = await took(['check', ...args, '--format', 'tap'], { env, killed });
      dying.abort();
      seconds += ended.seconds;
      if (!ended.killed) break;
      kills += 1;
    }
    const read = readReport(out);
    if (!read.ok) throw new Error(`${read.problem}\n${ended?.output}`);
    const { requirements, requests, verdict } = read.report;
    return {
      kills,
      seconds,
      verdict,
      verdicts: new Map(requirements.map((row) => [row.id, `${row.verdict} (${row.reason})`])),
      requests: requests.total,
      harm: harmOf(journal),
    };
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a run must not do to its target, but did. */
function harmOf(file: string): string[] {
  const journal = readJournal(file);
  if (!journal.ok) throw new Error(journal.problem);
  const names = new Set<string>();
  return journal.entries.flatMap((entry) => {
    if (!('exchange' in entry)) return [];
    const { exchange } = entry;
    const { outcome, key, id } = exchange;
    if (outcome.kind !== 'response' || key === null) return [];
    if (outcome.status === 403 && !(ROLES[key] ?? []).includes('ban'))
      return [`key ${key} was banned (${id})`];
    const name = outcome.status === 201 ? nameSent(exchange) : undefined;
    // This scene adds an animal twice on purpose.
    if (name === undefined || exchange.sentBy === 'basic-animals') return [];
    if (names.has(name)) return [`"${name}" was added twice (${id})`];
    names.add(name);
    return [];
  });
}

const bare = (verdict: string | undefined) => verdict?.replace(/ .*/, '');

const untouched = await dayRun([]);
process.stdout.write(
  `untouched: ${untouched.verdict}, ${untouched.requests} requests in ${untouched.seconds.toFixed(1)} s\n`,
);
let proved = 0;
for (let run = 1; run <= runs; run += 1) {
  const kills = Array.from(
    { length: KILLS },
    (_, index): Kill =>
      index % 2 === 0
        ? { after: (Math.random() * 2 * untouched.seconds * 1000) / KILLS }
        : { counted: 1 + Math.floor(Math.random() * MOST_COUNTED) },
  );
  const killed = await dayRun(kills);
  const changed = [...untouched.verdicts].filter(
    ([id, verdict]) => bare(verdict) !== bare(killed.verdicts.get(id)),
  );
  process.stdout.write(
    `${run}: killed ${killed.kills} times: ${killed.verdict}, ${killed.requests} requests in ${killed.seconds.toFixed(1)} s\n`,
  );
  for (const [id, verdict] of changed)
    process.stdout.write(`   ${id}: ${verdict}, killed: ${killed.verdicts.get(id)}\n`);
  for (const harm of killed.harm) process.stdout.write(`   ${harm}\n`);
  if (changed.length === 0 && killed.harm.length === 0 && killed.verdict === untouched.verdict) proved += 1;
}
process.stdout.write(
  `${proved} of ${runs} runs came to the verdict of an untouched one after ${KILLS} kills\n`,
);
process.exitCode = proved === runs ? 0 : 1;
