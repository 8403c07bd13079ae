import type { Key } from '../profile/key.ts';
import type { Permission } from '../profile/permissions.ts';
import type { Violation } from '../wire/answer.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { Findings } from './findings.ts';
import type { RunFacts } from './run-facts.ts';
import type { InTurn, Needs, OutcomeSource, OutcomesOf } from './scene.ts';
import { gather, needsPermission, permitOf } from './scene.ts';
import type { Trace, TraceSoFar } from './trace.ts';
import { settledOr } from './unsettled.ts';

/** Where a check says what it saw. A check that says nothing is inconclusive, never passed. */
export type Judge = Pick<Findings, 'holds' | 'breaks' | 'unsettled' | 'skips' | 'notApplicable'>;

/**
 * A requirement's check: data and pure functions, one for each way to judge. None of them sends, waits or reads a
 * clock; they may throw Unsettled.
 */
export interface Check {
  /** The requirement's id in spec/requirements.yaml. */
  readonly id: string;
  /** Without this permission the requirement is skipped, unless what a run exchanges anyway shows it broken. */
  readonly permit?: Permission;
  readonly needs: Needs;
  /** Without this permission a part is not tried, and the requirement skipped unless the rest breaks it. */
  readonly inFullWith?: Permission;
  /** Why the requirement binds no target with these keys; undefined where it does. */
  readonly notApplicable?: (keys: readonly Key[]) => string | undefined;
  /** Which key is missing to verify it; undefined where none is. */
  readonly lacks?: (keys: readonly Key[]) => string | undefined;
  /** Whether a failure stands although the target gives requests the answers of others: it is that very failure. */
  readonly standsWhereCrossed?: true;
  /** Whether it is about answers as such: what rests on an answer that breaks it cannot be told, and follows from that. */
  readonly isBasis?: true;
  /** Sees every answered exchange of the three operations, in the order of receipt. */
  readonly observe?: (exchange: AnsweredExchange, judge: Judge, soFar: TraceSoFar) => void;
  /** Decides on the outcomes of the scenes that the check needs. */
  readonly decide?: (source: OutcomeSource, judge: Judge, trace: Trace) => void;
  /** Decides on the whole trace. */
  readonly conclude?: (trace: Trace, judge: Judge) => void;
}

/** Which key is missing for what is needed; undefined where none is. */
const keyLacking =
  (needs: Needs) =>
  (keys: readonly Key[]): string | undefined =>
    Object.values(needs).flatMap((need) =>
      need.kind === 'key-scene' && need.keys(keys).length === 0 ? [need.lacks] : [],
    )[0];

/** Defines a check. */
export function check<const N extends Needs = Record<never, never>>(
  id: string,
  { needs, ...ways }: Omit<Check, 'id' | 'needs' | 'decide'> & { readonly needs?: N },
  decide?: (outcomes: OutcomesOf<N>, judge: Judge, trace: Trace) => void,
): Check {
  const needed = needs ?? ({} as N);
  return {
    id,
    needs: needed,
    lacks: keyLacking(needed),
    ...ways,
    // What only watches is not known either where its scenes could not be played.
    decide: (source, judge, trace) => {
      const outcomes = gather(needed, source);
      decide?.(outcomes, judge, trace);
    },
  };
}

/** Why nothing is asked for of a row with these keys and permissions; undefined where something is. */
export function whyNotAsked(
  row: Pick<Check, 'permit' | 'needs' | 'notApplicable' | 'lacks'>,
  { keys, permissions }: Pick<RunFacts, 'keys' | 'permissions'>,
): { readonly kind: 'notApplicable' | 'skips'; readonly reason: string } | undefined {
  const unbound = row.notApplicable?.(keys);
  if (unbound !== undefined) return { kind: 'notApplicable', reason: unbound };
  const wanted = permitOf(row, permissions);
  const reason = wanted === undefined ? row.lacks?.(keys) : needsPermission(wanted);
  return reason === undefined ? undefined : { kind: 'skips', reason };
}

/** What was done of the things that a scene tried in turn; says why the others were not. */
export function doneOf<T>({ done, unsettled }: InTurn<T>, judge: Judge): readonly T[] {
  for (const { reason, evidence } of unsettled) judge.unsettled(reason, ...evidence);
  return done;
}

function tell(judge: Judge, exchange: Exchange, violation: Violation | undefined): void {
  if (violation === undefined) judge.holds(exchange);
  else judge.breaks(violation, exchange);
}

/** Says that an exchange breaks the requirement, that it does not, or that this cannot be told. */
export function judgeExchange<E extends Exchange>(
  judge: Judge,
  exchange: E,
  violationIn: (exchange: E) => Violation | undefined,
): void {
  settledOr(
    () => tell(judge, exchange, violationIn(exchange)),
    ({ message, evidence }) => judge.unsettled(message, ...evidence),
  );
}

/**
 * Judges each answer by itself.
 *
 * @param subject what of an answer is judged; undefined where the requirement is not about it
 * @param violation what is wrong with it; undefined where nothing is
 */
export const observes =
  <T>(
    subject: (exchange: AnsweredExchange, soFar: TraceSoFar) => T | undefined,
    violation: (subject: T, exchange: AnsweredExchange, soFar: TraceSoFar) => Violation | undefined,
  ): NonNullable<Check['observe']> =>
  (exchange, judge, soFar) => {
    const seen = subject(exchange, soFar);
    if (seen !== undefined) tell(judge, exchange, violation(seen, exchange, soFar));
  };

/** What a run saw of a gap. */
export interface GapAnswer {
  readonly answer: string;
  readonly detail: string;
  readonly evidence: readonly Exchange[];
}

/** Answers a gap from what scenes brought or the trace shows. */
export interface GapObserver {
  /** The gap's id in spec/requirements.yaml. */
  readonly id: string;
  readonly permit?: Permission;
  readonly needs: Needs;
  /** Undefined where this run does not show the answer; throws Unsettled with the reason where it knows one. */
  readonly answer: (source: OutcomeSource, trace: Trace) => GapAnswer | undefined;
}

/** Defines a gap observer. */
export function gap<const N extends Needs = Record<never, never>>(
  id: string,
  { needs, ...options }: { readonly permit?: Permission; readonly needs?: N },
  answer: (outcomes: OutcomesOf<N>, trace: Trace) => GapAnswer | undefined,
): GapObserver {
  const needed = needs ?? ({} as N);
  return { id, needs: needed, ...options, answer: (source, trace) => answer(gather(needed, source), trace) };
}
