/**
 * A key that keeps sending after a 429 may be banned for a time. Only the key with the role ban is used for this, after
 * all other work on it is done.
 */
import { LIMIT } from '../../../spec/operations.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { toldEnd } from '../../limits/told-time.ts';
import { isAdmittedStatus } from '../../limits/window-count.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { Inconclusive } from '../../run/reason.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import { type SceneRun, scene, sceneOnKeys } from '../../run/scene.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted } from './admitted.ts';
import { type BanMeasurement, type OtherKey, readBan } from './ban-reading.ts';
import { sendingOn } from './minute-requests.ts';
import { provoke } from './provocation.ts';

/** If a ban does not state its end, the key is tried after these pauses: a request during a ban may prolong it. */
const POLLS = [15, 30, 45, 60, 60].map((seconds) => seconds * SECOND);
/** A ban that does not state its end is assumed to last at least this long. */
const UNTOLD_BAN = 10 * SECOND;

/** The one key that may be banned, if there is any whose minute can be filled; preferably one that has no other role. */
const banKeys = (keys: readonly Key[]): readonly Key[] =>
  keys
    .filter(({ roles, limits }) => roles.includes('ban') && limits.perDay > limits.perMinute)
    .sort((a, b) => a.roles.length - b.roles.length || a.limits.perMinute - b.limits.perMinute)
    .slice(0, 1);

/** A request without a key while one is banned; only the ban plays it. */
export const keylessInBan = scene('keyless-in-ban', { permit: 'ban' }, (run) =>
  run.send(listPets({ limit: 1 }), { key: { kind: 'none' } }),
);

/** The ban of a key from its provocation to its end. */
export const ban = sceneOnKeys(
  'ban',
  { permit: 'ban', intent: 'ban', keys: banKeys, wanted: { role: 'ban', beyondMinute: true } },
  async (run, key): Promise<BanMeasurement> => {
    const sending = await sendingOn(run, key);
    if (run.wasCutOff) await untilForgiven(run, key);
    const provoked = await provoke(run, sending);
    const { end, ban: known } = readBan({ ...provoked, others: [], later: [] }, run.trace);
    if (known !== undefined) await run.tryPlay(keylessInBan);
    const others = await tryOthers(run, key, known?.toldEnd);
    if (known?.notWaited !== undefined) return { ...provoked, others, later: [] };
    const later = await askFrom(run, key, end, known?.toldEnd !== undefined, async () => {
      // A ban that shows only now, or one that outlasts the other keys' windows.
      if (known === undefined || others.length === 0) others.push(...(await tryOthers(run, key)));
    });
    // A ban that hits other keys ends for them too; a key that was withdrawn stays out.
    for (const { key: other, exchange } of others)
      if (exchange.outcome.status === 401) await run.attemptAnswered(listPets({ limit: 1 }), other);
    return { ...provoked, others, later };
  },
);

/** Waits out a ban that an earlier process of the run may have caused. */
async function untilForgiven(run: SceneRun, key: Key): Promise<void> {
  const answers = await askFrom(run, key, run.now() + MINUTE);
  const last = answers.at(-1);
  if (last !== undefined && !isAdmitted(last))
    throw new Inconclusive(`key ${key.name} is still refused for what was sent before the interruption`, [
      last,
    ]);
}

/**
 * Waits until that time, then asks until the key is served, or refused after a time that the target told.
 *
 * @param wasTold whether the target told the time: if the key is refused even then, nothing more is waited for
 * @param whileRefused what to do once if the key is refused at that time
 */
async function askFrom(
  run: SceneRun,
  key: Key,
  time: number,
  wasTold = false,
  whileRefused?: () => Promise<void>,
): Promise<AnsweredExchange[]> {
  const answers: AnsweredExchange[] = [];
  const askAt = async (at: number) => {
    await run.waitUntil(at, `key ${key.name} to be served again`);
    const list = listPets({ limit: LIMIT.maximum, status: 'sold' });
    const answer = await run.attemptAnswered(list, key);
    answers.push(answer);
    return answer;
  };
  let latest = await askAt(time);
  if (!isAdmitted(latest)) await whileRefused?.();
  let isTold = wasTold;
  for (const pause of POLLS) {
    if (isAdmitted(latest) || isTold) break;
    const told = toldEnd(run.trace, latest);
    const next = told ?? latest.receivedAt + pause;
    if (next > time + LONGEST_BAN) break;
    latest = await askAt(next);
    isTold = told !== undefined;
  }
  return answers;
}

/**
 * The first of the keys on which a request disturbs nothing: its minute is not being counted, and its own limit is not
 * reached. A key at its limit says nothing about the ban, and could be banned itself.
 */
function freeKey(run: SceneRun, keys: readonly Key[]): Key | undefined {
  const now = run.now();
  return keys.find((key) => {
    const lane = run.lane(key);
    // A key with several refusals may be banned itself, unless it was admitted since.
    const last = run.trace.readingsOf(key, now - MINUTE).at(-1);
    const isInnocent =
      run.trace.refusalsOf({ key: key.name }) <= 1 || (last !== undefined && isAdmittedStatus(last.status));
    return isInnocent && !lane.isReserved && lane.readyAt(now, run.trace.targetClock) <= now;
  });
}

/**
 * Sends requests with other keys, one of the same plan and one of another, in case bans apply to a whole plan.
 *
 * @param until when the ban ends, if it says so
 */
async function tryOthers(run: SceneRun, key: Key, until = run.now() + UNTOLD_BAN): Promise<OtherKey[]> {
  const all = otherKeys(run.keys, key);
  // A request costs the largest plan the least.
  const unlike = all
    .filter(({ plan }) => plan !== key.plan)
    .sort((a, b) => b.limits.perMinute - a.limits.perMinute);
  const alike = all.filter(({ plan }) => plan === key.plan);
  const untried = new Set([alike, unlike].filter((keys) => keys.length > 0));
  // For a ban that is too long to wait for: no longer than counting another key's minute and the next one takes.
  const last = until - run.now() > LONGEST_BAN ? run.now() + 3 * MINUTE : until - SECOND;
  const tried: OtherKey[] = [];
  for (;;) {
    for (const keys of untried) {
      const other = freeKey(run, keys);
      if (other === undefined) continue;
      untried.delete(keys);
      tried.push({ key: other, exchange: await run.attemptAnswered(listPets({ limit: 1 }), other) });
    }
    if ([...untried].some((keys) => freeKey(run, keys) !== undefined)) continue;
    // A key may have quota earlier than its last answer said: its own scene may find out meanwhile.
    const next = run.now() + SECOND;
    if (untried.size === 0 || next > last) return tried;
    await run.waitUntil(next, `another key to be free while ${key.name} is banned`);
  }
}
