/** Section 8: requests per day. What is left of a key's quota is spent until the key is refused for the day. */
import { PLAN_NAMES, type PlanLimits } from '../../../spec/plans.ts';
import { DAY, MINUTE, SECOND } from '../../limits/time.ts';
import { type Clocked, tellsDay, toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check, doneOf, type Judge, type Seen } from '../../run/check.ts';
import { allOf, IN_FLIGHT as IN_FLIGHT_ELSEWHERE, type SceneRun, sceneOnKeys } from '../../run/scene.ts';
import { unanswered } from '../../run/sending/interference.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, header, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { RATE_HEADER_NAMES, type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { addPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { namePrefix } from '../animals/additions.ts';
import { admittedOn, isAdmitted, restFromNow } from './key-spending.ts';
import { checkOfPlan, interference } from './measurements.ts';
import { exhaustKeys } from './minute.ts';

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
    const spending = spendingOn(run, key);
    const ending = await spendDay(run, key, spending);
    const chunks = [...spending.chunks];
    if (ending.refusal !== undefined && isLong(ending.refusal, run.trace)) chunks.push(await goOn(run, key));
    const elsewhere = admittedElsewhere(run, key).map(tallyOf);
    const admitted = bySecond([...elsewhere, ...chunks.flatMap((chunk) => chunk.admitted)]);
    const uncounted = admittedOn(run.trace, key).filter(mayBeUncounted).length;
    return { key, admitted, ...ending, lost: spending.lost() + uncounted };
  },
);

/** Spends until a refusal for the day, or until it is clear that nothing can be concluded. */
async function spendDay(run: SceneRun, key: Key, spending: ReturnType<typeof spendingOn>) {
  const { perDay } = key.limits;
  let waitsInVain = 0;
  // A new day may begin meanwhile, at midnight of any time zone: only beyond two quotas is it clear that nothing stops
  // the key.
  while (spending.count() < 2 * perDay + BEYOND_QUOTA) {
    // Beyond the quota requests go one by one, so that none follows the first refusal.
    const left = Math.max(1, perDay - spending.count() - spending.lost());
    const { admitted, refusal } = await spending.spend(Math.min(CHUNK, left));
    if (admitted.length > 0) waitsInVain = 0;
    if (refusal === undefined) continue;
    if (isLong(refusal, run.trace)) return { refusal, waitsInVain };
    // A refusal for the minute, or one for the day with a wrong wait: the wait will show which.
    await run.waitUntil(waitEnd(refusal, run.trace), `Retry-After of key ${key.name}`);
    const isSpent = spending.count() >= perDay;
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
function spendingOn(run: SceneRun, key: Key) {
  const before = admittedElsewhere(run, key);
  // A failed request shows in the answer after it. If several answers lie beside lost ones, a process ended there,
  // and as many were lost as a burst has in flight.
  const besideLost = before.filter(({ afterLost }) => afterLost === true).length;
  const chunks: Chunk[] = [];
  let count = before.length;
  let lost = besideLost > 1 ? Math.max(besideLost, IN_FLIGHT_ELSEWHERE) : besideLost;
  return {
    chunks,
    /** Admitted requests of this run on the key, as far as is known. */
    count: () => count,
    /** The most requests that can be without an answer on record. */
    lost: () => lost,
    /** Sends at most this many requests, and none after a refusal. */
    async spend(size: number) {
      const id = `day:${key.name}:${chunks.length + 1}`;
      const chunk = await run.remember(id, async (part): Promise<Chunk> => {
        if (part.wasCutOff) return { admitted: [], lost: size };
        const answers = await send(part, key, size);
        const refusal = answers.find((exchange) => !isAdmitted(exchange));
        return { admitted: bySecond(answers.filter(isAdmitted).map(tallyOf)), refusal };
      });
      chunks.push(chunk);
      count += countAdmitted(chunk.admitted);
      lost += chunk.lost ?? 0;
      return chunk;
    },
  };
}

/** Asks for more after the day's refusal, at once and in the next minute: what is admitted counts as well. */
const goOn = (run: SceneRun, key: Key) =>
  run.remember(`day:${key.name}:beyond`, async (part): Promise<Chunk> => {
    const { facts } = part;
    const addition = repeatable((again) =>
      addPet({ name: `${namePrefix(facts.id)}${again} day`, categoryId: 1n }),
    );
    const lists = [listPets({}), listPets({ limit: 2 })];
    const specs = [...(facts.permissions.has('writes') ? [addition] : []), ...lists];
    const ask = (spec: RequestSpec) => part.attemptAnswered(spec, key);
    const atOnce = await allOf(specs, ask);
    await restFromNow(part, key);
    const answers = [...atOnce, ...(await allOf(lists, ask))];
    return { admitted: answers.filter(isAdmitted).map(tallyOf) };
  });

/** Sends as many as the key's minute admits. */
async function send(run: SceneRun, key: Key, size: number): Promise<AnsweredExchange[]> {
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

/** A path that is not the document's may be answered before anything is counted: the answer shows no Remaining. */
const mayBeUncounted = ({ operation, remaining }: RateReading) =>
  operation === 'other' && remaining === undefined;

/** What the key was admitted in other scenes, before the day and meanwhile, and was surely counted. */
const admittedElsewhere = (run: SceneRun, key: Key) =>
  admittedOn(run.trace, key).filter((reading) => reading.intent !== 'day' && !mayBeUncounted(reading));

const tallyOf = ({ sentAt, receivedAt }: Pick<RateReading, 'sentAt' | 'receivedAt'>): Tally => [
  sentAt,
  receivedAt,
  1,
];

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

export interface DayMeasurement {
  readonly key: Key;
  /** Every admitted request of the run on the key, in the order of sending. */
  readonly admitted: readonly Tally[];
  /** The refusal that, as far as can be told, was for the day; undefined if none came. */
  readonly refusal?: AnsweredExchange;
  /** The refusal that followed the day's refusal and the wait that it asked for. */
  readonly refusedAgain?: AnsweredExchange;
  /** How many waits in a row, each as long as asked, ended in a refusal that may not be the day's. */
  readonly waitsInVain: number;
  /** At most this many requests may have been counted without an answer on record. */
  readonly lost: number;
}

/** After this many waits in a row that ended in a refusal, another one would be in vain. */
const WAITS_IN_VAIN = 3;
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
function isDays(
  { key: { limits }, admitted, waitsInVain }: DayMeasurement,
  refusal: AnsweredExchange,
  clocked: Clocked,
): boolean {
  if (countAdmitted(admitted) >= limits.perDay) return true;
  if (waitsInVain >= WAITS_IN_VAIN) return false;
  return saysDay(refusal, limits) || (refusal.outcome.status === 429 && isLong(refusal, clocked));
}

/** Counts the admitted requests that meet a condition. */
const countAdmitted = (
  admitted: readonly Tally[],
  condition: (from: number, until: number) => boolean = () => true,
): number => admitted.reduce((sum, [from, until, of]) => (condition(from, until) ? sum + of : sum), 0);

/** Whether a refusal asks to wait only for the next token of a bucket, not for the end of the day. */
const isRefilled = (refusal: AnsweredExchange, end: number, perDay: number): boolean =>
  end - refusal.receivedAt <= (2 * DAY) / perDay + MINUTE;

/** Judges how many requests a day admitted. */
function judgeDay(day: DayMeasurement, judge: Judge, { trace }: Seen): void {
  const { key, admitted, refusal, lost } = day;
  const { perDay } = key.limits;
  const expected = `${perDay} requests admitted in a day with a key of plan ${key.plan}`;
  const begun = admitted[0]?.[0];
  const all = countAdmitted(admitted);
  if (refusal === undefined) {
    if ((admitted.at(-1)?.[0] ?? 0) - (begun ?? 0) >= DAY)
      return judge.inconclusive(`the quota of key ${key.name} takes longer than a day to spend`);
    return judge.breaks({ expected, actual: `${all} were admitted, and none was refused for the day` });
  }
  if (!isDays(day, refusal, trace)) return judge.inconclusive(notSurelyDays(key), refusal);
  const end = toldEnd(trace, refusal);
  // The stated end identifies the day that was spent: requests admitted before that day began belong to another one.
  // The refusal may have been written as early as the request was sent, and whole seconds may be rounded up.
  const journey = refusal.receivedAt - refusal.sentAt;
  const begin = end === undefined ? 0 : end - journey - DAY - 2 * SECOND;
  const inDay = countAdmitted(admitted, (_from, until) => until >= begin);
  // A token bucket is refilled while it is spent, and its refusal says so: the next request is not a day away.
  const bitByBit = end !== undefined && isRefilled(refusal, end, perDay);
  const elapsed = begun === undefined ? 0 : refusal.receivedAt - begun;
  const allowed = perDay + (bitByBit ? Math.ceil((perDay * elapsed) / DAY) + 1 : 0);
  // A wait may be generous: then the first requests of the day seem to belong to the one before.
  if (all + lost >= perDay && all <= allowed) return judge.holds(refusal);
  // Where the run saw the day begin, requests in the seconds around that moment may belong to either day.
  const surely =
    end === undefined || inDay === all ? inDay : countAdmitted(admitted, (from) => from >= end - DAY);
  if (surely > allowed) return judge.breaks({ expected, actual: `${surely} were admitted` }, refusal);
  if (inDay + lost >= perDay) return judge.holds(refusal);
  const [first] = admittedOn(trace, key);
  const shownAtFirst = first?.limit === perDay && first.remaining === perDay - 1;
  const beganWithUs =
    !bitByBit && end !== undefined && begun !== undefined && Math.abs(end - DAY - begun) < 5 * SECOND;
  if (key.unusedToday || shownAtFirst || beganWithUs)
    return judge.breaks({ expected, actual: `${inDay} were admitted` }, refusal);
  const what = `${inDay} of ${perDay} requests were admitted; earlier requests today would explain it (if there were none, set unusedToday: true for key ${key.name} in the profile)`;
  judge.inconclusive({ kind: 'day-spent', key: key.name, what }, refusal);
}

const notSurelyDays = (key: Key) => interference(key, `key ${key.name} was refused, perhaps not for its day`);

/** Judges what the day's refusal states. */
function judgeRefusal(day: DayMeasurement, judge: Judge, trace: Trace): void {
  const { key, refusal, refusedAgain, admitted } = day;
  if (refusal === undefined) return judge.inconclusive(`key ${key.name} was not refused for its day`);
  if (!isDays(day, refusal, trace)) return judge.inconclusive(notSurelyDays(key), refusal);
  const breaks = (expected: string, actual: string, ...evidence: AnsweredExchange[]) =>
    judge.breaks({ expected, actual }, refusal, ...evidence);
  if (refusal.outcome.status !== 429)
    return breaks('429 for a request over the day’s quota', described(refusal));
  const toDaysEnd = 'a Retry-After that reaches the end of the day';
  if (refusedAgain !== undefined)
    return breaks(toDaysEnd, `after it, still ${described(refusedAgain)}`, refusedAgain);
  const end = toldEnd(trace, refusal);
  if (end === undefined) return breaks(toDaysEnd, 'none that can be read');
  const wait = end - refusal.receivedAt;
  if (wait > DAY + 2 * SECOND)
    return breaks('a wait of at most a day', `${Math.round(wait / SECOND).toLocaleString('en')} seconds`);
  if (!resetAgrees(refusal, end, key, admitted[0]?.[0] ?? refusal.receivedAt, trace))
    return breaks(
      'X-RateLimit-Reset at the end of the day, as Retry-After says',
      `X-RateLimit-Reset: ${header(refusal.outcome.headers, RATE_HEADER_NAMES.reset)}`,
    );
  judge.holds(refusal);
}

/**
 * If the refusal's headers describe the day, Reset and Retry-After name the same end. A sliding day ends gradually,
 * over as long as its requests took; the Reset of a token bucket may be when it is full.
 *
 * @param begun when the first request was sent
 */
function resetAgrees(
  refusal: AnsweredExchange,
  end: number,
  { limits: { perDay } }: Key,
  begun: number,
  { targetClock }: Trace,
): boolean {
  const { limit, reset } = rateReading(refusal);
  if (limit !== perDay || reset === undefined) return true;
  // Without any Date nobody knows how far the target's clock is off.
  if (!targetClock.known) return Math.abs(reset - end) < DAY;
  const at = targetClock.reached(reset);
  const spending = refusal.receivedAt - begun;
  const tooEarly = !isRefilled(refusal, end, perDay) && end < at - spending - MINUTE;
  return !tooEarly && at >= end - MINUTE && at <= refusal.receivedAt + DAY + MINUTE;
}

export const dailyQuotaChecks: readonly Check[] = [
  // 8: a key of the plan has its number of requests admitted per day; the next is refused.
  ...PLAN_NAMES.map((plan) => checkOfPlan(`rate-day-${plan}`, plan, day, judgeDay)),
  // 8: a 429 for the day's quota gives, in Retry-After and X-RateLimit-Reset, a time within the day ahead.
  check('rate-day-refusal', { scenes: [day] }, (judge, seen) => {
    for (const measurement of doneOf(seen.on(day), judge)) judgeRefusal(measurement, judge, seen.trace);
  }),
];
