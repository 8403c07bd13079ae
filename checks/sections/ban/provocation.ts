/** Goes on after a 429 as no client should, on a key that may be banned, until a ban shows. */
import { contract } from '../../../spec/contract.ts';
import { countWindow, type WindowCount } from '../../limits/window-count.ts';
import { CountInterrupted, type Scene, Unsettled } from '../../run/check.ts';
import { unanswered } from '../../run/interference.ts';
import { type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { categoryId, inLetters, namePrefix } from '../add/scenes.ts';
import { freeKey, otherKeys } from '../keys/other-keys.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { atStart, rest, restFromNow } from '../minute/key-at-rest.ts';
import { servedAnimals } from '../minute/requests.ts';
import { minuteScenes } from '../minute/scenes.ts';
import { latestEnd, toldEnd } from '../minute/told-time.ts';
import { IN_FLIGHT } from '../minute/window-filling.ts';
import { answersOtherwise, isBan, isSameLimit } from './answers.ts';

/** Requests that go over the limit at the same moment, when the limit is reached: fewer than bans commonly begin at. */
const OVERSHOOT = 6;
/** How many requests after a 429 are sent before the target is taken not to ban. */
const PATIENCE_OF_TARGET = 60;
/** How long before the end of a window they begin at most. */
const LONGEST_LEAD = 20 * SECOND;

/** Lists that a target might forget to limit, the likeliest first: a ban may soon end the turns. */
const OVER_LIMIT_LISTS = [
  { limit: contract.limit.maximum, status: 'sold' },
  {},
  { limit: contract.limit.maximum },
  { status: 'pending' },
];

/** Over-limit requests of every operation in turn; lists were refused before. */
function* overLimit(probe: Probe, animals: readonly bigint[], category: bigint): Generator<RequestSpec> {
  for (let turn = 1; ; turn += 1) {
    const [animal] = animals;
    if (animal !== undefined) yield getPet(animal);
    if (probe.permits('writes')) {
      yield repeatable((again) =>
        addPet({
          name: `${namePrefix(probe.runId)}${again} x${inLetters(turn - 1)}`,
          categoryId: category,
          status: 'sold',
        }),
      );
    }
    yield listPets(OVER_LIMIT_LISTS[(turn - 1) % OVER_LIMIT_LISTS.length]);
  }
}

export async function answer(probe: Probe, key: Key, spec: RequestSpec): Promise<AnsweredExchange> {
  const exchange = await probe.attempt(spec, key);
  if (!isAnswered(exchange)) throw unanswered(exchange);
  return exchange;
}

/** What going on after a 429 led to, before the end of the ban is waited for. */
interface Provocation {
  readonly key: Key;
  readonly count: WindowCount;
  readonly refusals: readonly AnsweredExchange[];
  readonly served: readonly AnsweredExchange[];
  readonly servedBeyondRefill: readonly AnsweredExchange[];
  readonly first: AnsweredExchange;
  /** Every answer that was a ban's, the first one first: several requests may be in flight when it begins. */
  readonly bans: readonly AnsweredExchange[];
  readonly after: number;
  /** Whether a ban showed, or as many requests were refused after a 429 as may be needed for one. */
  readonly enough: boolean;
  readonly others: readonly OtherKey[];
}

/** What a key that did nothing wrong got while another was or might have been banned. */
export interface OtherKey {
  readonly key: Key;
  readonly exchange: AnsweredExchange;
  readonly banned: boolean;
}

/** A ban that does not tell its end is taken to last this long at least. */
const UNTOLD_BAN = 10 * SECOND;

/**
 * Requests with other keys, one of the same plan and one of another: whose bans are counted by plan, these show it.
 *
 * @param until when the ban ends, as far as it says so
 */
export async function tryOthers(
  probe: Probe,
  key: Key,
  first: AnsweredExchange,
  until = probe.now() + UNTOLD_BAN,
): Promise<OtherKey[]> {
  const all = otherKeys(probe, key);
  // The largest plan feels a request the least.
  const unlike = all
    .filter(({ plan }) => plan !== key.plan)
    .sort((a, b) => b.limits.perMinute - a.limits.perMinute);
  const alike = all.filter(({ plan }) => plan === key.plan);
  const untried = new Set([alike, unlike].filter((keys) => keys.length > 0));
  // Of a ban that is not waited for anyway, no longer than another key's minute and the next take to be counted.
  const last = until - probe.now() > LONGEST_BAN ? probe.now() + 3 * MINUTE : until - SECOND;
  const tried: OtherKey[] = [];
  for (;;) {
    for (const keys of untried) {
      const other = freeKey(probe, keys);
      if (other === undefined) continue;
      untried.delete(keys);
      const exchange = await answer(probe, other, listPets({ limit: 1 }));
      tried.push({ key: other, exchange, banned: answersOtherwise(exchange, first) });
    }
    if ([...untried].some((keys) => freeKey(probe, keys) !== undefined)) continue;
    // Quota may come back sooner than a key's last answer tells: its own check finds out meanwhile.
    const next = probe.now() + SECOND;
    if (untried.size === 0 || next > last || probe.storedKey() !== undefined) return tried;
    await probe.waitUntil(next, `another key to be free while ${key.name} is banned`);
  }
}

/** A refusal that asks for less is a bucket's, which does not stay exhausted. */
const STAYS_EXHAUSTED = 10 * SECOND;

/**
 * Sends the quota and a few more all but together, waits until the window is about to end, and then goes on as no
 * client should until a ban shows. So late, the ban outlasts the window, and its own end can be told from the window's.
 */
export function provocationOf(key: Key): Scene<Provocation> {
  return {
    id: `ban:${key.name}`,
    permit: 'ban',
    spends: { requests: key.limits.perMinute + OVERSHOOT + PATIENCE_OF_TARGET + 2 },
    async play(probe) {
      const category = await categoryId(probe);
      const animals = await servedAnimals(probe);
      const { count, sent, refused, roundTrip } = await reachLimitAtOnce(probe, key);
      const goingOn = new GoingOn(probe, key, refused, overLimit(probe, animals, category));
      const refusal = await untilRefused(key, goingOn);
      if (refusal === undefined) throw new Unsettled(`key ${key.name} was refused nothing`, sent.slice(-1));
      if (goingOn.ban === undefined) await beforeWindowEnds(probe, key, refusal, roundTrip);
      const enough = await untilBanned(key, goingOn);
      // Quota may have been given back since, and spent: the limit's last first refusal is what a ban differs from.
      const { first = refusal } = goingOn;
      const refusals = goingOn.refusals().filter((exchange) => !isBan(probe, exchange, first));
      const answers = [...refused.slice(-1), ...goingOn.answers];
      const served = servedBetween(answers, key.limits.perMinute);
      const bans = goingOn.refusals().filter((exchange) => isBan(probe, exchange, first));
      return {
        key,
        count,
        refusals,
        served,
        servedBeyondRefill: beyondRefill(served, answers, key.limits.perMinute),
        first,
        bans,
        after: refusals.length + Math.min(1, bans.length),
        enough,
        others: await tryOthers(probe, key, first, latestEnd(probe, bans)),
      };
    },
  };
}

/**
 * Reaches the limit of a key at once: where a window ended meanwhile, or the run was interrupted, once more after a
 * minute at rest.
 */
async function reachLimitAtOnce(probe: Probe, key: Key): ReturnType<typeof reachLimit> {
  for (let first = true; ; ) {
    try {
      const reached = await probe.counting(key, () => reachLimit(probe, key));
      const { refused, count } = reached;
      if (refused.length > 0 || count.all.length === count.admitted.length || !first) return reached;
      first = false;
    } catch (error) {
      if (!(error instanceof CountInterrupted)) throw error;
    }
    await restFromNow(probe, key);
  }
}

/** Spends the minute of a key, the last requests of it and a few more at the same moment. */
async function reachLimit(probe: Probe, key: Key) {
  const before = await atRest(probe, key);
  const rest = key.limits.perMinute - before.length;
  const together = Math.min(rest, 20);
  const lists = (count: number) => Array.from({ length: Math.max(0, count) }, () => listPets({ limit: 1 }));
  const filling = await probe.burst(
    lists(rest - together),
    key,
    IN_FLIGHT,
    (exchange) => !isAnswered(exchange),
  );
  const reaching = await probe.burst(lists(together + OVERSHOOT), key, together + OVERSHOOT);
  const sent = [...filling, ...reaching].filter(isAnswered);
  const count = countWindow([...before, ...sent.filter(isAdmitted).map(rateReading)], key.limits.perMinute);
  const refused = sent
    .filter((exchange) => !isAdmitted(exchange))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  const roundTrip = Math.max(...reaching.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
  return { count, sent, refused, roundTrip };
}

/** Answers may overtake each other: the limit's own refusal came before a ban that was answered with another status. */
const isLimits = ({ outcome }: AnsweredExchange) => outcome.status === 429;

/** A key that goes on over its limit, and what it got, in the order of receipt. */
class GoingOn {
  readonly answers: AnsweredExchange[] = [];
  first: AnsweredExchange | undefined;
  ban: AnsweredExchange | undefined;
  readonly #probe: Probe;
  readonly #key: Key;
  readonly #refused: readonly AnsweredExchange[];
  readonly #requests: Iterator<RequestSpec>;
  /** Whether the last answer was paid from quota that had been given back: the next refusal is about that. */
  #servedAgain = false;

  constructor(probe: Probe, key: Key, refused: readonly AnsweredExchange[], requests: Iterator<RequestSpec>) {
    this.#probe = probe;
    this.#key = key;
    this.#refused = refused;
    this.#requests = requests;
    const first = refused.find(isLimits) ?? refused[0];
    this.first = first;
    // A target that bans soon does so while the overshoot is in flight.
    this.ban = refused.find((exchange) => first !== undefined && isBan(probe, exchange, first));
  }

  refusals(): AnsweredExchange[] {
    return [...this.#refused, ...this.answers].filter((exchange) => !isAdmitted(exchange));
  }

  /** Sends so many requests at most, and as many again where the run was interrupted: a new window may have begun. */
  async until(isOver: () => boolean, most: number): Promise<void> {
    for (let left = most; left > 0 && !isOver(); ) {
      const count = Math.min(left, this.#together());
      left = ((await this.#goOn(count)) ? most : left) - count;
    }
  }

  /**
   * How many requests are sent at once: one, but for a slow target as many as come to an end before its window does, and
   * outrun what a bucket gives back meanwhile; of what a new window has given back, all that is left.
   */
  #together(): number {
    const last = this.answers.at(-1);
    if (last === undefined) return 1;
    const { perMinute } = this.#key.limits;
    const roundTrip = Math.min(
      ...this.answers.slice(-3).map(({ sentAt, receivedAt }) => receivedAt - sentAt),
    );
    const { limit, remaining = 0 } = rateReading(last);
    const left = this.#servedAgain && limit === perMinute ? remaining : 0;
    const pace = PATIENCE_OF_TARGET / LONGEST_LEAD + perMinute / MINUTE;
    return Math.min(IN_FLIGHT, Math.max(1, left, Math.ceil(roundTrip * pace)));
  }

  /** Returns whether the run was interrupted before one of these requests. */
  async #goOn(count: number): Promise<boolean> {
    // What quota was given back is spent with lists, which leave nothing behind.
    const specs = Array.from(
      { length: count },
      () => (!this.#servedAgain && this.#requests.next().value) || listPets({ limit: 1 }),
    );
    const answers = await Promise.all(specs.map((spec) => answer(this.#probe, this.#key, spec)));
    answers.sort((a, b) => a.receivedAt - b.receivedAt);
    for (const exchange of answers) {
      this.answers.push(exchange);
      if (!isAdmitted(exchange)) {
        this.first ??= answers.find(isLimits) ?? exchange;
        this.#noteRefusal(exchange, this.first);
      }
      this.#servedAgain = this.#givenBack(exchange);
    }
    return this.#probe
      .readingsOf(this.#key)
      .slice(-count)
      .some(({ resumed }) => resumed === true);
  }

  #noteRefusal(exchange: AnsweredExchange, first: AnsweredExchange): void {
    if (this.#servedAgain && isSameLimit(this.#probe, exchange, first)) this.first = exchange;
    else if (isBan(this.#probe, exchange, first)) this.ban ??= exchange;
  }

  /** A request that is served though Reset stands still is one over the limit; where Reset has moved on, it is not. */
  #givenBack(exchange: AnsweredExchange): boolean {
    if (!isAdmitted(exchange) || this.first === undefined) return false;
    const [before, now] = [rateReading(this.first), rateReading(exchange)];
    return before.reset === undefined || now.reset === undefined || now.reset > before.reset;
  }
}

/** Spends what a window edge gave back in between: only then is anything over the limit. */
async function untilRefused(key: Key, goingOn: GoingOn): Promise<AnsweredExchange | undefined> {
  await goingOn.until(() => goingOn.first !== undefined, key.limits.perMinute);
  return goingOn.first;
}

async function beforeWindowEnds(probe: Probe, key: Key, first: AnsweredExchange, roundTrip: number) {
  const end = toldEnd(probe, first);
  if (end === undefined) return;
  const length = end - first.receivedAt;
  if (length <= STAYS_EXHAUSTED || length >= 2 * MINUTE) return;
  const lead = Math.min(LONGEST_LEAD, Math.max(3 * SECOND, roundTrip * PATIENCE_OF_TARGET));
  await probe.waitUntil(end - lead, `the window of key ${key.name} to be about to end`);
}

async function untilBanned(key: Key, goingOn: GoingOn): Promise<boolean> {
  const most = goingOn.refusals().length + PATIENCE_OF_TARGET;
  const isOver = () => goingOn.refusals().length >= most || goingOn.ban !== undefined;
  // A new window may begin meanwhile, or a bucket may give back as much, and a little more while that is spent.
  await goingOn.until(isOver, 2 * key.limits.perMinute + PATIENCE_OF_TARGET);
  return isOver();
}

/**
 * Answers that were served between two refusals of one window, whose reset stood still: nothing was given back in
 * between, so that those requests were over the limit as well.
 */
function servedBetween(answers: readonly AnsweredExchange[], perMinute: number): AnsweredExchange[] {
  return answers.filter((exchange, index) => {
    if (!isAdmitted(exchange)) return false;
    // Of what was under way together nobody knows which came first.
    const before = answers
      .slice(0, index)
      .findLast((other) => !isAdmitted(other) && other.receivedAt <= exchange.sentAt);
    const after = answers
      .slice(index + 1)
      .find((other) => !isAdmitted(other) && other.sentAt >= exchange.receivedAt);
    if (before === undefined || after === undefined) return false;
    const [first, ...others] = [before, exchange, after].map(rateReading);
    // Headers that describe the day say nothing about the minute's reset.
    return (
      first?.reset !== undefined &&
      [first, ...others].every(({ limit, reset }) => limit === perMinute && reset === first.reset)
    );
  });
}

/**
 * Those of them that nothing given back bit by bit explains either: from a refusal on, a minute that looks back gives
 * one request at once, and no more in a time than a bucket would.
 */
function beyondRefill(
  served: readonly AnsweredExchange[],
  answers: readonly AnsweredExchange[],
  perMinute: number,
): AnsweredExchange[] {
  return served.filter((exchange) => {
    const earlier = answers.slice(0, answers.indexOf(exchange));
    return earlier.some((refusal) => {
      if (isAdmitted(refusal)) return false;
      const since = earlier.filter((other) => isAdmitted(other) && other.sentAt >= refusal.receivedAt);
      const count = since.length + 1;
      return count > 1 + ((exchange.receivedAt - refusal.sentAt) * perMinute) / MINUTE;
    });
  });
}

/** What the key spent in the minute before; where it was measured as well, that has to be over and past. */
async function atRest(probe: Probe, key: Key) {
  const measured = minuteScenes(probe).find((candidate) => candidate.key.name === key.name);
  if (measured !== undefined && probe.permits('exhaust')) {
    await probe.play(measured.scene).catch(() => undefined);
    await rest(probe, key);
  }
  return atStart(probe, key);
}
