/**
 * Sections 5 and 8: a key that keeps sending after a 429 may be banned for a time. Only a key with the role ban is
 * driven there, after everything else on it is done.
 */
import { contract } from '../../spec/contract.ts';
import { type Check, type GapObserver, type Judge, type Scene, Unsettled } from '../harness/check.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../harness/exchange.ts';
import { type Key, MINUTE, SECOND } from '../harness/key-pool.ts';
import { isJsonObject } from '../harness/lossless-json.ts';
import { bodyOf, described } from '../harness/pets.ts';
import { type Probe, unanswered } from '../harness/probe.ts';
import { rateReading, retryAfter } from '../harness/rate-headers.ts';
import { judgeRemaining } from '../harness/remaining-arithmetic.ts';
import { addPet, getPet, listPets, type RequestSpec } from '../harness/requests.ts';
import { schemaProblem } from '../harness/schema.ts';
import { countWindow, type WindowCount } from '../harness/window-count.ts';
import { categoryId, namePrefix } from './added-animals.ts';
import { isAdmitted } from './admitted.ts';
import { retrievals } from './get-animal.ts';
import { atStart } from './key-at-rest.ts';
import { exhaustKeys, minuteScenes } from './minute-windows.ts';
import { type FilledWindow, IN_FLIGHT } from './window-filling.ts';

/** Requests that go over the limit at the same moment, when the limit is reached: fewer than bans commonly begin at. */
const OVERSHOOT = 6;
/** How many requests after a 429 are sent before the target is taken not to ban. */
const PATIENCE_OF_TARGET = 60;
/** How long a ban is waited out; one that says it lasts longer is not waited for. */
const LONGEST_BAN = 15 * MINUTE;
/** Where a ban does not tell its end, it is asked for after these pauses: a request during a ban may prolong it. */
const POLLS = [15, 30, 60, 120, 240, 480].map((seconds) => seconds * SECOND);

interface Ban {
  /** The first answer that was the ban and no longer the rate limit's. */
  readonly answer: AnsweredExchange;
  /** How many requests after the first 429 it took. */
  readonly after: number;
  /** When the ban said that it ends, by our clock; undefined where it said nothing. */
  readonly toldEnd: number | undefined;
  /** Every answer while banned. */
  readonly answers: readonly AnsweredExchange[];
  /** The first answer after the told end (or, without one, after the window's end). */
  readonly atEnd: AnsweredExchange | undefined;
  /** The first request that was admitted again. */
  readonly servedAgain: AnsweredExchange | undefined;
  /** Why the end was not waited for. */
  readonly notWaited: string | undefined;
}

interface BanMeasurement {
  readonly key: Key;
  readonly count: WindowCount;
  /** Refusals over the limit, before any ban. */
  readonly refusals: readonly AnsweredExchange[];
  /** Requests over the limit that were served all the same. */
  readonly served: readonly AnsweredExchange[];
  readonly ban: Ban | undefined;
  /** What other keys got meanwhile. */
  readonly others: readonly OtherKey[];
}

/** The key that may be banned; one that may do nothing else is taken first. */
export function banKey(probe: Probe): Key {
  const keys = probe.keys.filter(({ roles }) => roles.includes('ban'));
  const [key] = keys.sort(
    (a, b) => a.roles.length - b.roles.length || a.limits.perMinute - b.limits.perMinute,
  );
  if (key === undefined) throw new Unsettled('no usable key has the role ban');
  return key;
}

function codeOf(exchange: AnsweredExchange): string | undefined {
  const body = bodyOf(exchange);
  const code = body.ok && isJsonObject(body.value) ? body.value['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** When a refusal tells to come back, by our clock. */
function toldEnd(probe: Probe, exchange: AnsweredExchange): number | undefined {
  // A ban may be long: as many seconds as a day has are seconds still.
  const told = retryAfter(exchange.outcome.headers, 24 * 3600);
  if (told.kind === 'delay') return exchange.receivedAt + told.milliseconds;
  if (told.kind === 'date') return probe.targetClock.certainlyReached(told.time) ?? told.time;
  return undefined;
}

/**
 * Whether a refusal is a ban and no longer the rate limit: 401 or 403 for a valid key, another code than the first
 * refusal had, or a wait that goes beyond the window that was exceeded.
 */
function isBan(probe: Probe, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  if (isAdmitted(exchange) || ![401, 403, 429].includes(status)) return false;
  if (status !== first.outcome.status) return true;
  if (codeOf(exchange) !== codeOf(first)) return true;
  const end = toldEnd(probe, exchange);
  const windowEnd = toldEnd(probe, first);
  // Whole seconds, rounded up on both.
  return (
    end !== undefined &&
    windowEnd !== undefined &&
    end > Math.max(windowEnd, first.receivedAt + SECOND) + 2 * SECOND
  );
}

/** Over-limit requests of every operation in turn; lists were refused before. */
function* overLimit(probe: Probe, animals: readonly bigint[], category: bigint): Generator<RequestSpec> {
  for (let turn = 1; ; turn += 1) {
    const [animal] = animals;
    if (animal !== undefined) yield getPet(animal);
    if (probe.permits('writes')) {
      yield addPet({
        name: `${namePrefix(probe.runId)} refused over the limit ${turn}`,
        categoryId: category,
        status: 'sold',
      });
    }
    yield listPets({ limit: 1 });
  }
}

async function answer(probe: Probe, key: Key, spec: RequestSpec): Promise<AnsweredExchange> {
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
  readonly first: AnsweredExchange;
  readonly ban: AnsweredExchange | undefined;
  readonly after: number;
  readonly others: readonly OtherKey[];
}

/** What a key that did nothing wrong got while another was or might have been banned. */
interface OtherKey {
  readonly key: Key;
  readonly exchange: AnsweredExchange;
  readonly banned: boolean;
}

/** Requests with other keys, one of the same plan and one of another: whose bans are counted by plan, these show it. */
async function tryOthers(
  probe: Probe,
  key: Key,
  first: AnsweredExchange,
  until: number,
): Promise<OtherKey[]> {
  // A key whose own minute is not being counted is better: a request on it disturbs nothing.
  const candidates = probe.keys
    .filter(({ name, roles }) => name !== key.name && roles.includes('functional'))
    .sort((a, b) => Number(a.roles.includes('exhaust')) - Number(b.roles.includes('exhaust')));
  const alike = candidates.find(({ plan }) => plan === key.plan);
  // The largest plan feels a request the least.
  const unlike = candidates
    .filter(({ plan }) => plan !== key.plan)
    .sort((a, b) => b.limits.perMinute - a.limits.perMinute)[0];
  const tried: OtherKey[] = [];
  for (const other of [alike, unlike]) {
    // A key that had several refusals of its own may have earned a ban of its own.
    if (other === undefined || probe.refusalsOf(other) > 1) continue;
    // Its own limit says nothing about the ban: where it has quota again in time, it is asked then.
    if (probe.quotaAt(other) < until - SECOND) await probe.untilQuota(other);
    const exchange = await answer(probe, other, listPets({ limit: 1 }));
    tried.push({ key: other, exchange, banned: answersOtherwise(exchange, first) });
  }
  return tried;
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
      const retrieved = await probe.play(retrievals).catch(() => []);
      const animals = retrieved
        .filter(({ exchange }) => exchange.outcome.status === 200)
        .map(({ known }) => known.id);
      const before = await atRest(probe, key);
      const rest = key.limits.perMinute - before.length;
      const together = Math.min(rest, 20);
      const lists = (count: number) =>
        Array.from({ length: Math.max(0, count) }, () => listPets({ limit: 1 }));
      const filling = await probe.burst(
        lists(rest - together),
        key,
        IN_FLIGHT,
        (exchange) => !isAnswered(exchange),
      );
      const reaching = await probe.burst(lists(together + OVERSHOOT), key, together + OVERSHOOT);
      const sent = [...filling, ...reaching].filter(isAnswered);
      const count = countWindow(
        [...before, ...sent.filter(isAdmitted).map(rateReading)],
        key.limits.perMinute,
      );
      const refused = sent
        .filter((exchange) => !isAdmitted(exchange))
        .sort((a, b) => a.receivedAt - b.receivedAt);

      const over = overLimit(probe, animals, category);
      const answers: AnsweredExchange[] = [];
      let first = refused.find(({ outcome }) => outcome.status === 429) ?? refused[0];
      // A target that bans soon does so while the overshoot is in flight.
      let ban = refused.find((exchange) => first !== undefined && isBan(probe, exchange, first));
      const goOn = async () => {
        const exchange = await answer(probe, key, over.next().value ?? listPets({ limit: 1 }));
        answers.push(exchange);
        if (isAdmitted(exchange)) return;
        first ??= exchange;
        if (isBan(probe, exchange, first)) ban = exchange;
      };
      // What a window edge gave back in between is spent before anything is over the limit.
      for (let turn = 0; turn < key.limits.perMinute && first === undefined; turn += 1) {
        await goOn();
        if (probe.readingsOf(key).at(-1)?.resumed === true) turn = 0;
      }
      if (first === undefined) throw new Unsettled(`key ${key.name} was refused nothing`, sent.slice(-1));
      const end = toldEnd(probe, first);
      if (
        ban === undefined &&
        end !== undefined &&
        end - first.receivedAt > STAYS_EXHAUSTED &&
        end - first.receivedAt < 2 * MINUTE
      ) {
        const roundTrip = Math.max(...reaching.map(({ sentAt, receivedAt }) => receivedAt - sentAt));
        const lead = Math.min(20 * SECOND, Math.max(3 * SECOND, roundTrip * PATIENCE_OF_TARGET));
        await probe.waitUntil(end - lead, `the window of key ${key.name} to be about to end`);
      }
      const overLimitRefusals = () => [...refused, ...answers].filter((exchange) => !isAdmitted(exchange));
      const most = overLimitRefusals().length + PATIENCE_OF_TARGET;
      for (
        let turn = 0;
        turn < key.limits.perMinute + PATIENCE_OF_TARGET &&
        overLimitRefusals().length < most &&
        ban === undefined;
        turn += 1
      ) {
        await goOn();
        // Whoever goes on with an interrupted run may find a new window, which has to be spent first.
        if (probe.readingsOf(key).at(-1)?.resumed === true) turn = 0;
      }
      const limit = first;
      const refusals = overLimitRefusals().filter((exchange) => !isBan(probe, exchange, limit));
      const banEnds = ban === undefined ? undefined : toldEnd(probe, ban);
      return {
        key,
        count,
        refusals,
        served: servedBetween([...refused.slice(-1), ...answers], key.limits.perMinute),
        first: limit,
        ban,
        after: refusals.length + (ban === undefined ? 0 : 1),
        others: await tryOthers(probe, key, limit, banEnds ?? 0),
      };
    },
  };
}

/**
 * Answers that were served between two refusals of one window, whose reset stood still: nothing was given back in
 * between, so that those requests were over the limit as well.
 */
function servedBetween(answers: readonly AnsweredExchange[], perMinute: number): AnsweredExchange[] {
  return answers.filter((exchange, index) => {
    if (!isAdmitted(exchange)) return false;
    const before = answers.slice(0, index).findLast((other) => !isAdmitted(other));
    const after = answers.slice(index + 1).find((other) => !isAdmitted(other));
    if (before === undefined || after === undefined) return false;
    const [first, ...others] = [before, exchange, after].map(rateReading);
    // Headers that describe the day say nothing about the minute's reset.
    return (
      first?.reset !== undefined &&
      [first, ...others].every(({ limit, reset }) => limit === perMinute && reset === first.reset)
    );
  });
}

/** What the key spent in the minute before; where it was measured as well, that has to be over and past. */
async function atRest(probe: Probe, key: Key) {
  const measured = minuteScenes(probe).find((candidate) => candidate.key.name === key.name);
  if (measured !== undefined && probe.permits('exhaust')) {
    await probe.play(measured.scene).catch(() => undefined);
    const last = probe.readingsOf(key).at(-1);
    if (last !== undefined)
      await probe.waitUntil(last.receivedAt + MINUTE + SECOND, `key ${key.name} to be at rest for a minute`);
  }
  return atStart(probe, key);
}

/** The provocation and the end of the ban that it led to. */
export function banOf(key: Key): Scene<BanMeasurement> {
  return {
    id: `ban:${key.name}:end`,
    permit: 'ban',
    spends: { requests: POLLS.length + 2 },
    scenes: [provocationOf(key)],
    async play(probe) {
      const { count, refusals, served, first, ban, after, others } = await probe.play(provocationOf(key));
      const told = refusals
        .map((refusal) => toldEnd(probe, refusal) ?? 0)
        .filter((end) => end < first.receivedAt + 2 * MINUTE);
      // Without a ban to wait for, every window is over after a minute; with one, when the refusals said.
      const windowEnd =
        Math.max(ban === undefined || told.length === 0 ? first.receivedAt + MINUTE : 0, ...told) +
        2 * SECOND;
      const end = await banEnd(probe, key, ban, windowEnd);
      // A ban that was answered like the rate limit shows itself only by outlasting the window.
      const shown = ban ?? end.atEnd;
      const banned = shown !== undefined && !isAdmitted(shown);
      if (banned) probe.markBanned([shown, ...end.answers]);
      const later = banned && ban === undefined ? await tryOthers(probe, key, first, 0) : [];
      return {
        key,
        count,
        refusals,
        served,
        ban: banned ? { answer: shown, after, ...end } : undefined,
        others: [...others, ...later],
      };
    },
  };
}

/** Waits a ban out and asks again. */
async function banEnd(probe: Probe, key: Key, ban: AnsweredExchange | undefined, windowEnd: number) {
  const told = ban === undefined ? undefined : toldEnd(probe, ban);
  const answers = ban === undefined ? [] : [ban];
  const until = Math.max(told ?? 0, windowEnd);
  const length = until - (ban?.receivedAt ?? until);
  if (length > LONGEST_BAN) {
    const notWaited = `the ban lasts ${Math.round(length / MINUTE)} minutes, and a run waits ${LONGEST_BAN / MINUTE}`;
    return { toldEnd: told, answers, atEnd: undefined, servedAgain: undefined, notWaited };
  }
  const again = listPets({ limit: contract.limit.maximum, status: 'sold' });
  await probe.waitUntil(
    until,
    ban === undefined ? `the window of key ${key.name} to end` : `the ban of key ${key.name} to end`,
  );
  const atEnd = await answer(probe, key, again);
  let latest = atEnd;
  for (const pause of POLLS) {
    if (isAdmitted(latest)) break;
    answers.push(latest);
    const next = Math.max(toldEnd(probe, latest) ?? 0, latest.receivedAt + pause);
    if (next - until > LONGEST_BAN) break;
    await probe.waitUntil(next, `the ban of key ${key.name} to end after all`);
    latest = await answer(probe, key, again);
  }
  return {
    toldEnd: told,
    answers,
    atEnd,
    servedAgain: isAdmitted(latest) ? latest : undefined,
    notWaited: undefined,
  };
}

/** Refused as only a ban refuses, below the limit, and nobody else on the key who could have earned it. */
function earnedNothing(refusal: AnsweredExchange, { verdict }: WindowCount): boolean {
  const { status } = refusal.outcome;
  if (status !== 401 && status !== 403) return false;
  return (
    verdict.kind === 'exact' || (verdict.kind === 'fewer' && verdict.before === 0 && verdict.between === 0)
  );
}

/** Any sign in the run that somebody else sends requests on a key. */
function othersSpend(probe: Probe, key: Key, windows: readonly FilledWindow[]): boolean {
  const fellShort = windows.some(({ count }) => count.verdict.kind === 'fewer');
  return (
    fellShort ||
    judgeRemaining(probe.readingsOf(key), key.limits.perMinute, key.limits.perDay).kind === 'disturbed'
  );
}

/** Another answer than the rate limit's: 401 or 403 for a valid key, or another code. */
function answersOtherwise(exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  return status === 401 || status === 403 || (status === 429 && codeOf(exchange) !== codeOf(first));
}

/** Runs a judgement of the ban, where one was seen; none at all conforms, since the document says "may". */
function ofBan(judgeBan: (ban: Ban, judge: Judge, measurement: BanMeasurement) => void) {
  return async (probe: Probe, judge: Judge) => {
    const measurement = await probe.play(banOf(banKey(probe)));
    if (measurement.ban === undefined) judge.notApplicable('no ban was seen');
    else judgeBan(measurement.ban, judge, measurement);
  };
}

const evidence = (...exchanges: (Exchange | undefined)[]) =>
  exchanges.filter((exchange) => exchange !== undefined);

export const banChecks: readonly Check[] = [
  {
    // 8: continuing to send requests after a 429 may lead to a temporary ban.
    id: 'ban-provoked',
    permit: 'ban',
    async run(probe, judge) {
      const { ban, refusals, count, key } = await probe.play(banOf(banKey(probe)));
      if (count.verdict.kind === 'more') judge.notApplicable(`key ${key.name} was not held to its limit`);
      if (ban === undefined)
        judge.notApplicable(`no ban was seen after ${refusals.length} requests over the limit`);
      else judge.holds(ban.answer);
    },
  },
  {
    // 8: the ban is for going on after a 429; a client that waits as told has done nothing to be banned for.
    id: 'ban-spares-polite',
    permit: 'exhaust',
    async run(probe, judge) {
      const keys = exhaustKeys(probe);
      if (keys.length === 0) throw new Unsettled('no usable key has the role exhaust');
      for (const { scene, key } of minuteScenes(probe)) {
        const { windows, afterRetryAfter, afterReset } = await probe.play(scene);
        const retry = afterRetryAfter ?? afterReset;
        const [window] = windows;
        if (window?.refusal !== undefined && earnedNothing(window.refusal, window.count)) {
          judge.breaks(
            { expected: 'no ban for a key that was never refused before', actual: described(window.refusal) },
            window.refusal,
          );
          continue;
        }
        const refusal = windows[0]?.refusal;
        if (retry === undefined || refusal === undefined)
          judge.unsettled(`key ${key.name} was not refused, or not told how long to wait`);
        else if (retry.admitted) judge.holds(retry.exchange, refusal);
        else if (answersOtherwise(retry.exchange, refusal) && othersSpend(probe, key, windows)) {
          judge.unsettled(
            `somebody else seems to spend key ${key.name}, and may have earned its ban`,
            retry.exchange,
          );
        } else if (
          answersOtherwise(retry.exchange, refusal) &&
          windows.some(({ refusals }) => refusals > 1)
        ) {
          judge.unsettled(
            `key ${key.name} had several requests in flight when it was refused, which may earn a ban`,
            retry.exchange,
          );
        } else if (answersOtherwise(retry.exchange, refusal)) {
          judge.breaks(
            { expected: 'no ban for a client that waited as told', actual: described(retry.exchange) },
            retry.exchange,
            refusal,
          );
        } else
          judge.unsettled(
            `key ${key.name} was refused after it had waited (see retry-after-honest)`,
            retry.exchange,
          );
      }
    },
  },
  {
    // 7: the response to a banned key is an error response.
    id: 'ban-error-body',
    permit: 'ban',
    run: ofBan(({ answers }, judge) => {
      for (const exchange of answers) {
        const body = bodyOf(exchange);
        const problem = body.ok ? schemaProblem.error(body.value) : `${described(exchange)}: ${body.problem}`;
        if (problem === undefined) judge.holds(exchange);
        else judge.breaks({ expected: 'an Error body', actual: problem }, exchange);
      }
    }),
  },
  {
    // 8: the rate limit headers are present on every response.
    id: 'ban-rate-headers',
    permit: 'ban',
    run: ofBan(({ answers }, judge) => {
      for (const exchange of answers) {
        const { limit, remaining, reset } = rateReading(exchange);
        if (limit !== undefined && remaining !== undefined && reset !== undefined) judge.holds(exchange);
        else judge.breaks({ expected: 'the three rate headers', actual: 'not all of them' }, exchange);
      }
    }),
  },
  {
    // 8: a temporary ban.
    id: 'ban-ends',
    permit: 'ban',
    run: ofBan(({ servedAgain, notWaited, answers, answer: first }, judge, { count, key }) => {
      if (servedAgain !== undefined) judge.holds(servedAgain, first);
      else if (notWaited !== undefined) judge.unsettled(notWaited, first);
      else if (count.verdict.kind === 'fewer')
        judge.unsettled(`somebody else seems to spend key ${key.name}, which prolongs its ban`, first);
      else
        judge.breaks(
          {
            expected: 'a ban that ends',
            actual: `still ${described(answers.at(-1) ?? first)} after ${Math.round(((answers.at(-1) ?? first).receivedAt - first.receivedAt) / SECOND)} seconds`,
          },
          ...evidence(answers.at(-1), first),
        );
    }),
  },
  {
    // 8: where the ban tells the time to wait, that is when it ends.
    id: 'ban-ends-as-told',
    permit: 'ban',
    run: ofBan(({ toldEnd: told, atEnd, notWaited, answer: first }, judge, { count, key }) => {
      if (told === undefined) judge.notApplicable('the ban does not tell when it ends');
      else if (atEnd === undefined) judge.unsettled(notWaited ?? 'the end was not waited for', first);
      else if (isAdmitted(atEnd)) judge.holds(atEnd, first);
      else if (count.verdict.kind === 'fewer')
        judge.unsettled(`somebody else seems to spend key ${key.name}, which prolongs its ban`, atEnd);
      else
        judge.breaks(
          {
            expected: 'a request admitted after the time that the ban told, and after the window',
            actual: described(atEnd),
          },
          atEnd,
          first,
        );
    }),
  },
  {
    // 8: a temporary ban on the API key, so on no other.
    id: 'ban-other-keys',
    permit: 'ban',
    async run(probe, judge) {
      const { ban, others, key } = await probe.play(banOf(banKey(probe)));
      for (const other of others.filter(({ banned }) => banned)) {
        judge.breaks(
          {
            expected: `key ${other.key.name} served, whatever key ${key.name} did`,
            actual: described(other.exchange),
          },
          other.exchange,
          ...evidence(ban?.answer),
        );
      }
      if (ban === undefined) judge.notApplicable('no ban was seen');
      else if (others.length === 0) judge.unsettled('needs a second key with the role functional');
      else for (const { exchange, banned } of others) if (!banned) judge.holds(exchange, ban.answer);
    },
  },
];

export const banGaps: readonly GapObserver[] = [
  {
    id: 'ban-answer',
    permit: 'ban',
    async run(probe) {
      const { ban, refusals } = await probe.play(banOf(banKey(probe)));
      return ban === undefined
        ? {
            answer: 'no-ban-seen',
            detail: `none after ${refusals.length} requests over the limit`,
            evidence: refusals.slice(-1),
          }
        : {
            answer: `banned-${ban.answer.outcome.status}`,
            detail: described(ban.answer),
            evidence: [ban.answer],
          };
    },
  },
  {
    id: 'ban-threshold',
    permit: 'ban',
    async run(probe) {
      const { ban, refusals } = await probe.play(banOf(banKey(probe)));
      return ban === undefined
        ? {
            answer: 'no-ban-seen',
            detail: `none after ${refusals.length} requests over the limit`,
            evidence: refusals.slice(-1),
          }
        : {
            answer: `${ban.after}`,
            detail: `the ban showed with the ${ban.after}th request over the limit`,
            evidence: [ban.answer],
          };
    },
  },
  {
    id: 'ban-duration',
    permit: 'ban',
    async run(probe) {
      const { ban, refusals } = await probe.play(banOf(banKey(probe)));
      if (ban === undefined)
        return {
          answer: 'no-ban-seen',
          detail: `none after ${refusals.length} requests over the limit`,
          evidence: refusals.slice(-1),
        };
      if (ban.toldEnd === undefined)
        return { answer: 'not-told', detail: 'the ban does not tell when it ends', evidence: [ban.answer] };
      const seconds = Math.round((ban.toldEnd - ban.answer.receivedAt) / SECOND);
      return {
        answer: `${seconds}-seconds`,
        detail: `the ban says that it lasts ${seconds} seconds`,
        evidence: [ban.answer],
      };
    },
  },
];
