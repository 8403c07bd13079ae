/** What the answers to a key that went on over its limit show: whether it was banned, with which answer, until when. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import { countWindow, type WindowCount } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import { type KeyOutcome, playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { Unsettled } from '../../run/unsettled.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { type RateReading, rateReading } from '../../wire/rate-headers.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { type Clocked, latestEnd, toldEnd } from '../minute/told-time.ts';
import { answersOtherwise, isBan, isSameLimit } from './answers.ts';

/** What a key that did nothing wrong got while another was or might have been banned. */
export interface OtherKey {
  readonly key: Key;
  readonly exchange: AnsweredExchange;
}

/** What came of reaching a key's limit, and of going on over it. */
export interface Provocation {
  readonly key: Key;
  /** What the window admitted until its limit was reached. */
  readonly admitted: readonly RateReading[];
  /** What was refused in the burst that reached the limit, in the order of receipt. */
  readonly refused: readonly AnsweredExchange[];
  /** What came after that: the answers to the requests that were under way together, in the order of receipt. */
  readonly rounds: readonly (readonly AnsweredExchange[])[];
}

/** A key's ban from its provocation to its end. */
export interface BanMeasurement extends Provocation {
  readonly others: readonly OtherKey[];
  /** What the key got once the ban, or the window, was to be over: until it was served, or its end given up. */
  readonly later: readonly AnsweredExchange[];
}

export interface Ban {
  /** The first answer that was the ban and no longer the rate limit's. */
  readonly answer: AnsweredExchange;
  /** How many requests after the first 429 it took. */
  readonly after: number;
  /** When the ban said last that it ends, by our clock; undefined where it said nothing. */
  readonly toldEnd: number | undefined;
  /** Every answer while banned. */
  readonly answers: readonly AnsweredExchange[];
  /** The first answer after the told end (or, without one, after the window's end). */
  readonly atEnd: AnsweredExchange | undefined;
  /** The first request that was admitted again. */
  readonly servedAgain: AnsweredExchange | undefined;
  /** Why the run did not wait for its end. */
  readonly notWaited: string | undefined;
}

/** What a measurement shows. */
export interface BanReading {
  readonly key: Key;
  readonly count: WindowCount;
  /** The limit's last first refusal, from which a ban differs: quota may be given back meanwhile, and spent. */
  readonly first: AnsweredExchange | undefined;
  /** Refusals over the limit, before any ban. */
  readonly refusals: readonly AnsweredExchange[];
  /** Every answer over the limit that was a ban's: several requests may be in flight when it begins. */
  readonly bans: readonly AnsweredExchange[];
  /** Requests over the limit that were served all the same. */
  readonly served: readonly AnsweredExchange[];
  /** Those of them that a limit which gives back bit by bit does not explain. */
  readonly servedBeyondRefill: readonly AnsweredExchange[];
  /** When the ban, as far as it says so, and the window are over. */
  readonly end: number;
  readonly ban: Ban | undefined;
  /** Whether a ban showed, or as many requests were refused after a 429 as may be needed for one. */
  readonly enough: boolean;
  /** What other keys got meanwhile, and whether that was a ban. */
  readonly others: readonly (OtherKey & { readonly banned: boolean })[];
}

/** How many requests after a 429 are sent before the target is taken not to ban. */
export const PATIENCE_OF_TARGET = 60;

const isRefused = (exchange: AnsweredExchange) => !isAdmitted(exchange);

/** What is known of a key over its limit, from one answer to the next. */
export interface Standing {
  readonly first: AnsweredExchange | undefined;
  readonly ban: AnsweredExchange | undefined;
  /** Whether the last answer was paid from quota that had been given back: the next refusal is about that. */
  readonly isGivenBack: boolean;
}

/** Answers may overtake each other: the limit's own refusal came before a ban that was answered with another status. */
const firstOf = (refused: readonly AnsweredExchange[]) =>
  refused.find(({ outcome }) => outcome.status === 429) ?? refused[0];

/** What is known once the limit was reached. A target that bans soon does so while that burst is in flight. */
export function standingAtLimit(refused: readonly AnsweredExchange[], clocked: Clocked): Standing {
  const first = firstOf(refused);
  const ban = refused.find((exchange) => first !== undefined && isBan(clocked, exchange, first));
  return { first, ban, isGivenBack: false };
}

/** What is known after a further round. */
export function standingAfter(
  before: Standing,
  round: readonly AnsweredExchange[],
  clocked: Clocked,
): Standing {
  let { first, ban, isGivenBack } = before;
  for (const exchange of round) {
    if (isRefused(exchange)) {
      first ??= firstOf(round.filter(isRefused)) ?? exchange;
      if (isGivenBack && isSameLimit(clocked, exchange, first)) first = exchange;
      else if (isBan(clocked, exchange, first)) ban ??= exchange;
    }
    isGivenBack = isPaidFromRefill(exchange, first);
  }
  return { first, ban, isGivenBack };
}

/** A request that is served though Reset stands still is one over the limit; where Reset has moved on, it is not. */
function isPaidFromRefill(exchange: AnsweredExchange, first: AnsweredExchange | undefined): boolean {
  if (isRefused(exchange) || first === undefined) return false;
  const [before, now] = [rateReading(first), rateReading(exchange)];
  return before.reset === undefined || now.reset === undefined || now.reset > before.reset;
}

/** Reads a measurement: what was a ban, from when on and how long. */
export function readBan(measurement: BanMeasurement, clocked: Clocked): BanReading {
  const { key, admitted, refused, rounds, others, later } = measurement;
  const { first, ban } = rounds.reduce<Standing>(
    (standing, round) => standingAfter(standing, round, clocked),
    standingAtLimit(refused, clocked),
  );
  const isBans = (exchange: AnsweredExchange) => first !== undefined && isBan(clocked, exchange, first);
  const perRound = [refused, ...rounds].map((round) => round.filter(isRefused));
  const all = perRound.flat();
  const refusals = all.filter((exchange) => !isBans(exchange));
  const bans = all.filter(isBans);
  const end = endOf(bans, refusals, first, clocked);
  // A ban that was answered like the rate limit shows itself only by outlasting the window.
  const shownLate = bans.length === 0 ? later.slice(0, 1).filter(isRefused) : [];
  const [answer] = [...bans, ...shownLate];
  const told = latestEnd(clocked, [...bans, ...shownLate]);
  const atFirst = perRound.find(({ length }) => length > 0) ?? [];
  const answers = [...refused.slice(-1), ...rounds.flat()];
  const served = servedBetween(answers, key.limits.perMinute);
  return {
    key,
    count: countWindow(admitted, key.limits.perMinute),
    first,
    refusals,
    bans,
    served,
    servedBeyondRefill: beyondRefill(served, answers, key.limits.perMinute),
    end,
    ban:
      answer === undefined
        ? undefined
        : {
            answer,
            after: refusals.length + Math.min(1, bans.length),
            toldEnd: told,
            answers: [...bans, ...later.filter(isRefused)],
            atEnd: told === undefined ? later[0] : later[shownLate.length],
            servedAgain: later.find(isAdmitted),
            notWaited: later.length === 0 ? tooLong(end - answer.receivedAt) : undefined,
          },
    enough: ban !== undefined || answer !== undefined || all.length >= atFirst.length + PATIENCE_OF_TARGET,
    others: others.map((other) => ({
      ...other,
      banned: first !== undefined && answersOtherwise(other.exchange, first),
    })),
  };
}

/** When a ban, as far as it says so, and the window are over. */
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
  // Without a ban to wait for, every window is over after a minute; with one, when the refusals said.
  const windowEnd = Math.max(bans.length === 0 || told.length === 0 ? since + MINUTE : 0, ...told);
  return Math.max(latestEnd(clocked, bans) ?? 0, windowEnd + 2 * SECOND);
}

/** Why the end of a ban of this length is not waited for; undefined where it is. */
const tooLong = (length: number): string | undefined =>
  length > LONGEST_BAN
    ? `the ban lasts ${Math.round(length / MINUTE)} minutes, but a run waits only ${LONGEST_BAN / MINUTE}`
    : undefined;

/** Reads the measurement of the one key that may be banned. @throws Unsettled where there is none */
export function theBan(outcomes: readonly KeyOutcome<BanMeasurement>[], trace: Trace): BanReading {
  const [played] = playedOn(outcomes);
  if (played === undefined) throw new Unsettled('no usable key has the role ban');
  return readBan(played.outcome, trace);
}

/**
 * Answers that were served between two refusals of one window, whose reset stood still: nothing was given back in
 * between, so that those requests were over the limit as well.
 */
function servedBetween(answers: readonly AnsweredExchange[], perMinute: number): AnsweredExchange[] {
  return answers.filter((exchange, index) => {
    if (isRefused(exchange)) return false;
    // Of what was under way together nobody knows which came first.
    const before = answers
      .slice(0, index)
      .findLast((other) => isRefused(other) && other.receivedAt <= exchange.sentAt);
    const after = answers
      .slice(index + 1)
      .find((other) => isRefused(other) && other.sentAt >= exchange.receivedAt);
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
