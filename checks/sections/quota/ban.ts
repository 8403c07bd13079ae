/**
 * A key that keeps sending after a 429 may be banned for a time. Only the key with the role ban is used for this, after
 * all other work on it is done.
 */
import { LIMIT } from '../../../spec/operations.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, tellsDay, toldEnd, toldRetry } from '../../limits/told-time.ts';
import { countWindow, isAdmittedStatus } from '../../limits/window-count.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { daySpent, Inconclusive } from '../../run/reason.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import { IN_FLIGHT, type SceneRun, scene, sceneOnKeys } from '../../run/scene.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { type BanMeasurement, isRefused, PATIENCE_OF_TARGET, readBan, standingAfter } from './ban-reading.ts';
import { admittedOn, isAdmitted, knownSince, neverRefused, restFromNow } from './key-spending.ts';
import { exhaustKeys } from './minute.ts';
import { requestsOf } from './minute-requests.ts';

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
    const { overLimit } = await requestsOf(run, key);
    if (run.wasCutOff) await untilForgiven(run, key);
    const provoked = await provoke(run, key, overLimit());
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
async function tryOthers(run: SceneRun, key: Key, until = run.now() + UNTOLD_BAN) {
  const all = otherKeys(run.keys, key);
  // A request costs the largest plan the least.
  const unlike = all
    .filter(({ plan }) => plan !== key.plan)
    .sort((a, b) => b.limits.perMinute - a.limits.perMinute);
  const alike = all.filter(({ plan }) => plan === key.plan);
  const untried = new Set([alike, unlike].filter((keys) => keys.length > 0));
  // For a ban that is too long to wait for: no longer than counting another key's minute and the next one takes.
  const last = until - run.now() > LONGEST_BAN ? run.now() + 3 * MINUTE : until - SECOND;
  const tried: { key: Key; exchange: AnsweredExchange }[] = [];
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

/** Requests over the limit that are in flight when it is reached: too few to trigger a typical ban. */
const OVERSHOOT = 6;
/**
 * Fewer where every other key is at its limit as well: a ban that a few refusals trigger must begin late, when one of
 * them has quota again and can show that it is served.
 */
const FEW_OVERSHOOT = 2;
/**
 * Requests over the limit begin at most this long before the window ends, unless a few round trips take longer. Other
 * keys, whose windows began with this one's, then have quota again before a short ban is over.
 */
const LEAD = 10 * SECOND;
const LONGEST_LEAD = 2 * LEAD;
/** A shorter wait means a token bucket, which does not stay exhausted. */
const STAYS_EXHAUSTED = 10 * SECOND;

/** Requests after the first answer of a ban, to see whether it holds: of some only every so many-th is let through. */
const WITHIN_BAN = 12;

/**
 * Sends the quota and a few more almost at once, waits until the window is about to end, and then keeps sending until a
 * ban shows. Because it is so late, the ban outlasts the window, and its end can be told from the window's.
 *
 * @throws Inconclusive if nothing is refused
 */
async function provoke(run: SceneRun, key: Key, requests: Generator<RequestSpec, never>) {
  const { perMinute } = key.limits;
  const { admitted, refused, last, roundTrip } = await reachLimitAtOnce(run, key);
  const rounds: AnsweredExchange[][] = [];
  let standing = standingAfter({}, refused, run.trace);
  let refusals = refused.length;
  const sendUntil = async (isEnough: () => boolean, atMost: number) => {
    for (let left = atMost; left > 0 && !isEnough(); left -= rounds.at(-1)?.length ?? 0) {
      const { isGivenBack } = standing;
      const count = Math.min(left, sentTogether(rounds, perMinute, isGivenBack));
      // Refilled quota is spent on lists, which leave nothing behind.
      const next = () => (isGivenBack ? listPets({ limit: 1 }) : requests.next().value);
      const specs: readonly RequestSpec[] = Array.from({ length: count }, next);
      const round = await Promise.all(specs.map((spec) => run.attemptAnswered(spec, key)));
      rounds.push(round.sort((a, b) => a.receivedAt - b.receivedAt));
      // Not read anew from all rounds: other keys are being counted meanwhile.
      standing = standingAfter(standing, round, run.trace);
      refusals += round.filter(isRefused).length;
    }
  };
  // Spends whatever a new window gave back; only then is a request over the limit.
  await sendUntil(() => standing.first !== undefined, perMinute);
  const { first, ban } = standing;
  if (first === undefined) throw new Inconclusive(neverRefused(key), last === undefined ? [] : [last]);
  // After a whole minute only headers of the day tell that it was the day.
  const mayBeDay = rounds.length === 0 && (admitted.length < perMinute || tellsDay(first, key.limits));
  if (mayBeDay && isForDay(run.trace, first, key.limits))
    throw new Inconclusive(daySpent(run.trace, first), [first]);
  if (ban === undefined) await untilWindowEnds(run, key, first, roundTrip);
  const enough = refusals + PATIENCE_OF_TARGET;
  await sendUntil(
    () => refusals >= enough || standing.ban !== undefined,
    // Meanwhile a new window may begin, or a token bucket may give back as much and a little more.
    2 * perMinute + PATIENCE_OF_TARGET,
  );
  if (standing.ban !== undefined) await sendUntil(() => false, WITHIN_BAN);
  return { key, admitted, refused, rounds };
}

/**
 * How many requests are sent at once. Usually one; for a slow target, as many as finish before its window ends. Bans
 * may need refusals in a row, so for a token bucket it is that many before it gives back a single request. After a new
 * window began, it is all that is left of it.
 */
function sentTogether(
  rounds: readonly (readonly AnsweredExchange[])[],
  perMinute: number,
  isGivenBack: boolean,
): number {
  const recent = rounds.slice(-3).flat().slice(-3);
  const last = recent.at(-1);
  if (last === undefined) return 1;
  const roundTrip = Math.min(...recent.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
  const { limit, remaining = 0 } = rateReading(last);
  const left = isGivenBack && limit === perMinute ? remaining : 0;
  const isRefilled = rounds.flat().some(isAdmitted);
  const pace = PATIENCE_OF_TARGET / Math.min(LEAD / 2, isRefilled ? MINUTE / perMinute : MINUTE);
  return Math.min(IN_FLIGHT, Math.max(1, left, Math.ceil(roundTrip * pace)));
}

/** Reaches a key's limit within one window: if the window ends meanwhile, tries again after an idle minute. */
async function reachLimitAtOnce(run: SceneRun, key: Key) {
  const reach = () => run.lane(key).reserveFor(() => reachLimit(run, key));
  const reached = await reach();
  const { admitted, all } = countWindow(reached.admitted, key.limits.perMinute);
  if (reached.refused.length > 0 || all.length === admitted.length) return reached;
  await restFromNow(run, key);
  return reach();
}

/** Spends a key's minute; the last requests and a few more are sent at the same moment. */
async function reachLimit(run: SceneRun, key: Key) {
  const before = admittedOn(run.trace, key, await knownSince(run, key));
  const left = key.limits.perMinute - before.length;
  const together = Math.min(left, 20);
  const overshoot = areOthersExhausted(run, key) ? FEW_OVERSHOOT : OVERSHOOT;
  const lists = (count: number) => Array.from({ length: Math.max(0, count) }, () => listPets({ limit: 1 }));
  const filling = await run.burst(lists(left - together), key, {
    inFlight: IN_FLIGHT,
    enough: (exchange) => !isAnswered(exchange),
  });
  const reaching = await run.burst(lists(together + overshoot), key, { inFlight: together + overshoot });
  const sent = [...filling, ...reaching].filter(isAnswered);
  return {
    admitted: [...before, ...sent.filter(isAdmitted).map(rateReading)],
    /** In the order of receipt. */
    refused: sent.filter(isRefused).sort((a, b) => a.receivedAt - b.receivedAt),
    last: sent.at(-1),
    /** The longest, in milliseconds. */
    roundTrip: Math.max(...reaching.map(({ sentAt, receivedAt }) => receivedAt - sentAt)),
  };
}

/** Whether every key that may show what others get is driven to its limit at the same time. */
function areOthersExhausted({ keys, facts }: SceneRun, key: Key): boolean {
  const exhausted = facts.permissions.has('exhaust') ? exhaustKeys(keys).map(({ name }) => name) : [];
  const others = otherKeys(keys, key);
  return others.length > 0 && others.every(({ name }) => exhausted.includes(name));
}

/** Waits until the window of the first refusal is about to end, if it lasts long enough. */
async function untilWindowEnds(run: SceneRun, key: Key, first: AnsweredExchange, roundTrip: number) {
  const end = toldRetry(run.trace, key.limits, first);
  if (end === undefined) return;
  const length = end - first.receivedAt;
  if (length <= STAYS_EXHAUSTED || length >= 2 * MINUTE) return;
  const oneByOne = Math.min(LEAD, roundTrip * PATIENCE_OF_TARGET);
  const lead = Math.min(LONGEST_LEAD, Math.max(3 * SECOND, oneByOne, 6 * roundTrip));
  await run.waitUntil(end - lead, `the window of key ${key.name} to be about to end`);
}
