import { judgeRemaining, refillStep } from '../limits/remaining-arithmetic.ts';
import { MINUTE, SECOND } from '../limits/time.ts';
import { countWindow, isAdmittedStatus, showsEdges, WINDOWS_APART } from '../limits/window-count.ts';
import type { Key } from '../profile/key.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../wire/exchange.ts';
import { answeredPet, described, listedPets, looksLikeTheService } from '../wire/pets.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import { listPets, requestOf } from '../wire/requests.ts';
import type { Seen } from './check.ts';
import { IN_FLIGHT, scene } from './scene.ts';
import type { Trace } from './trace.ts';

/** Why not all that came is evidence. */
export interface Doubt {
  readonly message: string;
  /** What came until then, by the run's clock, is evidence all the same; undefined where nothing is. */
  readonly until?: number;
}

/** Whether an exchange is evidence in spite of a doubt. */
export const isBefore = ({ receivedAt }: Exchange, { until }: Doubt): boolean =>
  until !== undefined && receivedAt <= until;

/** What makes a run doubtful; undefined where nothing does. */
export const doubtOf = (seen: Seen): Doubt | undefined =>
  crossedAnswers(seen.trace.exchanges) ?? changedTarget(seen) ?? begunAnew(seen.trace);

/**
 * Whether the target, or something in front of it, answers requests with the answers of others: a list was answered
 * with an animal, and what asks for an animal with a list. No single mistake of a target does both.
 */
export function crossedAnswers(exchanges: readonly Exchange[]): Doubt | undefined {
  const answered = exchanges.filter(isAnswered);
  const animal = answered.find((exchange) => exchange.request.operation === 'listPets' && isAnimal(exchange));
  const list = answered.find(
    (exchange) =>
      /^(createPet|getPet)$/.test(exchange.request.operation) && (listedPets(exchange)?.length ?? 0) > 0,
  );
  if (animal === undefined || list === undefined) return undefined;
  const [first, second] = [animal, list].map(({ request }) => `${request.method} ${request.path}`);
  return {
    message: `answers are mixed up between requests: ${first} was answered with one animal, ${second} with a list`,
  };
}

function isAnimal(exchange: AnsweredExchange): boolean {
  const pet = answeredPet(exchange);
  return pet?.id !== undefined && pet.name !== undefined;
}

/** A target that is merely wrong shows a trace more often: a rate header, a list, an Error. */
const ANSWERS_WITHOUT_SIGN = 5;

/** Asks once more what the run began with, where the last answers bear no sign of the interface. */
export const postflight = scene('postflight', { afterwards: true, eachSession: true }, async (run) => {
  const [key] = run.keys;
  const answered = run.trace.exchanges.filter(isAnswered);
  const ofPets = answered.filter(({ request }) => request.operation !== 'other');
  const last = ofPets.findLastIndex(looksLikeTheService);
  const sign = ofPets[last];
  if (key === undefined || sign === undefined || last + ANSWERS_WITHOUT_SIGN >= ofPets.length)
    return undefined;
  return { lastSign: sign.receivedAt, exchange: await run.attempt(listPets({ limit: 1 }), key) };
});

/**
 * Whether something else took the target's place during the run: its last answers bear no sign of the interface, and
 * nor does one more.
 */
export function changedTarget(seen: Pick<Seen, 'maybe'>): Doubt | undefined {
  const last = seen.maybe(postflight);
  if (last === undefined || !isAnswered(last.exchange) || looksLikeTheService(last.exchange))
    return undefined;
  const time = new Date(last.lastSign).toISOString().slice(11, 19);
  return {
    until: last.lastSign,
    message: `a different service has been answering since ${time} UTC: GET /pets gives ${described(last.exchange)}`,
  };
}

/** Whatever the target's clock did meanwhile: a Date that goes back excuses what a restart explains. */
const rises = ({ limits }: Key, readings: readonly RateReading[], step: number): boolean =>
  judgeRemaining(
    readings.map((reading) => ({ ...reading, date: undefined })),
    limits,
    step,
  ).kind === 'broken';

/** Somebody's first requests of a limit leave it whole but for so many; one of them may be lost. */
const FIRST_REQUESTS = 2;

/**
 * The answers that leave a whole limit, the minute's or the day's, but for the requests beside them: a target may read
 * what is left as it answers. Few do: of thousands of a day, one.
 */
const wholeOnes = (readings: readonly RateReading[]) =>
  readings.filter(({ limit, remaining = 0, sentAt, receivedAt }) => {
    const spent = limit === undefined ? Infinity : limit - remaining;
    if (spent > FIRST_REQUESTS + IN_FLIGHT) return false;
    const beside = readings.filter((one) => one.sentAt <= receivedAt && one.receivedAt >= sentAt).length - 1;
    return spent <= FIRST_REQUESTS + beside;
  });

/** What was certainly admitted within the minute that begins with a request, but for a window that begins meanwhile. */
const minuteFrom = (readings: readonly RateReading[], { sentAt: from, reset: told = 0 }: RateReading) =>
  readings.filter(
    ({ status, sentAt, receivedAt, reset = told }) =>
      isAdmittedStatus(status) &&
      sentAt >= from &&
      receivedAt < from + MINUTE &&
      reset < told + WINDOWS_APART,
  );

/** Whether more was given back than is, or a minute that began with the whole limit had too many requests. */
const isBroken = (key: Key, readings: readonly RateReading[], step: number): boolean =>
  rises(key, readings, step) ||
  wholeOnes(readings).some((first) => {
    const count = countWindow(minuteFrom(readings, first), key.limits.perMinute);
    return count.verdict.kind === 'more' && showsEdges(count);
  });

/**
 * The moment at which a key had its whole limit again, where the answers of all keys before it are in order, and so are
 * those after it, and only both together are not for that key: as if the target had lost what it counted.
 *
 * @returns the key, what was admitted of it in the minute in which its whole limit was there again (`shownBy`), and when
 *   the target had not lost anything yet (`since`)
 */
function restartIn(trace: Pick<Trace, 'run' | 'readingsOf'>) {
  const ofKeys = trace.run.keys.map((key) => {
    const readings = trace.readingsOf(key);
    return { key, readings, step: refillStep(readings, key.limits) };
  });
  const areInOrder = (isMeant: (reading: RateReading) => boolean) =>
    !ofKeys.some(({ key, readings, step }) => isBroken(key, readings.filter(isMeant), step));
  const goesOn = (since: number, at: number) =>
    ofKeys.some(({ readings }) => {
      const last = readings.findLastIndex(({ receivedAt }) => receivedAt <= since);
      const next = readings.findIndex(({ sentAt }) => sentAt >= at);
      const [before, behind] = [readings[last], readings[next]];
      const fell = (before?.remaining ?? 0) - (behind?.remaining ?? 0);
      return fell > 0 && fell === next - last && before?.reset === behind?.reset;
    });
  for (const { key, readings, step } of ofKeys.filter((one) => isBroken(one.key, one.readings, one.step))) {
    const isRisen = rises(key, readings, step);
    const whole = wholeOnes(readings);
    for (const answer of whole) {
      const { sentAt, receivedAt: at } = answer;
      const since = readings.findLast(({ receivedAt }) => receivedAt <= sentAt)?.sentAt;
      if (since === undefined || goesOn(since, at)) continue;
      const isOfWindow = ({ reset = 0 }: RateReading) => (answer.reset ?? reset) - reset < WINDOWS_APART;
      const minute = readings.filter((one) => one.sentAt > sentAt - MINUTE && isOfWindow(one));
      // From rest it is counted again as it was where a window began with it.
      const first = minute.find((one) => one.sentAt < sentAt && whole.includes(one)) ?? minute[0] ?? answer;
      const shownBy = minuteFrom(readings, first);
      const before = shownBy.findLast(({ receivedAt }) => receivedAt <= sentAt);
      // Of requests that race each other too many are admitted as well, but never is more left than before them.
      const isMore = (answer.remaining ?? 0) >= (before?.remaining ?? Infinity);
      if (!isMore && !isRisen) continue;
      // Of another key, what was answered meanwhile may have been counted before it or after it.
      const until = (name: string | null) => (name === key.name ? sentAt : since);
      if (areInOrder((one) => one.receivedAt <= until(one.key)) && areInOrder((one) => one.sentAt >= at))
        return { key, shownBy, since };
    }
  }
  return undefined;
}

/** Sends at the same pace once more what looked as if the target had been started again. */
export const askedAgain = scene('restart-asked-again', { afterwards: true }, async (run) => {
  const suspected = restartIn(run.trace);
  if (suspected === undefined) return;
  const { key, shownBy } = suspected;
  const last = run.trace.readingsOf(key).at(-1)?.receivedAt ?? 0;
  await run.waitUntil(last + MINUTE + SECOND, `key ${key.name} to be at rest for a minute`);
  const [beganAt, first] = [run.now(), shownBy[0]?.sentAt ?? 0];
  for (const { sentAt, operation, path } of shownBy) {
    await run.waitUntil(beganAt + sentAt - first, `key ${key.name} to be asked as before`);
    // What costs nothing does so again; nothing is added for it.
    const spec = operation === 'getPet' ? { ...requestOf(operation), path } : listPets({ limit: 1 });
    const { outcome } = await run.attempt(spec, key);
    if (outcome.kind === 'response' && outcome.status === 429) return;
  }
});

/**
 * Whether the target lost what it counted, as one that counts in its memory does where it is started again. A limiter
 * that is wrong is so again where it is asked the same.
 */
export function begunAnew(trace: Pick<Trace, 'run' | 'readingsOf'>): Doubt | undefined {
  const until = restartIn(trace)?.since;
  if (until === undefined) return undefined;
  const time = new Date(until).toISOString().slice(11, 19);
  return {
    until,
    message: `the target seems to have been started again at ${time} UTC: its keys had their whole limits again`,
  };
}
