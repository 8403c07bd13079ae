/** Spends what is left of a key's daily quota, as fast as its minutes allow, until the key is refused for the day. */

import type { PlanLimits } from '../../../spec/plans.ts';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { type Clocked, tellsDay, toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import { type SceneRun, sceneOnKeys } from '../../run/scene.ts';
import { unanswered } from '../../run/sending/interference.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { addPet, listPets, repeatable } from '../../wire/requests.ts';
import { namePrefix } from '../animals/additions.ts';
import { admittedOn, isAdmitted } from './admitted.ts';
import { restFromNow } from './key-at-rest.ts';
import { exhaustKeys } from './minute.ts';
import { IN_FLIGHT as IN_FLIGHT_ELSEWHERE } from './window-filling.ts';

const IN_FLIGHT = 4;
/** At most this many requests are sent before their answers are on record; a resumed run continues from there. */
const CHUNK = 50;
/** How far beyond the quota the run goes before it concludes that nothing stops it. */
const BEYOND_QUOTA = 20;

/** A part of a day's spending. */
interface Chunk {
  readonly admitted: readonly Tally[];
  readonly refusal?: AnsweredExchange | undefined;
  /** Up to this many requests were sent by an earlier process of the run, which was cut off. */
  readonly lost?: number;
}

/** Spends the day of each key that may be driven to 429. */
export const day = sceneOnKeys(
  'day',
  { permit: 'day', intent: 'day', keys: exhaustKeys, wanted: { role: 'exhaust' } },
  async (run, key): Promise<DayMeasurement> => {
    // The last minute of an earlier process is not fully on record.
    if (run.wasCutOff) await restFromNow(run, key);
    const spending = new Spending(run, key);
    const ending = await spendDay(run, key, spending);
    if (ending.refusal !== undefined && isLong(ending.refusal, run.trace)) await spending.goOn();
    const { chunks, lost } = spending;
    const elsewhere = admittedElsewhere(run, key).map(tallyOf);
    const admitted = bySecond([...elsewhere, ...chunks.flatMap((chunk) => chunk.admitted)]);
    const uncounted = admittedOn(run.trace, key).filter(mayBeUncounted).length;
    return { key, admitted, ...ending, lost: lost + uncounted };
  },
);

/** Spends until a refusal for the day, or until it is clear that nothing can be concluded. */
async function spendDay(run: SceneRun, key: Key, spending: Spending): Promise<DayRefusal> {
  const { perDay } = key.limits;
  let waitsInVain = 0;
  // A new day may begin meanwhile, at midnight of any time zone: only beyond two quotas is it clear that nothing stops
  // the key.
  while (spending.count < 2 * perDay + BEYOND_QUOTA) {
    // Beyond the quota requests go one by one, so that none follows the first refusal.
    const left = Math.max(1, perDay - spending.count - spending.lost);
    const { admitted, refusal } = await spending.spend(Math.min(CHUNK, left));
    if (admitted.length > 0) waitsInVain = 0;
    if (refusal === undefined) continue;
    if (isLong(refusal, run.trace)) return { refusal, waitsInVain };
    // A refusal for the minute, or one for the day with a wrong wait: the wait will show which.
    await run.waitUntil(waitEnd(refusal, run.trace), `Retry-After of key ${key.name}`);
    const isSpent = spending.count >= perDay;
    const { refusal: refusedAgain } = await spending.spend(1);
    if (refusedAgain === undefined) {
      // A token bucket gave one request back.
      if (saysDay(refusal, key.limits) && isSpent) return { refusal, waitsInVain };
      waitsInVain = 0;
      continue;
    }
    if (isLong(refusedAgain, run.trace)) return { refusal: refusedAgain, waitsInVain };
    // Another client may have emptied the minute again, or taken what a token bucket gave back; then Reset moves on.
    const isSame = rateReading(refusal).reset === rateReading(refusedAgain).reset;
    if (isSpent || (isSame && [refusal, refusedAgain].every((one) => saysDay(one, key.limits))))
      return { refusal, refusedAgain, waitsInVain };
    waitsInVain += 1;
    if (waitsInVain >= WAITS_IN_VAIN) return { refusal: refusedAgain, waitsInVain };
  }
  return { waitsInVain };
}

/** Spends a key's daily quota, chunk by chunk. */
class Spending {
  readonly chunks: Chunk[] = [];
  /** Admitted requests of this run on the key, as far as is known. */
  count: number;
  /** The most requests that can be without an answer on record. */
  lost: number;
  readonly #run: SceneRun;
  readonly #key: Key;

  constructor(run: SceneRun, key: Key) {
    this.#run = run;
    this.#key = key;
    const before = admittedElsewhere(run, key);
    this.count = before.length;
    // A failed request shows in the answer after it. If several answers lie beside lost ones, a process ended there,
    // and as many were lost as a burst has in flight.
    const besideLost = before.filter(({ afterLost }) => afterLost === true).length;
    this.lost = besideLost > 1 ? Math.max(besideLost, IN_FLIGHT_ELSEWHERE) : besideLost;
  }

  /** Sends at most this many requests, and none after a refusal. */
  async spend(size: number): Promise<Chunk> {
    const id = `day:${this.#key.name}:${this.chunks.length + 1}`;
    const chunk = await this.#run.remember(id, async (run): Promise<Chunk> => {
      if (run.wasCutOff) return { admitted: [], lost: size };
      const answers = await this.#send(run, size);
      return {
        admitted: bySecond(answers.filter(isAdmitted).map(rateReading).map(tallyOf)),
        refusal: answers.find((exchange) => !isAdmitted(exchange)),
      };
    });
    this.chunks.push(chunk);
    this.count += countAdmitted(chunk.admitted);
    this.lost += chunk.lost ?? 0;
    return chunk;
  }

  /** Asks for more after the day's refusal, at once and in the next minute: what is admitted counts as well. */
  async goOn(): Promise<void> {
    const key = this.#key;
    const chunk = await this.#run.remember(`day:${key.name}:beyond`, async (run): Promise<Chunk> => {
      const { facts } = run;
      const addition = repeatable((again) =>
        addPet({ name: `${namePrefix(facts.id)}${again} day`, categoryId: 1n }),
      );
      const specs = [
        ...(facts.permissions.has('writes') ? [addition] : []),
        listPets({}),
        listPets({ limit: 2 }),
      ];
      const answers: AnsweredExchange[] = [];
      for (const spec of specs) answers.push(await run.attemptAnswered(spec, key));
      await restFromNow(run, key);
      for (const spec of specs.slice(-2)) answers.push(await run.attemptAnswered(spec, key));
      return { admitted: answers.filter(isAdmitted).map(rateReading).map(tallyOf) };
    });
    this.chunks.push(chunk);
  }

  /** Sends as many as the key's minute admits. */
  async #send(run: SceneRun, size: number): Promise<AnsweredExchange[]> {
    const key = this.#key;
    const lane = run.lane(key);
    const answers: AnsweredExchange[] = [];
    while (answers.length < size && answers.every(isAdmitted)) {
      const ready = lane.readyAt(run.now(), run.trace.targetClock);
      // A gradual refill is given one more second, so that more than one request can be sent.
      if (ready > run.now()) await run.waitUntil(ready + SECOND, `the next window of key ${key.name}`);
      const count = Math.max(1, Math.min(lane.left(run.now()), size - answers.length));
      const lists = Array.from({ length: count }, () => listPets({ limit: 1 }));
      const sent = await run.burst(lists, key, {
        inFlight: IN_FLIGHT,
        enough: (exchange) => !isAnswered(exchange) || !isAdmitted(exchange),
        tallied: true,
      });
      const broken = sent.find((exchange) => !isAnswered(exchange));
      if (broken !== undefined) throw unanswered(broken);
      answers.push(...sent.filter(isAnswered));
    }
    return answers;
  }
}

/** A path that is not the document's may be answered before anything is counted: the answer shows no Remaining. */
const mayBeUncounted = ({ operation, remaining }: RateReading) =>
  operation === 'other' && remaining === undefined;

/** What the key was admitted in other scenes, before the day and meanwhile, and was surely counted. */
const admittedElsewhere = (run: SceneRun, key: Key) =>
  admittedOn(run.trace, key).filter((reading) => reading.intent !== 'day' && !mayBeUncounted(reading));

const tallyOf = ({ sentAt, receivedAt }: RateReading): Tally => [sentAt, receivedAt, 1];

/** Merges tallies of the same second: a day can have a hundred thousand requests. */
function bySecond(tallies: readonly Tally[]): Tally[] {
  const seconds = new Map<number, Tally>();
  for (const [from, until, count] of tallies) {
    const second = Math.floor(from / SECOND);
    const [first, last, before] = seconds.get(second) ?? [from, until, 0];
    seconds.set(second, [Math.min(first, from), Math.max(last, until), before + count]);
  }
  return [...seconds.values()].sort(([from], [other]) => from - other);
}

/** Admitted requests: when the first of them was sent, when the last answer was received, and how many there were. */
export type Tally = readonly [from: number, until: number, count: number];

/** How the spending of a daily quota ended. */
interface DayRefusal {
  /** The refusal that, as far as can be told, was for the day; undefined if none came. */
  readonly refusal?: AnsweredExchange;
  /** The refusal that followed the day's refusal and the wait that it asked for. */
  readonly refusedAgain?: AnsweredExchange;
  /** How many waits in a row, each as long as asked, ended in a refusal that may not be the day's. */
  readonly waitsInVain: number;
}

export interface DayMeasurement extends DayRefusal {
  readonly key: Key;
  /** Every admitted request of the run on the key, in the order of sending. */
  readonly admitted: readonly Tally[];
  /** At most this many requests may have been counted without an answer on record. */
  readonly lost: number;
}

/** After this many waits in a row that ended in a refusal, another one would be in vain. */
export const WAITS_IN_VAIN = 3;
/** A refusal that asks for more than a minute, plus rounding, is not for the minute. */
const BEYOND_A_MINUTE = MINUTE + 2 * SECOND;

/** When a refusal's wait is over; a refusal without one is taken to be for the minute. */
const waitEnd = (refusal: AnsweredExchange, clocked: Clocked): number =>
  toldEnd(clocked, refusal) ?? refusal.receivedAt + MINUTE;

/** Whether a refusal asks for a longer wait than the minute would. */
const isLong = (refusal: AnsweredExchange, clocked: Clocked): boolean =>
  waitEnd(refusal, clocked) - refusal.receivedAt > BEYOND_A_MINUTE;

/** Whether a refusal's headers say that it is for the day: they show it with nothing left, or a minute with something. */
function saysDay(refusal: AnsweredExchange, limits: PlanLimits): boolean {
  const { limit, remaining = 0 } = rateReading(refusal);
  return tellsDay(refusal, limits) || (limit === limits.perMinute && remaining > 0);
}

/**
 * Whether a refusal is certainly for the day: as many were admitted as the day has, or it says so. Before that another
 * client may also empty the minute again and again.
 */
export function isDays(
  { key: { limits }, admitted, waitsInVain }: DayMeasurement,
  refusal: AnsweredExchange,
  clocked: Clocked,
): boolean {
  if (countAdmitted(admitted) >= limits.perDay) return true;
  if (waitsInVain >= WAITS_IN_VAIN) return false;
  return saysDay(refusal, limits) || (refusal.outcome.status === 429 && isLong(refusal, clocked));
}

/** Counts the admitted requests that meet a condition. */
export const countAdmitted = (
  admitted: readonly Tally[],
  condition: (from: number, until: number) => boolean = () => true,
): number => admitted.reduce((sum, [from, until, of]) => (condition(from, until) ? sum + of : sum), 0);

/** Whether a refusal asks to wait only for the next token of a bucket, not for the end of the day. */
export const isRefilled = (refusal: AnsweredExchange, end: number, perDay: number): boolean =>
  end - refusal.receivedAt <= (2 * DAY) / perDay + MINUTE;
