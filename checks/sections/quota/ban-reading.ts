/** Reads the answers to a key that kept sending over its limit: whether it was banned, how, and until when. */
import { givenAtOnce, MINUTE, SECOND } from '../../limits/time.ts';
import { type Clocked, isForDay, latestEnd, toldEnd } from '../../limits/told-time.ts';
import { countWindow } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { codeOf } from '../answers.ts';
import { firstRefusal, isAdmitted, refusesKey } from './key-spending.ts';

/**
 * Whether a refusal is a ban rather than the rate limit: 401 or 403 for a valid key, a different code from the first
 * refusal's, or a wait longer than the exceeded window.
 */
export function isBan(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  if (status !== 429 && !refusesKey(exchange)) return false;
  if (status !== first.outcome.status) return true;
  if (codeOf(exchange) !== codeOf(first)) return true;
  const end = toldEnd(clocked, exchange);
  const windowEnd = toldEnd(clocked, first);
  // Both are whole seconds, rounded up, and count from some moment between sending and receipt.
  return (
    end !== undefined &&
    windowEnd !== undefined &&
    end - (exchange.receivedAt - exchange.sentAt) >
      Math.max(windowEnd, first.receivedAt + SECOND) + 2 * SECOND
  );
}

/**
 * Whether a refusal after a refill is the rate limit's again: answered like the first one, and with a wait that a new
 * window explains.
 */
function isSameLimit(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  if (answersOtherwise(exchange, first)) return false;
  const end = toldEnd(clocked, exchange);
  // One second for rounding up, one for the rounding of Date.
  return end === undefined || end <= exchange.receivedAt + MINUTE + 2 * SECOND;
}

/** Whether the answer differs from the rate limit's: 401 or 403 for a valid key, or another code. */
export function answersOtherwise(exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  return refusesKey(exchange) || (exchange.outcome.status === 429 && codeOf(exchange) !== codeOf(first));
}

/** A key's ban from its provocation, the answers to reaching its limit and to going on over it, to its end. */
export interface BanMeasurement {
  readonly key: Key;
  /** The requests that were admitted until the limit was reached. */
  readonly admitted: readonly RateReading[];
  /** The refusals in the burst that reached the limit, in the order of receipt. */
  readonly refused: readonly AnsweredExchange[];
  /** The later answers: one round for each set of concurrent requests, in the order of receipt. */
  readonly rounds: readonly (readonly AnsweredExchange[])[];
  /** What innocent keys got while it was, or might have been, banned. */
  readonly others: readonly { readonly key: Key; readonly exchange: AnsweredExchange }[];
  /** The answers from the expected end of the ban, or of the window, until the key was served or the run gave up. */
  readonly later: readonly AnsweredExchange[];
}

/** After this many requests since a 429, the target is assumed not to ban. */
export const PATIENCE_OF_TARGET = 60;

export const isRefused = (exchange: AnsweredExchange) => !isAdmitted(exchange);

/** The state of a key over its limit. */
interface Standing {
  readonly first?: AnsweredExchange | undefined;
  readonly ban?: AnsweredExchange | undefined;
  /** Whether the last answer was paid from refilled quota; the next refusal is then a new first one. */
  readonly isGivenBack?: boolean;
}

/**
 * The state after a round: the burst that reaches the limit, in flight of which a target may ban early, or a further one.
 */
export function standingAfter(before: Standing, round: readonly AnsweredExchange[], clocked: Clocked) {
  let { first, ban, isGivenBack = false } = before;
  for (const exchange of round) {
    if (isRefused(exchange)) {
      first ??= firstRefusal(round.filter(isRefused)) ?? exchange;
      if (isGivenBack && isSameLimit(clocked, exchange, first)) first = exchange;
      else if (isBan(clocked, exchange, first)) ban ??= exchange;
    }
    isGivenBack = isPaidFromRefill(exchange, first);
  }
  return { first, ban, isGivenBack };
}

/** A request that is served is over the limit while Reset stands still, but not once Reset has moved on. */
function isPaidFromRefill(exchange: AnsweredExchange, first: AnsweredExchange | undefined): boolean {
  if (isRefused(exchange) || first === undefined) return false;
  const [before, now] = [rateReading(first), rateReading(exchange)];
  return before.reset === undefined || now.reset === undefined || now.reset > before.reset;
}

/** Reads a measurement: what was a ban, when it began and how long it lasted. */
export function readBan(measurement: BanMeasurement, clocked: Clocked) {
  const { key, admitted, refused, rounds, others, later } = measurement;
  const { first, ban } = [refused, ...rounds].reduce<Standing>(
    (standing, round) => standingAfter(standing, round, clocked),
    {},
  );
  // Beside a ban with an answer of its own, a longer wait is that of the limit, in a window begun meanwhile.
  const isDistinct = ban !== undefined && first !== undefined && answersOtherwise(ban, first);
  const isBans = (exchange: AnsweredExchange) =>
    first !== undefined && (isDistinct ? answersOtherwise(exchange, first) : isBan(clocked, exchange, first));
  const perRound = [refused, ...rounds].map((round) => round.filter(isRefused));
  const all = perRound.flat();
  const refusals = all.filter((exchange) => !isBans(exchange));
  const bans = all.filter(isBans);
  const end = endOf(bans, refusals, first, clocked);
  // A ban that is answered like the rate limit shows only because it outlasts the window.
  const shownLate = bans.length === 0 ? later.slice(0, 1).filter(isRefused) : [];
  const [answer] = [...bans, ...shownLate];
  const told = latestEnd(clocked, [...bans, ...shownLate]);
  const atFirst = perRound.find(({ length }) => length > 0) ?? [];
  return {
    key,
    count: countWindow(admitted, key.limits.perMinute),
    /** The rate limit's first refusal since the last refill, which a ban's answer differs from. */
    first,
    /** Refusals over the limit, before any ban. */
    refusals,
    /** Every answer over the limit that was a ban's: several requests may be in flight when it begins. */
    bans,
    /** Requests over the limit that were served all the same. */
    served: servedBetween([...refused.slice(-1), ...rounds.flat()], key.limits.perMinute),
    /** When both the ban, if it states its end, and the window are over. */
    end,
    ban: answer && {
      /** The first answer that was a ban rather than the rate limit. */
      answer,
      /** How many requests after the first 429 the ban took. */
      after: refusals.length + Math.min(1, bans.length),
      /** The end that the ban stated last, by our clock; undefined if it stated none. */
      toldEnd: told,
      /** Every answer while banned. */
      answers: [...bans, ...later.filter(isRefused)],
      /** The last answer after the stated end (or, without one, after the window's end). */
      atEnd: later.slice(shownLate.length).at(-1),
      /** The first request that was admitted again. */
      servedAgain: later.find(isAdmitted),
      /** Why the run did not wait for its end. */
      notWaited: later.length === 0 ? tooLong(end - answer.receivedAt) : undefined,
    },
    /** Whether a ban showed, or enough requests were refused after the 429 to expect one. */
    enough: ban !== undefined || answer !== undefined || all.length >= atFirst.length + PATIENCE_OF_TARGET,
    /** The answers to other keys meanwhile, and whether they were bans. */
    others: others.map((other) => {
      const isDay = isForDay(clocked, other.exchange, other.key.limits);
      // The days of two keys that were first used together, or that end at midnight, end together.
      const areDays = isDay && answer !== undefined && isForDay(clocked, answer, key.limits);
      const endsTogether = endsWith(other.exchange, told, clocked) && !areDays;
      const isOther = first !== undefined && answersOtherwise(other.exchange, first) && !isDay;
      return { ...other, banned: first !== undefined && (endsTogether || isOther) };
    }),
  };
}

/** The reading of a measurement. */
export type BanReading = Readonly<ReturnType<typeof readBan>>;
export type Ban = NonNullable<BanReading['ban']>;

/** Whether a key was refused that had quota left for its minute, until the very end of a ban. */
function endsWith(refusal: AnsweredExchange, ban: number | undefined, clocked: Clocked): boolean {
  const end = toldEnd(clocked, refusal);
  const { status } = refusal.outcome;
  const hasQuota =
    (rateReading(refusal).remaining ?? 0) > 0 || (end ?? 0) > refusal.receivedAt + MINUTE + 2 * SECOND;
  return (
    status === 429 && hasQuota && ban !== undefined && end !== undefined && Math.abs(end - ban) <= 2 * SECOND
  );
}

/** When both a ban, if it states its end, and the window are over. */
function endOf(
  bans: readonly AnsweredExchange[],
  refusals: readonly AnsweredExchange[],
  first: AnsweredExchange | undefined,
  clocked: Clocked,
): number {
  const since = first?.receivedAt ?? 0;
  const told = refusals
    .flatMap((refusal) => toldEnd(clocked, refusal) ?? [])
    .filter((end) => end < since + 2 * MINUTE);
  // Without a ban, every window is over after a minute; with one, at the time that the refusals stated.
  const windowEnd = Math.max(bans.length === 0 || told.length === 0 ? since + MINUTE : 0, ...told);
  return Math.max(latestEnd(clocked, bans) ?? 0, windowEnd + 2 * SECOND);
}

/** Why the run does not wait for the end of a ban of this length; undefined if it does. */
const tooLong = (length: number): string | undefined =>
  length > LONGEST_BAN
    ? `the ban lasts ${Math.ceil(length / MINUTE)} minutes, but a run waits only ${LONGEST_BAN / MINUTE}`
    : undefined;

/**
 * Requests that were served between two refusals of one window. Its reset stood still, so nothing was refilled in
 * between, and these requests were over the limit too. Or bit by bit: after a refusal, a sliding window may admit one
 * request at once, and from then on no more than a token bucket would.
 */
function servedBetween(answers: readonly AnsweredExchange[], perMinute: number) {
  return answers.flatMap((exchange, index) => {
    if (isRefused(exchange)) return [];
    const earlier = answers.slice(0, index);
    // The order of concurrent requests is unknown.
    const before = earlier.findLast((other) => isRefused(other) && other.receivedAt <= exchange.sentAt);
    const after = answers.find((other) => isRefused(other) && other.sentAt >= exchange.receivedAt);
    if (before === undefined || after === undefined) return [];
    const [first, ...others] = [before, exchange, after].map(rateReading);
    // Headers that describe the day say nothing about the minute's reset.
    const isOfMinute = [first, ...others].every(
      (one) => one?.limit === perMinute && one.reset === first?.reset,
    );
    if (first?.reset === undefined || !isOfMinute) return [];
    const isTooSoon = earlier.filter(isRefused).some((refusal) => {
      const since = earlier.filter((other) => isAdmitted(other) && other.sentAt >= refusal.receivedAt);
      const refilled = ((exchange.receivedAt - refusal.sentAt) * perMinute) / MINUTE;
      return since.length + 1 > givenAtOnce(perMinute) + refilled;
    });
    return [{ exchange, mayBeRefill: !isTooSoon }];
  });
}
