import { currentId, requirements } from '../../spec/contract.ts';
import type { Permission } from '../../spec/permissions.ts';
import type { Key } from '../profile/key.ts';
import type { Violation } from '../wire/answer.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { Findings } from './findings.ts';
import { Inconclusive, type Reason } from './reason.ts';
import type { RunFacts } from './run-facts.ts';
import { type AnyScene, type InTurn, type KeyScenes, playedOn, type Scene } from './scene.ts';
import type { Trace, TraceSoFar } from './trace.ts';

/** Where a check says what it saw. A check that says nothing is inconclusive, never passed. */
export type Judge = Pick<Findings, 'holds' | 'breaks' | 'inconclusive' | 'notApplicable'>;

/** What a run brought: the outcomes of its scenes, and its trace. */
export interface Seen {
  readonly trace: Trace;
  /** @throws Inconclusive where the scene could not be played to its end, or was not permitted */
  of<T>(scene: Scene<T>): T;
  /** Undefined where nothing came of the scene. */
  maybe<T>(scene: Scene<T>): T | undefined;
  /** What came of it on each of its keys that the target knows. */
  on<T>(scenes: KeyScenes<T>): InTurn<T>;
}

/**
 * A requirement's check: data and pure functions, one for each way to judge. None of them sends, waits or reads a
 * clock; they may throw Inconclusive.
 */
export interface Check {
  /** The requirement's id in spec/requirements.yaml, or the gap's. */
  readonly id: string;
  /** Without this permission the requirement is skipped, unless what a run exchanges anyway shows it broken. */
  readonly permit?: Permission;
  /** The scenes that it judges; without the permission of one of them it is skipped. */
  readonly scenes: readonly AnyScene[];
  /** Without this permission a part is not tried, and the requirement skipped unless the rest breaks it. */
  readonly inFullWith?: Permission;
  /** Why nothing is asked for of it with these keys, be the scenes as they may; undefined where something is. */
  readonly notAsked?: (keys: readonly Key[]) => Reason | undefined;
  /** Whether a failure stands although the target gives requests the answers of others: it is that very failure. */
  readonly standsWhereCrossed?: true;
  /** Whether it is about answers as such: what rests on an answer that breaks it cannot be told, and follows from that. */
  readonly isBasis?: true;
  /** Whether its failure explains that a key has fewer requests than its own ones leave: nobody else has to use it. */
  readonly explainsShortage?: true;
  /** Whether a failure of another row that this exchange shows follows from its own, which those exchanges show. */
  readonly explains?: (shown: AnsweredExchange, own: readonly Exchange[]) => boolean;
  /** Sees every answered exchange of the three operations, in the order of receipt. */
  readonly observe?: (exchange: AnsweredExchange, judge: Judge, soFar: TraceSoFar) => void;
  /** Decides on the outcomes of its scenes. */
  readonly decide: (judge: Judge, seen: Seen) => void;
  /** Decides on the whole trace. */
  readonly conclude?: (judge: Judge, trace: Trace) => void;
}

/** Defines a check; which permission it needs stands with its requirement. */
export function check(
  id: string,
  { scenes = [], ...options }: Partial<Omit<Check, 'id' | 'decide'>>,
  decide: Check['decide'] = (_, seen) => {
    // What only watches is not known either where its scenes could not be played.
    for (const one of scenes) {
      if (one.kind === 'scene') seen.of(one);
      else playedOn(seen.on(one));
    }
  },
): Check {
  const current = currentId(id);
  const permit = requirements.find((row) => row.id === current)?.permit;
  return { id: current, scenes, ...(permit === undefined ? {} : { permit }), ...options, decide };
}

/** Why nothing is asked for of a row with these keys and permissions; undefined where something is. */
export function whyNotAsked(
  row: Pick<Check, 'permit' | 'scenes' | 'notAsked'>,
  { keys, permissions }: Pick<RunFacts, 'keys' | 'permissions'>,
): Reason | undefined {
  const ofKeys = row.notAsked?.(keys);
  if (ofKeys !== undefined) return ofKeys;
  const permission = [row.permit, ...row.scenes.map(({ permit }) => permit)].find(
    (permit) => permit !== undefined && !permissions.has(permit),
  );
  if (permission !== undefined) return { kind: 'not-permitted', permission };
  const none = row.scenes.find((scene) => scene.kind === 'on-keys' && scene.keys(keys).length === 0);
  if (none?.kind !== 'on-keys') return undefined;
  const { wanted } = none;
  const { role } = wanted;
  // Where no key has the role, nobody asks yet what else such a key needs.
  const isRoleMissing = role !== undefined && keys.every(({ roles }) => !roles.includes(role));
  return { kind: 'no-key', wanted: isRoleMissing ? { role } : wanted };
}

/** What was done of the things that a scene tried in turn. @param judge is told why the others were not */
export const doneOf = <T>(tried: InTurn<T>, judge?: Judge): T[] =>
  tried.flatMap((one) => {
    if (!(one instanceof Inconclusive)) return [one];
    judge?.inconclusive(one.reason, ...one.evidence);
    return [];
  });

/** Says that an exchange breaks the requirement, or that it does not. */
export function judgeExchange(judge: Judge, exchange: Exchange, violation: Violation | undefined): void {
  if (violation === undefined) judge.holds(exchange);
  else judge.breaks(violation, exchange);
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
    if (seen !== undefined) judgeExchange(judge, exchange, violation(seen, exchange, soFar));
  };

export const watches = ({ observe, conclude }: Check): boolean =>
  observe !== undefined || conclude !== undefined;

/** Whether it is shown by whatever is answered: it has no scene of its own. */
export const isShownByAll = (check: Check): boolean => watches(check) && check.scenes.length === 0;

/** What a run saw of a gap. */
export interface GapAnswer {
  readonly answer: string;
  readonly detail: string;
  readonly evidence: readonly Exchange[];
}

/** Answers a gap from what scenes brought or the trace shows; without the permission of one of them it is not asked for. */
export interface GapObserver extends Pick<Check, 'id' | 'scenes'> {
  /** Undefined where this run does not show the answer; throws Inconclusive with the reason where it knows one. */
  readonly answer: (seen: Seen) => GapAnswer | undefined;
}

/** Defines a gap observer. */
export const gap = (
  id: string,
  scenes: GapObserver['scenes'],
  answer: GapObserver['answer'],
): GapObserver => ({ id: currentId(id), scenes, answer });
