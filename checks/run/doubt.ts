import { judgeRemaining, wholeAgain } from '../limits/remaining-arithmetic.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../wire/exchange.ts';
import { answeredPet, described, listedPets, looksLikeTheService } from '../wire/pets.ts';
import { listPets } from '../wire/requests.ts';
import type { Seen } from './check.ts';
import { scene } from './scene.ts';
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

const isList = (exchange: AnsweredExchange) => (listedPets(exchange)?.length ?? 0) > 0;

/**
 * Whether the target, or something in front of it, answers requests with the answers of others: a list was answered
 * with an animal, and what asks for an animal with a list. No single mistake of a target does both.
 */
export function crossedAnswers(exchanges: readonly Exchange[]): Doubt | undefined {
  const answered = exchanges.filter(isAnswered);
  const animal = answered.find((exchange) => exchange.request.operation === 'listPets' && isAnimal(exchange));
  const list = answered.find(
    (exchange) => /^(createPet|getPet)$/.test(exchange.request.operation) && isList(exchange),
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
  const { last, without } = run.trace.signs;
  if (key === undefined || last === undefined || without < ANSWERS_WITHOUT_SIGN) return undefined;
  return { lastSign: last, exchange: await run.attempt(listPets({ limit: 1 }), key) };
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

/**
 * Whether the target lost what it counted, as one that counts in its memory does where it is started again: at one moment
 * of the run each key that was used had its whole limit again. A limiter that is wrong is so more than once, or of one key.
 */
export function begunAnew(trace: Pick<Trace, 'run' | 'readingsOf'>): Doubt | undefined {
  const ofKeys = trace.run.keys.map((key) => ({ key, readings: trace.readingsOf(key) }));
  const rises = ofKeys.flatMap(({ key, readings }) => wholeAgain(readings, key.limits));
  const since = Math.max(...rises.map(([before]) => before.sentAt));
  const until = Math.min(...rises.map(([, behind]) => behind.receivedAt));
  if (rises.length === 0 || since > until) return undefined;
  const isBroken = ofKeys.some(
    ({ key: { limits }, readings }) =>
      judgeRemaining(readings, limits.perMinute, limits.perDay).kind === 'broken',
  );
  const goesOn = ofKeys.some(({ key, readings }) => {
    const before = readings.findLastIndex(({ receivedAt }) => receivedAt <= since);
    const behind = readings.findIndex(({ receivedAt }) => receivedAt >= until);
    const fell = (readings[before]?.remaining ?? 0) - (readings[behind]?.remaining ?? 0);
    const isSame = readings[before]?.reset === readings[behind]?.reset;
    return isSame && fell > 0 && fell === behind - before && rises.every(([one]) => one.key !== key.name);
  });
  if (!isBroken || goesOn) return undefined;
  const time = new Date(since).toISOString().slice(11, 19);
  return {
    until: since,
    message: `the target seems to have been started again at ${time} UTC: its keys had their whole limits again`,
  };
}
