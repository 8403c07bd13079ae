/** Reaches a key's limit, and goes on after a 429 as no client should, until a ban shows. */
import { contract } from '../../../spec/contract.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { countWindow } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { unanswered } from '../../run/interference.ts';
import type { Probe } from '../../run/probe.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { inLetters, namePrefix } from '../add/scenes.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { atStart, rest, restFromNow } from '../minute/key-at-rest.ts';
import { exhaustKeys } from '../minute/scenes.ts';
import { toldEnd } from '../minute/told-time.ts';
import { IN_FLIGHT } from '../minute/window-filling.ts';
import {
  PATIENCE_OF_TARGET,
  type Provocation,
  type Standing,
  standingAfter,
  standingAtLimit,
} from './reading.ts';

/** Requests that go over the limit at the same moment, when the limit is reached: fewer than bans commonly begin at. */
const OVERSHOOT = 6;
/**
 * How long before the end of a window the requests over the limit begin at most, unless a few round trips take longer:
 * other keys, whose windows began with this one's, are to have quota again before a short ban is over.
 */
const LEAD = 10 * SECOND;
const LONGEST_LEAD = 2 * LEAD;
/** A refusal that asks for less is a bucket's, which does not stay exhausted. */
const STAYS_EXHAUSTED = 10 * SECOND;

/** What a provocation costs where the target counts exactly and bans nobody. */
export const provocationCost = ({ limits }: Key): number => limits.perMinute + OVERSHOOT + PATIENCE_OF_TARGET;

/** What is known of the store. */
interface Store {
  readonly animals: readonly bigint[];
  readonly category: bigint;
}

/** Lists that a target might forget to limit, the likeliest first: a ban may soon end the turns. */
const OVER_LIMIT_LISTS = [
  { limit: contract.limit.maximum, status: 'sold' },
  {},
  { limit: contract.limit.maximum },
  { status: 'pending' },
];

/** Over-limit requests of every operation in turn; lists were refused before. */
function* overLimit({ run }: Probe, { animals, category }: Store): Generator<RequestSpec> {
  for (let turn = 0; ; turn += 1) {
    const [animal] = animals;
    if (animal !== undefined) yield getPet(animal);
    if (run.permissions.has('writes')) {
      yield repeatable((again) =>
        addPet({
          name: `${namePrefix(run.id)}${again} x${inLetters(turn)}`,
          categoryId: category,
          status: 'sold',
        }),
      );
    }
    yield listPets(OVER_LIMIT_LISTS[turn % OVER_LIMIT_LISTS.length]);
  }
}

/** Sends one request with this key. @throws Unsettled where it gets no answer */
export async function answer(probe: Probe, key: Key, spec: RequestSpec): Promise<AnsweredExchange> {
  const exchange = await probe.attempt(spec, key);
  if (!isAnswered(exchange)) throw unanswered(exchange);
  return exchange;
}

/**
 * Sends the quota and a few more all but together, waits until the window is about to end, and then goes on as no
 * client should until a ban shows. So late, the ban outlasts the window, and its own end can be told from the window's.
 *
 * @throws Unsettled where nothing is refused
 */
export async function provoke(probe: Probe, key: Key, store: Store): Promise<Provocation> {
  const { admitted, refused, last, roundTrip } = await reachLimitAtOnce(probe, key);
  const excess = new Excess(probe, key, refused, overLimit(probe, store));
  // What a window's edge gave back in between is spent: only then is anything over the limit.
  await excess.send(() => excess.standing.first !== undefined, key.limits.perMinute);
  const { first, ban } = excess.standing;
  if (first === undefined)
    throw new Unsettled(`no request of key ${key.name} was refused`, last === undefined ? [] : [last]);
  if (ban === undefined) await untilWindowEnds(probe, key, first, roundTrip);
  const enough = excess.refusals + PATIENCE_OF_TARGET;
  await excess.send(
    () => excess.refusals >= enough || excess.standing.ban !== undefined,
    // A new window may begin meanwhile, or a bucket may give back as much, and a little more while that is spent.
    2 * key.limits.perMinute + PATIENCE_OF_TARGET,
  );
  return { key, admitted, refused, rounds: excess.rounds };
}

/** A key whose limit was reached. */
interface Reached {
  readonly admitted: readonly RateReading[];
  /** In the order of receipt. */
  readonly refused: readonly AnsweredExchange[];
  readonly last: AnsweredExchange | undefined;
  /** The longest, in milliseconds. */
  readonly roundTrip: number;
}

/** Reaches the limit of a key at once: where a window ended meanwhile, once more after a minute at rest. */
async function reachLimitAtOnce(probe: Probe, key: Key): Promise<Reached> {
  const reach = () => probe.lane(key).reserveFor(() => reachLimit(probe, key));
  const reached = await reach();
  const { admitted, all } = countWindow(reached.admitted, key.limits.perMinute);
  if (reached.refused.length > 0 || all.length === admitted.length) return reached;
  await restFromNow(probe, key);
  return reach();
}

/** Spends the minute of a key, the last requests of it and a few more at the same moment. */
async function reachLimit(probe: Probe, key: Key): Promise<Reached> {
  const before = await startFrom(probe, key);
  const left = key.limits.perMinute - before.length;
  const together = Math.min(left, 20);
  const lists = (count: number) => Array.from({ length: Math.max(0, count) }, () => listPets({ limit: 1 }));
  const filling = await probe.burst(lists(left - together), key, {
    inFlight: IN_FLIGHT,
    enough: (exchange) => !isAnswered(exchange),
  });
  const reaching = await probe.burst(lists(together + OVERSHOOT), key, { inFlight: together + OVERSHOOT });
  const sent = [...filling, ...reaching].filter(isAnswered);
  return {
    admitted: [...before, ...sent.filter(isAdmitted).map(rateReading)],
    refused: sent.filter((exchange) => !isAdmitted(exchange)).sort((a, b) => a.receivedAt - b.receivedAt),
    last: sent.at(-1),
    roundTrip: Math.max(...reaching.map(({ sentAt, receivedAt }) => receivedAt - sentAt)),
  };
}

/** What the key spent in the minute before. Where its minute was measured as well, that is to be over and past. */
async function startFrom(probe: Probe, key: Key): Promise<readonly RateReading[]> {
  const isMeasured = exhaustKeys(probe.keys).some(({ name }) => name === key.name);
  if (isMeasured && probe.run.permissions.has('exhaust')) await rest(probe, key);
  return atStart(probe, key);
}

/** Waits until the window of the first refusal is about to end, where it lasts long enough. */
async function untilWindowEnds(probe: Probe, key: Key, first: AnsweredExchange, roundTrip: number) {
  const end = toldEnd(probe.trace, first);
  if (end === undefined) return;
  const length = end - first.receivedAt;
  if (length <= STAYS_EXHAUSTED || length >= 2 * MINUTE) return;
  const oneByOne = Math.min(LEAD, roundTrip * PATIENCE_OF_TARGET);
  const lead = Math.min(LONGEST_LEAD, Math.max(3 * SECOND, oneByOne, 6 * roundTrip));
  await probe.waitUntil(end - lead, `the window of key ${key.name} to be about to end`);
}

/** Requests over a key's limit, and what came of them. */
class Excess {
  readonly rounds: AnsweredExchange[][] = [];
  standing: Standing;
  /** Requests that were refused, those of the burst among them. */
  refusals: number;
  readonly #probe: Probe;
  readonly #key: Key;
  readonly #requests: Iterator<RequestSpec>;

  constructor(probe: Probe, key: Key, refused: readonly AnsweredExchange[], requests: Iterator<RequestSpec>) {
    this.#probe = probe;
    this.#key = key;
    this.#requests = requests;
    this.standing = standingAtLimit(refused, probe.trace);
    this.refusals = refused.length;
  }

  /** Sends until that is enough, and at most so many requests. */
  async send(isEnough: () => boolean, atMost: number): Promise<void> {
    for (let left = atMost; left > 0 && !isEnough(); ) {
      const count = Math.min(left, this.#together());
      await this.#sendTogether(count);
      left -= count;
    }
  }

  /**
   * How many requests are sent at once: one, but for a slow target as many as come to an end before its window does. A
   * ban may be due only for refusals in a row: of a bucket, that many before it gives back a single request. Of what a
   * new window has given back, all that is left.
   */
  #together(): number {
    const recent = this.rounds.slice(-3).flat().slice(-3);
    const last = recent.at(-1);
    if (last === undefined) return 1;
    const { perMinute } = this.#key.limits;
    const roundTrip = Math.min(...recent.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
    const { limit, remaining = 0 } = rateReading(last);
    const left = this.standing.isGivenBack && limit === perMinute ? remaining : 0;
    const isRefilled = this.rounds.some((round) => round.some(isAdmitted));
    const pace = PATIENCE_OF_TARGET / Math.min(LEAD / 2, isRefilled ? MINUTE / perMinute : MINUTE);
    return Math.min(IN_FLIGHT, Math.max(1, left, Math.ceil(roundTrip * pace)));
  }

  async #sendTogether(count: number): Promise<void> {
    // What quota was given back is spent with lists, which leave nothing behind.
    const specs = Array.from(
      { length: count },
      () => (!this.standing.isGivenBack && this.#requests.next().value) || listPets({ limit: 1 }),
    );
    const round = await Promise.all(specs.map((spec) => answer(this.#probe, this.#key, spec)));
    round.sort((a, b) => a.receivedAt - b.receivedAt);
    this.rounds.push(round);
    this.standing = standingAfter(this.standing, round, this.#probe.trace);
    this.refusals += round.filter((exchange) => !isAdmitted(exchange)).length;
  }
}
