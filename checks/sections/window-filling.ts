/** The filling of a window to its first refusal, with hardly a request too many. */
import { Unsettled } from '../harness/check.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../harness/exchange.ts';
import { type Key, MINUTE } from '../harness/key-pool.ts';
import { described } from '../harness/pets.ts';
import type { Probe } from '../harness/probe.ts';
import type { RateReading } from '../harness/rate-headers.ts';
import { listPets, type RequestSpec } from '../harness/requests.ts';
import { countWindow, sinceEdge, type WindowCount } from '../harness/window-count.ts';
import { isAdmitted, isAdmittedStatus } from './admitted.ts';

/** How many requests are in flight at once while a window is filled. */
export const IN_FLIGHT = 50;
/** How far beyond the limit a target is followed that refuses nothing. */
const BEYOND_LIMIT = 30;
/** A window that cannot be filled in this time cannot be counted. */
const LONGEST_FILL = 4 * MINUTE;

/** One window that was filled to the first refusal. */
export interface FilledWindow {
  readonly count: WindowCount;
  /** The first answer that was no success; undefined where the target refused nothing within the bound. */
  readonly refusal: AnsweredExchange | undefined;
  readonly last: AnsweredExchange | undefined;
  /** How many requests were refused: more than one where several were in flight at the limit. */
  readonly refusals: number;
  /** A request of another operation that was served at the limit, right before a list was refused. */
  readonly servedOver: AnsweredExchange | undefined;
  /** The first of two requests over the limit that got no answer at all. */
  readonly closed: Exchange | undefined;
}

function take<T>(source: Iterator<T>, count: number): T[] {
  return Array.from({ length: Math.max(0, count) }, () => source.next()).flatMap(({ done, value }) =>
    done === true ? [] : [value],
  );
}

const answered = (exchanges: readonly Exchange[]) => exchanges.filter(isAnswered);

/**
 * Sends requests until the first refusal: as many as the target says are left, at once, and then as few at a time as
 * outrun a bucket's refill, so that hardly any request is in flight when the limit is reached.
 */
export async function fill(
  probe: Probe,
  key: Key,
  requests: Iterator<RequestSpec>,
  since: number,
  last: RequestSpec,
): Promise<FilledWindow> {
  const { perMinute } = key.limits;
  const sent: AnsweredExchange[] = [];
  let closed: Exchange | undefined;
  let closedAtLimit = 0;
  const keep = (exchanges: readonly Exchange[]) => {
    const complete = answered(exchanges);
    if (complete.length < exchanges.length) {
      const [broken] = exchanges.filter((exchange) => !isAnswered(exchange));
      // At the limit a connection that is closed may be the target's refusal: a second one tells it from an accident.
      if (broken !== undefined && countNow().admitted.length >= perMinute && closedAtLimit < 2) {
        closedAtLimit += 1;
        closed ??= broken;
        sent.push(...complete);
        return;
      }
      const why = broken?.outcome.kind === 'failure' ? broken.outcome.message : 'no answer';
      throw new Unsettled(`the count was disturbed: ${why}`, broken === undefined ? [] : [broken]);
    }
    sent.push(...complete);
  };
  // Whatever this run sends on the key counts, also what another check sends meanwhile.
  const admittedSoFar = () => probe.readingsOf(key, since).filter(({ status }) => isAdmittedStatus(status));
  const countNow = () => countWindow(admittedSoFar(), perMinute);
  // A server error below the limit is no refusal: it is judged with its operation, and the count is spoilt.
  const isRefusal = (exchange: AnsweredExchange) =>
    !isAdmitted(exchange) && (exchange.outcome.status < 500 || countNow().admitted.length >= perMinute);
  let refusal: AnsweredExchange | undefined;
  const send = async (specs: readonly RequestSpec[], inFlight: number) => {
    const exchanges = await probe.burst(
      specs,
      key,
      inFlight,
      (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
    );
    keep(exchanges);
    refusal ??= answered(exchanges).find(isRefusal);
    const failed = answered(exchanges).find((exchange) => !isAdmitted(exchange) && !isRefusal(exchange));
    if (failed !== undefined) throw new Unsettled(`the count was disturbed: ${described(failed)}`, [failed]);
  };
  if (admittedSoFar().length === 0) await send([listPets({ limit: 1 })], 1);
  const startedAt = probe.now();
  // The time for which the run was interrupted is nobody's slowness.
  const elapsed = () => probe.now() - Math.max(startedAt, probe.resumedAt(key));
  // A bucket gives back while it is emptied, which takes the longer the slower the target is.
  const most = () => perMinute + BEYOND_LIMIT + Math.ceil(perMinute / 10) + (elapsed() * perMinute) / MINUTE;
  let oneByOne = 0;
  let window = countNow().admitted[0]?.id;
  // As many as are left at once, and again after a window edge; then one by one until the limit is reached.
  while (
    refusal === undefined &&
    closedAtLimit < 2 &&
    countNow().admitted.length < most() &&
    elapsed() < LONGEST_FILL
  ) {
    const left = quotaLeft(admittedSoFar(), perMinute);
    if (left > 0 && countNow().admitted.length < perMinute) {
      await send(take(requests, left), IN_FLIGHT);
      continue;
    }
    // A new window has begun meanwhile, as after an interruption: its first refusal is still to come. An addition is
    // not sent twice: the first one was admitted, and its animal stays.
    if (countNow().admitted[0]?.id !== window && last.operation !== 'createPet') oneByOne = 0;
    window = countNow().admitted[0]?.id;
    // The next request is to be refused, unless a bucket gives a token back in the time that a request takes. Only then
    // are several sent together, since every one too many is a refusal that a ban may count.
    const roundTrip = Math.max(0, ...sent.slice(-3).map(({ sentAt, receivedAt }) => receivedAt - sentAt));
    const refill = (perMinute * roundTrip) / MINUTE;
    const together = oneByOne < 5 ? 1 : Math.min(IN_FLIGHT, Math.ceil(refill) + Math.floor(oneByOne / 5));
    await send(oneByOne === 0 ? [last] : take(requests, together), together);
    oneByOne += 1;
  }
  const count = countNow();
  // Another operation that is served at the limit, where the very next list is refused.
  const odd =
    last.operation === 'listPets'
      ? undefined
      : sent.find(
          ({ request }) =>
            request.operation === last.operation && request.path === last.path && request.body === last.body,
        );
  const servedOver =
    odd !== undefined && odd !== refusal && count.admitted.length === perMinute + 1 && oneByOne === 2
      ? odd
      : undefined;
  return {
    count,
    refusal,
    last: sent.at(-1),
    refusals: sent.filter((exchange) => !isAdmitted(exchange)).length,
    servedOver,
    closed: closedAtLimit >= 2 ? closed : undefined,
  };
}

/** What the current window still admits: as the target's headers tell of the minute, else by our own count. */
function quotaLeft(admitted: readonly RateReading[], perMinute: number): number {
  const current = sinceEdge(admitted);
  const told = current.filter(({ limit, remaining }) => limit === perMinute && remaining !== undefined);
  // Answers that were in flight together come in any order: the lowest of the last ones is what is left.
  const recent = told.slice(-IN_FLIGHT).map(({ remaining }) => remaining ?? 0);
  const byHeaders = recent.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...recent);
  return Math.min(byHeaders, perMinute - current.length);
}
