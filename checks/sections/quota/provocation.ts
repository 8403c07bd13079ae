/** Reaches a key's limit and keeps sending after the 429, as no client should, until a ban shows. */
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, tellsDay, toldRetry } from '../../limits/told-time.ts';
import { countWindow } from '../../limits/window-count.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { daySpent, Inconclusive } from '../../run/reason.ts';
import type { SceneRun } from '../../run/scene.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { admittedOn, isAdmitted, neverRefused } from './admitted.ts';
import { isRefused, PATIENCE_OF_TARGET, type Provocation, standingAfter } from './ban-reading.ts';
import { knownSince, restFromNow } from './key-at-rest.ts';
import { exhaustKeys } from './minute.ts';
import { overLimit, type Sending } from './minute-requests.ts';
import { IN_FLIGHT } from './window-filling.ts';

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
export async function provoke(run: SceneRun, sending: Sending): Promise<Provocation> {
  const { key } = sending;
  const { perMinute } = key.limits;
  const { admitted, refused, last, roundTrip } = await reachLimitAtOnce(run, key);
  const rounds: AnsweredExchange[][] = [];
  let standing = standingAfter({}, refused, run.trace);
  let refusals = refused.length;
  const requests = overLimit(run, sending);
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

/** A key whose limit was reached. */
interface Reached {
  readonly admitted: readonly RateReading[];
  /** In the order of receipt. */
  readonly refused: readonly AnsweredExchange[];
  readonly last: AnsweredExchange | undefined;
  /** The longest round trip, in milliseconds. */
  readonly roundTrip: number;
}

/** Reaches a key's limit within one window: if the window ends meanwhile, tries again after an idle minute. */
async function reachLimitAtOnce(run: SceneRun, key: Key): Promise<Reached> {
  const reach = () => run.lane(key).reserveFor(() => reachLimit(run, key));
  const reached = await reach();
  const { admitted, all } = countWindow(reached.admitted, key.limits.perMinute);
  if (reached.refused.length > 0 || all.length === admitted.length) return reached;
  await restFromNow(run, key);
  return reach();
}

/** Spends a key's minute; the last requests and a few more are sent at the same moment. */
async function reachLimit(run: SceneRun, key: Key): Promise<Reached> {
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
    refused: sent.filter(isRefused).sort((a, b) => a.receivedAt - b.receivedAt),
    last: sent.at(-1),
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
