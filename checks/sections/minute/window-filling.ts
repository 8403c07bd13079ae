/** The filling of a window to its first refusal, with hardly a request too many. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import { countWindow, quotaLeft, showsEdges, type WindowCount } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { Probe } from '../../run/probe.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { freeKey, otherKeys } from '../keys/other-keys.ts';
import { admittedOn, isAdmitted } from './admitted.ts';
import { restFromNow } from './key-at-rest.ts';

/** How many requests are in flight at once while a window is filled. */
export const IN_FLIGHT = 50;
/** How far beyond the limit a target is followed that refuses nothing. */
const BEYOND_LIMIT = 30;
/** A window that cannot be filled in this time cannot be counted. */
const LONGEST_FILL = 4 * MINUTE;
/** The minutes of a fast clock are short, and a process that has just begun is slow: real time that it is given. */
const REAL_TIME_TO_FILL = 20 * SECOND;

/** One window that was filled to the first refusal. */
export interface FilledWindow {
  readonly count: WindowCount;
  /** The first refusal, a 429 where there is one; undefined where the target refused nothing within the bound. */
  readonly refusal: AnsweredExchange | undefined;
  readonly last: AnsweredExchange | undefined;
  /** Every refusal: more than one where several were in flight at the limit, which may earn the key a ban. */
  readonly refusals: readonly AnsweredExchange[];
  /** A request of another operation that was served at the limit, right before a list was refused. */
  readonly servedOver: AnsweredExchange | undefined;
  /** The first of two requests over the limit that got no answer at all, where other keys got theirs. */
  readonly closed: Exchange | undefined;
}

/** What a window is filled with. */
export interface Filling {
  readonly requests: Iterator<RequestSpec>;
  /** From when what this run sent on the key counts. */
  readonly since: number;
  /** What the limit is met with. */
  readonly last: RequestSpec;
}

function take<T>(source: Iterator<T>, count: number): T[] {
  return Array.from({ length: Math.max(0, count) }, () => source.next()).flatMap(({ done, value }) =>
    done === true ? [] : [value],
  );
}

const answered = (exchanges: readonly Exchange[]) => exchanges.filter(isAnswered);

function lost(exchange: Exchange | undefined): Unsettled {
  const why = exchange?.outcome.kind === 'failure' ? exchange.outcome.message : 'no answer';
  return new Unsettled(`the count was disturbed: ${why}`, exchange === undefined ? [] : [exchange]);
}

/**
 * Where connections break for another key as well, that is nobody's refusal. Asked oftener the second time, so that no
 * gateway which hands requests to its servers by turns gives a broken one to this key alone.
 */
async function askAnother(probe: Probe, key: Key, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    const other = freeKey(probe, otherKeys(probe.keys, key));
    if (other === undefined) return;
    const exchange = await probe.attempt(listPets({ limit: 1 }), other);
    if (!isAnswered(exchange)) throw lost(exchange);
  }
}

/** A window while it is filled. */
class OpenWindow {
  readonly sent: AnsweredExchange[] = [];
  /** The first refusal. */
  refusal: AnsweredExchange | undefined;
  /** The first request at the limit that got no answer, and how many there were. */
  closed: Exchange | undefined;
  closedAtLimit = 0;
  readonly #probe: Probe;
  readonly #key: Key;
  readonly #since: number;

  constructor(probe: Probe, key: Key, since: number) {
    this.#probe = probe;
    this.#key = key;
    this.#since = since;
  }

  /** Whatever this run sends on the key counts, also what another scene sends meanwhile. */
  admitted(): RateReading[] {
    return admittedOn(this.#probe.trace, this.#key, this.#since);
  }

  count(): WindowCount {
    return countWindow(this.admitted(), this.#key.limits.perMinute);
  }

  isFull(): boolean {
    return this.count().admitted.length >= this.#key.limits.perMinute;
  }

  /** Whether its end has come, as far as the target shows one. */
  isRefused(): boolean {
    return this.refusal !== undefined || this.closedAtLimit >= 2;
  }

  async send(specs: readonly RequestSpec[], inFlight: number): Promise<void> {
    const exchanges = await this.#probe.burst(specs, this.#key, {
      inFlight,
      enough: (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
    });
    this.#keep(exchanges);
    const notAdmitted = answered(exchanges).filter((exchange) => !isAdmitted(exchange));
    const refused = notAdmitted.filter((exchange) => this.#isRefusal(exchange));
    // Answers may overtake each other: the limit's own refusal came before a ban that was answered with another status.
    this.refusal ??= refused.find(({ outcome }) => outcome.status === 429) ?? refused[0];
    const failed = notAdmitted.find((exchange) => !this.#isRefusal(exchange));
    if (failed !== undefined) throw new Unsettled(`the count was disturbed: ${described(failed)}`, [failed]);
  }

  #keep(exchanges: readonly Exchange[]): void {
    const complete = answered(exchanges);
    if (complete.length < exchanges.length) {
      const [broken] = exchanges.filter((exchange) => !isAnswered(exchange));
      // At the limit a connection that is closed may be the target's refusal: a second one tells it from an accident.
      // A gateway that answers in the target's place refuses nothing.
      const refuses = broken?.outcome.kind === 'failure' && broken.outcome.reason !== 'unavailable';
      if (broken === undefined || !refuses || !this.isFull() || this.closedAtLimit >= 2) throw lost(broken);
      this.closedAtLimit += 1;
      this.closed ??= broken;
    }
    // Whoever is served in between was not refused: a target that refuses by closing closes every time.
    if (complete.some(isAdmitted)) [this.closedAtLimit, this.closed] = [0, undefined];
    this.sent.push(...complete);
  }

  /** A server error below the limit is no refusal: it is judged with its operation, and the count is spoilt. */
  #isRefusal({ outcome }: AnsweredExchange): boolean {
    return outcome.status < 500 || this.isFull();
  }
}

/**
 * Sends requests until the first refusal: as many as the target says are left, at once, and then as few at a time as
 * outrun a bucket's refill, so that hardly any request is in flight when the limit is reached.
 */
export const fill = (probe: Probe, key: Key, filling: Filling): Promise<FilledWindow> =>
  probe.lane(key).reserveFor(() => fillWindow(probe, key, filling));

/** As `fill`; where an answer was lost, so that nobody knows whether it counts, once more from rest. */
export async function fillUndisturbed(probe: Probe, key: Key, filling: Filling): Promise<FilledWindow> {
  try {
    return await fill(probe, key, filling);
  } catch (error) {
    const isLost = error instanceof Unsettled && error.evidence.some((exchange) => !isAnswered(exchange));
    if (!isLost) throw error;
    await restFromNow(probe, key);
    return fill(probe, key, { ...filling, since: probe.now() });
  }
}

async function fillWindow(probe: Probe, key: Key, { requests, since, last }: Filling): Promise<FilledWindow> {
  const { perMinute } = key.limits;
  const window = new OpenWindow(probe, key, since);
  if (window.admitted().length === 0) await window.send([listPets({ limit: 1 })], 1);
  const startedAt = probe.now();
  const elapsed = () => probe.now() - startedAt;
  // A bucket gives back while it is emptied, which takes the longer the slower the target is; so does a hidden edge.
  const bound = () => {
    const meanwhile = (elapsed() * perMinute) / MINUTE + (showsEdges(window.count()) ? 0 : perMinute);
    return perMinute + BEYOND_LIMIT + Math.ceil(perMinute / 10) + meanwhile;
  };
  const longest = Math.max(LONGEST_FILL, REAL_TIME_TO_FILL * probe.run.clockSpeed);
  const isGivenUp = () => window.count().admitted.length >= bound() || elapsed() >= longest;
  let atLimit = 0;
  let sentBefore = 0;
  let firstId = window.count().admitted[0]?.id;
  // As many as are left at once, and again after a window edge; then one by one until the limit is reached.
  while (!window.isRefused() && !isGivenUp()) {
    const left = quotaLeft(window.admitted(), perMinute, IN_FLIGHT);
    if (left > 0 && !window.isFull()) {
      await window.send(take(requests, left), IN_FLIGHT);
      continue;
    }
    // A new window has begun meanwhile: its first refusal is still to come.
    const current = window.count().admitted[0]?.id;
    if (current !== firstId) atLimit = 0;
    firstId = current;
    if (atLimit === 0) sentBefore = window.sent.length;
    if (window.closedAtLimit > 0) await askAnother(probe, key, 1);
    const together = togetherAtLimit(window.sent, perMinute, atLimit);
    await window.send(atLimit === 0 ? [last] : take(requests, together), together);
    atLimit += 1;
  }
  const { sent, refusal } = window;
  const closed = window.closedAtLimit >= 2 ? window.closed : undefined;
  if (closed !== undefined) await askAnother(probe, key, 2);
  const count = window.count();
  // Another operation that was admitted at the limit, where the very next list is refused. One that a bucket's refill may
  // have paid for was within the limit.
  const isOdd = last.operation !== 'listPets' && atLimit === 2 && count.verdict.kind === 'more';
  const odd = isOdd ? sent[sentBefore] : undefined;
  return {
    count,
    refusal,
    last: sent.at(-1),
    refusals: sent.filter((exchange) => !isAdmitted(exchange)),
    servedOver: odd === refusal ? undefined : odd,
    closed,
  };
}

/**
 * How many requests are sent at the limit at once. The next one is to be refused, unless a bucket gives a token back in
 * the time that a request takes. Only then are several sent together, since every one too many is a refusal that a ban
 * may count.
 */
function togetherAtLimit(sent: readonly AnsweredExchange[], perMinute: number, atLimit: number): number {
  const roundTrip = Math.max(0, ...sent.slice(-3).map(({ sentAt, receivedAt }) => receivedAt - sentAt));
  const refill = (perMinute * roundTrip) / MINUTE;
  return atLimit < 5 ? 1 : Math.min(IN_FLIGHT, Math.ceil(refill) + Math.floor(atLimit / 5));
}
