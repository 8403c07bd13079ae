/** Judges a run from its outcomes and its trace alone: the same for one that was just played and for a stored one. */

import { TargetClock } from '../limits/target-clock.ts';
import { type AnsweredExchange, isAnswered } from '../wire/exchange.ts';
import { causesIn, withCauses } from './cause.ts';
import { type Check, type GapAnswer, type GapObserver, whyNotAsked } from './check.ts';
import { type Doubt, doubtOf, isBefore } from './doubt.ts';
import { Findings, NOTHING_SHOWN, type Settled } from './findings.ts';
import { needsPermission, type OutcomeSource, scenesOf } from './scene.ts';
import { isOfTheDocument, type Trace, type TraceSoFar } from './trace.ts';
import { settledOr } from './unsettled.ts';

/** What is judged: the checks and gap observers that were asked for. */
export interface Judging {
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  /** Ids of the requirements that were left out of the run. */
  readonly leftOut?: readonly string[];
}

/** What a run found out. */
export interface RunResult {
  /** By requirement id. */
  readonly requirements: ReadonlyMap<string, Settled>;
  /** By gap id; a string says why there is no answer. */
  readonly gaps: ReadonlyMap<string, GapAnswer | string>;
  /** Why not all that came is evidence (something took the target's place, answers were crossed), in one line. */
  readonly doubt?: string;
}

/** What checks find in the answers as they come. */
export class Watch {
  readonly #findings: ReadonlyMap<Check, Findings>;
  readonly #watching: readonly {
    readonly observe: NonNullable<Check['observe']>;
    readonly findings: Findings;
  }[];

  constructor(checks: readonly Check[]) {
    this.#findings = new Map(checks.map((check) => [check, new Findings()]));
    this.#watching = checks.flatMap((check) =>
      check.observe === undefined ? [] : [{ observe: check.observe, findings: this.of(check) }],
    );
  }

  /** To which the judgements of the check are added, once. */
  of(check: Check): Findings {
    return this.#findings.get(check) ?? new Findings();
  }

  /** @returns whether it breaks a requirement */
  see(exchange: AnsweredExchange, soFar: TraceSoFar): boolean {
    let breaks = false;
    // Nothing is allocated here: that is twenty checks for each of a hundred thousand answers.
    for (const { observe, findings } of this.#watching) {
      const before = findings.broken;
      try {
        observe(exchange, findings, soFar);
      } catch (error) {
        findings.admit(error);
      }
      breaks ||= findings.broken > before;
    }
    return breaks;
  }
}

/** What is found of one check, given what was found in the answers. */
export function judgeCheck(check: Check, findings: Findings, source: OutcomeSource, trace: Trace): Findings {
  const { run } = trace;
  const notAsked = whyNotAsked(check, run);
  if (notAsked === undefined) findings.guard(() => check.decide?.(source, findings, trace));
  else findings[notAsked.kind](notAsked.reason);
  if (check.inFullWith !== undefined && !run.permissions.has(check.inFullWith))
    findings.skips(needsPermission(check.inFullWith));
  findings.guard(() => check.conclude?.(trace, findings));
  return findings;
}

/** Lets checks watch the whole trace, each answer with what was known when it came. */
export function watched(checks: readonly Check[], trace: Trace): Watch {
  const watch = new Watch(checks);
  const targetClock = new TargetClock();
  const refusals = new Map<string | null, number>();
  const soFar: TraceSoFar = {
    targetClock,
    keyOf: (exchange) => trace.keyOf(exchange),
    refusalsOf: ({ key }) => (key === null ? 0 : (refusals.get(key) ?? 0)),
  };
  for (const reading of trace.readings) {
    targetClock.learn(reading);
    if (reading.status === 429) refusals.set(reading.key, (refusals.get(reading.key) ?? 0) + 1);
    const exchange = trace.find(reading.id);
    if (exchange !== undefined && isAnswered(exchange) && isOfTheDocument(exchange))
      watch.see(exchange, soFar);
  }
  return watch;
}

const LEFT_OUT: Settled = { verdict: 'skipped', reason: 'left out by --only', evidence: [] };

/** Judges everything that was asked for. */
export function judgeRun(
  { checks, gapObservers, leftOut = [] }: Judging,
  source: OutcomeSource,
  trace: Trace,
): RunResult {
  const watch = watched(checks, trace);
  const doubt = doubtOf(source, trace);
  const judged = checks.map((check) => {
    const findings = judgeCheck(check, watch.of(check), source, trace);
    const settled = doubt === undefined ? findings.settle() : settleInDoubt(doubt, check, findings);
    return { check, findings, settled };
  });
  const settled = judged.map(({ check, settled }) => [check.id, settled] as const);
  const gaps = gapObservers.map((observer) => {
    const answer = gapAnswer(observer, source, trace);
    const stands =
      typeof answer === 'string' ||
      doubt === undefined ||
      (doubt.until !== undefined && answer.evidence.every((exchange) => isBefore(exchange, doubt)));
    return [observer.id, stands ? answer : doubt.message] as const;
  });
  const rows = withTrueCauses(new Map([...settled, ...leftOut.map((id) => [id, LEFT_OUT] as const)]));
  for (const { check, settled } of judged)
    rows.set(check.id, withBasis(check, rows.get(check.id) ?? settled, judged));
  return {
    requirements: rows,
    gaps: new Map(gaps),
    ...(doubt === undefined ? {} : { doubt: doubt.message }),
  };
}

/** Names the failure on whose answers an open row rests, unless the row names its cause itself. */
function withBasis(
  { id, needs }: Check,
  row: Settled,
  judged: readonly { readonly check: Check; readonly findings: Findings; readonly settled: Settled }[],
): Settled {
  const { verdict, reason, evidence } = row;
  const isOpen = verdict === 'inconclusive' && causesIn(reason).length === 0;
  // Without evidence only a row that nothing was seen of rests on its scenes: other reasons stand for themselves.
  if (!isOpen || (evidence.length === 0 && reason !== NOTHING_SHOWN)) return row;
  const sceneIds = scenesOf([{ needs }]).map((scene) => scene.id);
  const basis = judged.find(
    ({ check, findings, settled }) =>
      check.isBasis === true &&
      check.id !== id &&
      settled.verdict === 'fail' &&
      findings.isBrokenIn(evidence, sceneIds),
  );
  return basis === undefined ? row : { ...row, reason: `${reason} (see ${basis.check.id})` };
}

/** A row that passed explains no other. */
function withTrueCauses(rows: ReadonlyMap<string, Settled>): Map<string, Settled> {
  const explains = (id: string) => rows.has(id) && rows.get(id)?.verdict !== 'pass';
  return new Map([...rows].map(([id, row]) => [id, { ...row, reason: withCauses(row.reason, explains) }]));
}

function gapAnswer(observer: GapObserver, source: OutcomeSource, trace: Trace): GapAnswer | string {
  return (
    whyNotAsked(observer, trace.run)?.reason ??
    settledOr(
      () => observer.answer(source, trace),
      ({ message }) => message,
    ) ??
    'this run does not show it'
  );
}

/**
 * What was found before the doubt; afterwards nothing is found, neither good nor bad. Of crossed answers nothing can be
 * told but that they are crossed.
 */
function settleInDoubt(doubt: Doubt, { standsWhereCrossed }: Check, findings: Findings): Settled {
  const isCrossed = doubt.until === undefined;
  const settled = findings.settle(
    (exchange) => isBefore(exchange, doubt) || (isCrossed && standsWhereCrossed === true),
  );
  if (settled.verdict === 'fail' || (!isCrossed && findings.broken === 0)) return settled;
  return { verdict: 'inconclusive', reason: doubt.message, evidence: [] };
}
