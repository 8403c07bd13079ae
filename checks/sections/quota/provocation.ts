/** Reaches a key's limit and keeps sending after the 429, as no client should, until a ban shows. */
import { MINUTE, SECOND } from '../../limits/time.ts';
import { toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { isAdmitted, neverRefused } from './admitted.ts';
import { isRefused, PATIENCE_OF_TARGET, type Provocation, standingAfter } from './ban-reading.ts';
import { knownSince } from './key-at-rest.ts';
import { overLimit, type Sending } from './minute-requests.ts';
import { fill, IN_FLIGHT } from './window-filling.ts';

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
 * Fills the key's window, waits until it is about to end, and then keeps sending until a ban shows. Because it is so
 * late, the ban outlasts the window, and its end can be told from the window's.
 *
 * @throws Inconclusive if nothing is refused
 */
export async function provoke(run: SceneRun, sending: Sending): Promise<Provocation> {
  const { key } = sending;
  const { perMinute } = key.limits;
  const filled = await fill(run, key, await knownSince(run, key));
  // A target that was started again meanwhile has a whole limit again.
  const window = filled.refusal === undefined ? await fill(run, key, run.now()) : filled;
  const { count, refusal: first, refusals, last } = window;
  if (first === undefined) throw new Inconclusive(neverRefused(key), last === undefined ? [] : [last]);
  const answers = [...refusals];
  let standing = standingAfter({ first }, answers, run.trace);
  let refused = answers.length;
  const requests = overLimit(run, sending);
  const sendUntil = async (isEnough: () => boolean, most: number) => {
    const atMost = answers.length + most;
    while (answers.length < atMost && !isEnough()) {
      const { isGivenBack = false } = standing;
      const together = sentTogether(answers, perMinute, isGivenBack);
      // Refilled quota is spent on lists, which leave nothing behind.
      const next = () => (isGivenBack ? listPets({ limit: 1 }) : requests.next().value);
      const specs: readonly RequestSpec[] = Array.from(
        { length: Math.min(atMost - answers.length, together) },
        next,
      );
      const round = await Promise.all(specs.map((spec) => run.attemptAnswered(spec, key)));
      round.sort((a, b) => a.receivedAt - b.receivedAt);
      answers.push(...round);
      // Not read anew from all answers: other keys are being counted meanwhile.
      standing = standingAfter(standing, round, run.trace);
      refused += round.filter(isRefused).length;
    }
  };
  if (standing.ban === undefined) await untilWindowEnds(run, key, first);
  await sendUntil(
    () => refused > PATIENCE_OF_TARGET || standing.ban !== undefined,
    // Meanwhile a new window may begin, or a token bucket may give back as much and a little more.
    2 * perMinute + PATIENCE_OF_TARGET,
  );
  if (standing.ban !== undefined) await sendUntil(() => false, WITHIN_BAN);
  return { key, count, first, answers };
}

/**
 * How many requests are sent at once. Usually one; for a slow target, as many as finish before its window ends. Bans
 * may need refusals in a row, so for a token bucket it is that many before it gives back a single request. After a new
 * window began, it is all that is left of it.
 */
function sentTogether(answers: readonly AnsweredExchange[], perMinute: number, isGivenBack: boolean): number {
  const recent = answers.slice(-3);
  const last = recent.at(-1);
  if (last === undefined) return 1;
  const roundTrip = Math.min(...recent.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
  const { limit, remaining = 0 } = rateReading(last);
  const left = isGivenBack && limit === perMinute ? remaining : 0;
  const isRefilled = answers.some(isAdmitted);
  const pace = PATIENCE_OF_TARGET / Math.min(LEAD / 2, isRefilled ? MINUTE / perMinute : MINUTE);
  return Math.min(IN_FLIGHT, Math.max(1, left, Math.ceil(roundTrip * pace)));
}

/** Waits until the window of the first refusal is about to end, if it lasts long enough. */
async function untilWindowEnds(run: SceneRun, key: Key, first: AnsweredExchange) {
  const end = toldEnd(run.trace, first);
  if (end === undefined) return;
  const length = end - first.receivedAt;
  if (length <= STAYS_EXHAUSTED || length >= 2 * MINUTE) return;
  const roundTrip = first.receivedAt - first.sentAt;
  const oneByOne = Math.min(LEAD, roundTrip * PATIENCE_OF_TARGET);
  const lead = Math.min(LONGEST_LEAD, Math.max(3 * SECOND, oneByOne, 6 * roundTrip));
  await run.waitUntil(end - lead, `the window of key ${key.name} to be about to end`);
}
