/**
 * Drives a key to its first refusal and on into the next window, once a key, and records what the checks of section 8
 * judge. A key is never sent a second request after a 429 before it was told that it may: that would earn it a ban.
 */
import { contract } from '../../spec/contract.ts';
import { type Scene, Unsettled } from '../harness/check.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../harness/exchange.ts';
import { type Key, MINUTE } from '../harness/key-pool.ts';
import { described } from '../harness/pets.ts';
import { type Probe, unanswered } from '../harness/probe.ts';
import { type RateReading, type RetryAfter, rateReading, retryAfter } from '../harness/rate-headers.ts';
import { addPet, getPet, listPets, type RequestSpec } from '../harness/requests.ts';
import type { PlanName } from '../harness/target-profile.ts';
import { countWindow, sinceEdge, type WindowCount } from '../harness/window-count.ts';
import { categoryId, namePrefix } from './added-animals.ts';
import { retrievals } from './get-animal.ts';

/** How many requests are in flight at once while a window is filled. */
export const IN_FLIGHT = 50;
const SECOND = 1000;
/** How far beyond the limit a target is followed that refuses nothing. */
const BEYOND_LIMIT = 30;
/** A window that cannot be filled in this time cannot be counted. */
const LONGEST_FILL = 4 * MINUTE;

/** A request that was to be admitted at a certain time, and what came. */
export interface Retry {
  readonly exchange: AnsweredExchange;
  readonly admitted: boolean;
}

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

/** More quota than a window of a minute gives back in this time. */
export interface OverGiven {
  readonly exchange: Exchange;
  /** Since the refusal. */
  readonly seconds: number;
  readonly given: number;
  readonly most: number;
}

export interface MinuteMeasurement {
  readonly key: Key;
  /** The first window, and the same again from rest where its count was not the plan's. */
  readonly windows: readonly FilledWindow[];
  readonly told: RetryAfter;
  /** After exactly the time that Retry-After told; undefined where it told none that can be waited for. */
  readonly afterRetryAfter: Retry | undefined;
  /** After X-RateLimit-Reset, by the target's clock. */
  readonly afterReset: Retry | undefined;
  /**
   * The minute after the reset, filled once more where the plan is small enough to pay for it; twice if it was short.
   * What is given back bit by bit is whole again after a minute at rest.
   */
  readonly next: readonly FilledWindow[];
  /** Admitted requests of this run that a minute that looks back still held when the next one was counted. */
  readonly heldBefore: number;
  /** The length of the window in milliseconds, where it shows to be shorter than a minute. */
  readonly shortWindow: number | undefined;
  /** Only where quota comes back bit by bit. */
  readonly overGiven: OverGiven | undefined;
  /**
   * Whether the target gives quota back bit by bit, as a sliding window or a token bucket does; undefined where its
   * headers do not describe the minute.
   */
  readonly refilling: boolean | undefined;
}

/** Everything of the day's quota aside, an answer below 400 or one about the request itself was admitted. */
export const isAdmitted = ({ outcome }: AnsweredExchange): boolean => isAdmittedStatus(outcome.status);

export const isAdmittedStatus = (status: number): boolean =>
  status < 500 && ![401, 403, 429].includes(status);

/** The status by which limits, operations and filters vary over a burst, so that its requests find out more. */
function* variety(
  probe: Probe,
  key: Key,
  animals: readonly bigint[],
  category: bigint,
): Generator<RequestSpec> {
  const writes = probe.permits('writes');
  // A few of each operation first: what is wrong on one plan only shows there.
  for (const id of animals.slice(0, 3)) yield getPet(id);
  yield getPet(2n ** 61n + probe.random(`unknown to ${key.name}`, 2n ** 61n));
  if (writes) {
    for (let index = 1; index <= ADDED_TOGETHER; index += 1) {
      yield addPet({
        name: `${namePrefix(probe.runId)} together ${key.name} ${index}`,
        categoryId: category,
        status: 'sold',
      });
    }
    yield addPet({ name: `${namePrefix(probe.runId)} refused ${key.name}` });
  }
  const { minimum, maximum } = contract.limit;
  const filters = [undefined, ...contract.statuses];
  // Another key starts elsewhere, so that small plans together see every limit.
  const offset = Number(probe.random(`offset of ${key.name}`, BigInt(maximum)));
  for (let index = 0; ; index += 1) {
    const limit = minimum + ((index + offset) % maximum);
    const status = filters[Math.floor(index / maximum) % filters.length];
    yield listPets(status === undefined ? { limit } : { limit, status });
  }
}

/** Animals that a burst adds at the same moment, which is when careless ids collide. */
export const ADDED_TOGETHER = 8;

function take<T>(source: Iterator<T>, count: number): T[] {
  return Array.from({ length: Math.max(0, count) }, () => source.next()).flatMap(({ done, value }) =>
    done === true ? [] : [value],
  );
}

/** The requests of this run on a key since it was last at rest for a minute; undefined where that is unknown. */
function sinceRest(readings: readonly RateReading[], now: number): readonly RateReading[] | undefined {
  const own = readings.filter(({ status }) => status !== 429);
  const first = own[0];
  if (first === undefined || first.sentAt > now - MINUTE) return own;
  // Over more than a minute: only a fixed window, whose reset stands still, tells which requests it holds.
  const last = own.at(-1);
  if (last === undefined || now - last.receivedAt >= MINUTE) return [];
  const inWindow = own.filter(
    ({ reset, sentAt }) => reset !== undefined && reset === last.reset && sentAt > now - MINUTE,
  );
  const standsStill = inWindow.length >= 3 && inWindow.every(({ limit }) => limit === last.limit);
  return standsStill ? inWindow : undefined;
}

/** A burst takes this long at most on a target of ordinary speed; a window that ends sooner is waited out. */
const BURST = 5 * SECOND;

/**
 * Brings a key to where its minute can be counted: what it spent in the current window is known, and the window goes
 * on for long enough. Returns those requests.
 */
export async function atStart(probe: Probe, key: Key): Promise<readonly RateReading[]> {
  const readings = probe.readingsOf(key);
  const last = readings.at(-1);
  const ends =
    last?.reset !== undefined && last.limit === key.limits.perMinute
      ? probe.targetClock.certainlyReached(last.reset + SECOND)
      : undefined;
  if (ends !== undefined && ends > probe.now() && ends < probe.now() + BURST)
    await probe.waitUntil(ends, `the next window of key ${key.name}`);
  const before = sinceRest(probe.readingsOf(key), probe.now());
  if (before !== undefined)
    return before.filter(
      ({ reset }) => ends === undefined || reset === undefined || ends > probe.now() || reset !== last?.reset,
    );
  await rest(probe, key);
  return [];
}

const answered = (exchanges: readonly Exchange[]) => exchanges.filter(isAnswered);

/**
 * Sends requests until the first refusal: as many as the target says are left, at once, and then as few at a time as
 * outrun a bucket's refill, so that hardly any request is in flight when the limit is reached.
 */
async function fill(
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
    // A new window has begun meanwhile, as after an interruption: its first refusal is still to come.
    if (countNow().admitted[0]?.id !== window) oneByOne = 0;
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

/** When the target's clock has certainly reached a time of it; without a known clock ours stands in. */
const reached = (probe: Probe, time: number) => probe.targetClock.certainlyReached(time) ?? time;

/** The whole measurement of a key's minute; the first check that needs it pays. */
export function minuteOf(key: Key, again: boolean): Scene<MinuteMeasurement> {
  return {
    id: `minute:${key.name}`,
    permit: 'exhaust',
    spends: { requests: key.limits.perMinute * (again ? 2 : 1) + 5, animals: ADDED_TOGETHER },
    async play(probe) {
      const category = await categoryId(probe);
      const animals = (await probe.play(retrievals).catch(() => []))
        .filter(({ exchange }) => exchange.outcome.status === 200)
        .map(({ known }) => known.id);
      const requests = variety(probe, key, animals, category);
      const subject = refusedOperation(probe, key, animals, category);

      const before = await atStart(probe, key);
      const windows = [await fill(probe, key, requests, before[0]?.sentAt ?? probe.now(), subject)];
      const [first] = windows;
      const refusal = first?.refusal;
      if (first === undefined || refusal === undefined) {
        return {
          key,
          windows,
          told: { kind: 'absent' },
          afterRetryAfter: undefined,
          afterReset: undefined,
          next: [],
          heldBefore: 0,
          shortWindow: undefined,
          refilling: undefined,
          overGiven: undefined,
        };
      }
      const after = await afterRefusal(probe, key, refusal);
      const next: FilledWindow[] = [];
      let heldBefore = 0;
      if (again && first.count.verdict.kind === 'exact' && after.afterReset?.admitted === true) {
        const since = await wholeAgain(probe, key, refusal, first, after);
        heldBefore = probe
          .readingsOf(key, since - MINUTE)
          .filter(({ status, receivedAt }) => receivedAt <= since && isAdmittedStatus(status)).length;
        next.push(await fill(probe, key, requests, since, listPets({ limit: 1 })));
        // One that fell short is counted again, and once more where every other one is whole.
        while (
          after.refilling === false &&
          next.length < 3 &&
          next[0]?.count.verdict.kind === 'fewer' &&
          (next.length === 1 || next[1]?.count.verdict.kind === 'exact')
        ) {
          await rest(probe, key);
          next.push(await fill(probe, key, requests, probe.now(), listPets({ limit: 1 })));
        }
      }
      // Not the plan's number: the same once more from rest, so that an earlier user of the key explains nothing.
      if (first.count.verdict.kind !== 'exact') {
        await rest(probe, key, after.edge);
        windows.push(await fill(probe, key, requests, probe.now(), listPets({ limit: 1 })));
      }
      const { told, afterRetryAfter, afterReset, refilling, shortWindow } = after;
      const overGiven =
        refilling === true && first.count.verdict.kind === 'exact'
          ? overGivenOf(probe, key, first.count, refusal, after.admitted)
          : undefined;
      return {
        key,
        windows,
        told,
        afterRetryAfter,
        afterReset,
        next,
        heldBefore,
        refilling,
        shortWindow,
        overGiven,
      };
    },
  };
}

/**
 * Waits until the key has made no request for a whole minute: every kind of window is then fresh. A window that is
 * aligned to the clock ends where the refusal said, and every minute after; the wait goes on to the next such edge, so
 * that none falls into the burst.
 */
async function rest(probe: Probe, key: Key, edge?: number): Promise<void> {
  const last = probe.readingsOf(key).at(-1);
  const rested = (last?.receivedAt ?? 0) + MINUTE + SECOND;
  const until =
    edge === undefined ? rested : edge + MINUTE * Math.max(0, Math.ceil((rested - edge) / MINUTE));
  await probe.waitUntil(until, `key ${key.name} to be at rest for a minute`);
}

/** A request this long before a count is taken to belong to it: a bucket gives a part of it back, which blurs the count. */
const AT_ONCE = 20 * SECOND;

/** Waits until the key has its whole quota after a refusal; returns the time from which requests count towards it. */
async function wholeAgain(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  filled: FilledWindow,
  after: Awaited<ReturnType<typeof afterRefusal>>,
): Promise<number> {
  if (after.fresh === true) return refusal.receivedAt;
  // Headers of the day hide whether all of it came back at once.
  if (after.refilling === undefined) {
    await rest(probe, key, after.edge);
    return probe.now();
  }
  // The requests of the burst leave a sliding window in this time; a bucket is full again.
  const burstEnded = filled.last?.receivedAt ?? refusal.receivedAt;
  const answeredAt = () => probe.readingsOf(key, burstEnded + 1).map(({ receivedAt }) => receivedAt);
  const spentUntil = Math.max(burstEnded, ...answeredAt().filter((at) => at < burstEnded + AT_ONCE));
  await probe.waitUntil(spentUntil + MINUTE + SECOND, `key ${key.name} to have its whole quota`);
  if (!after.refilling) return refusal.receivedAt;
  // A later request counts; long before, a bucket gave it back.
  if (answeredAt().some((at) => at > spentUntil && at < probe.now() - AT_ONCE)) await rest(probe, key);
  return probe.now();
}

/** Another operation on every key, so that the first refusals together cover them all without a request too many. */
function refusedOperation(probe: Probe, key: Key, animals: readonly bigint[], category: bigint): RequestSpec {
  const turn =
    probe.keys.filter(({ roles }) => roles.includes('exhaust')).findIndex(({ name }) => name === key.name) %
    3;
  if (turn === 1 && probe.permits('writes')) {
    return addPet({
      name: `${namePrefix(probe.runId)} refused over the limit ${key.name}`,
      categoryId: category,
      status: 'sold',
    });
  }
  const [animal] = animals;
  return turn === 2 && animal !== undefined ? getPet(animal) : listPets({ limit: 1 });
}

/** A window that has just begun holds the request that asks for it, and one more at most. */
const FRESH_MARGIN = 2;

/**
 * What a window that looks back gave back before its minute was over: a bucket its refill and no more, a sliding one
 * nothing but what was spent before the burst. Somebody else who uses the key leaves less, never more.
 */
function overGivenOf(
  probe: Probe,
  key: Key,
  { admitted }: FilledWindow['count'],
  refusal: AnsweredExchange,
  later: readonly RateReading[],
): OverGiven | undefined {
  const last = admitted.findLast(({ receivedAt }) => receivedAt < refusal.receivedAt);
  if (last === undefined) return undefined;
  for (const { id, limit, remaining, sentAt, receivedAt } of later) {
    if (limit !== key.limits.perMinute || remaining === undefined) continue;
    if (receivedAt > last.sentAt + MINUTE - 2 * SECOND) continue;
    const own = probe
      .readingsOf(key, refusal.receivedAt)
      .filter((other) => other.sentAt <= sentAt && isAdmittedStatus(other.status)).length;
    const left = admitted.filter((spent) => spent.sentAt + MINUTE - 2 * SECOND <= receivedAt).length;
    const refilled = ((receivedAt - refusal.sentAt) * limit) / MINUTE;
    const most = Math.floor(Math.max(refilled, left)) + 2;
    const exchange = probe.find(id);
    if (remaining + own > most && exchange !== undefined)
      return { exchange, seconds: (sentAt - refusal.receivedAt) / SECOND, given: remaining + own, most };
  }
  return undefined;
}

/** Waits as told after a refusal and asks again, at the two moments that the target named. */
async function afterRefusal(probe: Probe, key: Key, refusal: AnsweredExchange) {
  const told = retryAfter(refusal.outcome.headers, MINUTE / SECOND);
  const reading = rateReading(refusal);
  const describesMinute = reading.limit === key.limits.perMinute;
  const admitted: RateReading[] = [];
  const ask = async (): Promise<Retry> => {
    // The list in which an addition that was refused would show.
    const exchange = await probe.attempt(listPets({ limit: contract.limit.maximum, status: 'sold' }), key);
    if (!isAnswered(exchange)) throw unanswered(exchange);
    if (isAdmitted(exchange)) admitted.push(rateReading(exchange));
    return { exchange, admitted: isAdmitted(exchange) };
  };
  const retryAt =
    told.kind === 'delay' && told.milliseconds > 0
      ? refusal.receivedAt + told.milliseconds
      : told.kind === 'date'
        ? reached(probe, told.time)
        : undefined;
  // What is given back bit by bit may be taken by somebody else, or by another check, right before this request. Its
  // refusal then names a later reset: it is waited for once more. A window that is full again at once cannot be emptied
  // so: there the first answer stands.
  const askPatiently = async (): Promise<Retry> => {
    const first = await ask();
    let retry = first;
    for (let turn = 0; turn < 3 && !retry.admitted; turn += 1) {
      const again = rateReading(retry.exchange).reset;
      const wait = retryAfter(retry.exchange.outcome.headers, MINUTE / SECOND);
      if (retry.exchange.outcome.status !== 429 || !describesMinute) return first;
      if (reading.reset === undefined || again === undefined || again <= reading.reset) return first;
      const at =
        wait.kind === 'delay'
          ? retry.exchange.receivedAt + wait.milliseconds
          : wait.kind === 'date'
            ? reached(probe, wait.time)
            : undefined;
      if (at === undefined || at <= retry.exchange.receivedAt || at > retry.exchange.receivedAt + MINUTE)
        return first;
      await probe.waitUntil(at, `Retry-After of key ${key.name}`);
      retry = await ask();
    }
    if (!retry.admitted) return first;
    const ownBetween = probe
      .readingsOf(key, refusal.receivedAt)
      .some(({ id, status }) => id !== retry.exchange.id && isAdmittedStatus(status));
    const { limit, remaining } = rateReading(retry.exchange);
    const fresh =
      limit === key.limits.perMinute && remaining !== undefined && remaining >= limit - FRESH_MARGIN;
    return ownBetween || !fresh ? retry : first;
  };
  // Whole seconds may be rounded down: the limit has reset when the second that Reset names is over.
  const resetAt =
    reading.reset !== undefined && describesMinute ? reached(probe, reading.reset + SECOND) : undefined;
  const waitable = (at: number | undefined) =>
    at !== undefined && at > refusal.receivedAt && at <= refusal.receivedAt + 2 * MINUTE;

  let afterRetryAfter: Retry | undefined;
  let afterReset: Retry | undefined;
  // The document itself calls Reset the time at which the limit resets: where it comes first, it is taken at its word.
  if (resetAt !== undefined && waitable(resetAt) && (retryAt === undefined || resetAt < retryAt - SECOND)) {
    await probe.waitUntil(resetAt, `X-RateLimit-Reset of key ${key.name}`);
    afterReset = await askPatiently();
  }
  if (retryAt !== undefined && waitable(retryAt)) {
    await probe.waitUntil(retryAt, `Retry-After of key ${key.name}`);
    afterRetryAfter = await askPatiently();
  }
  if (afterReset === undefined && resetAt !== undefined && resetAt <= refusal.receivedAt + 2 * MINUTE) {
    // A request in the very second that Reset names is one at the reset; it may have taken all that was given back.
    if (afterRetryAfter !== undefined && afterRetryAfter.exchange.sentAt >= resetAt - 2 * SECOND)
      afterReset = afterRetryAfter;
    else {
      await probe.waitUntil(resetAt, `X-RateLimit-Reset of key ${key.name}`);
      afterReset = await askPatiently();
    }
  }
  const firstAdmitted = admitted[0];
  const describes = firstAdmitted?.limit === key.limits.perMinute && describesMinute;
  const resetMoved =
    describes && firstAdmitted.reset !== undefined && reading.reset !== undefined
      ? firstAdmitted.reset - reading.reset
      : undefined;
  const fresh =
    describes && firstAdmitted.remaining !== undefined
      ? firstAdmitted.remaining >= key.limits.perMinute - FRESH_MARGIN
      : undefined;
  const edge = retryAt !== undefined && waitable(retryAt) ? retryAt + SECOND : undefined;
  // A new window has a reset of its own, most of a window later; what is given back bit by bit moves on bit by bit.
  // A whole quota with a reset well ahead that has moved by less than a minute: the window is shorter than that.
  const ahead =
    describes && firstAdmitted.reset !== undefined
      ? firstAdmitted.reset -
        (probe.targetClock.at(firstAdmitted.receivedAt)?.earliest ?? firstAdmitted.receivedAt)
      : 0;
  const shortWindow =
    fresh === true &&
    resetMoved !== undefined &&
    resetMoved > 5 * SECOND &&
    resetMoved < MINUTE - 2 * SECOND &&
    ahead > 5 * SECOND
      ? resetMoved
      : undefined;
  let refilling = fresh === undefined ? undefined : !fresh && (resetMoved ?? 0) < MINUTE / 4;
  // A bucket may name its next token where it refuses, and the time it is full where it admits: that Reset tells
  // nothing, but Remaining rises without a request.
  if (fresh === false && refilling === false && firstAdmitted?.remaining !== undefined) {
    await probe.waitUntil(
      probe.now() + Math.max(2 * SECOND, (4 * MINUTE) / key.limits.perMinute),
      `quota that key ${key.name} may be given back`,
    );
    const later = await ask();
    const { remaining } = rateReading(later.exchange);
    refilling = later.admitted && remaining !== undefined && remaining > firstAdmitted.remaining;
  }
  // Much less than a bucket would hold, and long before a minute is over: a moment later a window that looks back for
  // less than a minute has given back too much.
  const waited = firstAdmitted === undefined ? 0 : firstAdmitted.sentAt - refusal.receivedAt;
  if (
    refilling === true &&
    waited > 5 * SECOND &&
    waited < MINUTE - 10 * SECOND &&
    (firstAdmitted?.remaining ?? 0) + admitted.length < (waited * key.limits.perMinute) / MINUTE - 2
  ) {
    await probe.waitUntil(probe.now() + 5 * SECOND, `quota that key ${key.name} may be given back`);
    await ask();
  }
  return { told, afterRetryAfter, afterReset, admitted, edge, fresh, shortWindow, refilling };
}

/** Above this many requests a minute a plan's second window is not paid for. */
const MOST_FOR_SECOND_WINDOW = 300;

/** The keys that may be driven to 429, smallest plan first; one a plan is enough. */
export function exhaustKeys(probe: Pick<Probe, 'keys'>): Key[] {
  const byPlan = new Map<PlanName, Key>();
  for (const key of probe.keys.filter(({ roles }) => roles.includes('exhaust'))) {
    // A key that may also be banned is spared where another of the plan is there.
    const other = byPlan.get(key.plan);
    if (other === undefined || (other.roles.includes('ban') && !key.roles.includes('ban')))
      byPlan.set(key.plan, key);
  }
  return [...byPlan.values()].sort((a, b) => a.limits.perMinute - b.limits.perMinute);
}

/** The measurement of every key that may be driven to 429; the smallest plan's goes on into the next window. */
export function minuteScenes(
  probe: Pick<Probe, 'keys'>,
): { readonly key: Key; readonly scene: Scene<MinuteMeasurement> }[] {
  return exhaustKeys(probe).map((key, index) => ({
    key,
    scene: minuteOf(key, index === 0 && key.limits.perMinute <= MOST_FOR_SECOND_WINDOW),
  }));
}
