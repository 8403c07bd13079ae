/** Judges a run from its outcomes and its trace alone: the same for one that was just played and for a stored one. */

import { requirements } from '../../spec/contract.ts';
import { isAnswered } from '../wire/exchange.ts';
import {
  type Check,
  type GapAnswer,
  type GapObserver,
  isShownByAll,
  type Seen,
  whyNotAsked,
} from './check.ts';
import { type Doubt, doubtOf, isBefore } from './doubt.ts';
import type { Finding, Findings } from './findings.ts';
import { conclusiveOr } from './inconclusive.ts';
import { notTold, type Reason } from './reason.ts';
import type { Run } from './run.ts';
import type { AnyScene } from './scene.ts';

/** What is judged: the checks and gap observers that were asked for. */
export interface Judging {
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  /** What is played for a row that has no scene of its own. */
  readonly harmless?: readonly AnyScene[];
  /** Ids of the requirements that were left out of the run. */
  readonly leftOut?: readonly string[];
}

/** What a run found out. */
export interface RunResult {
  /** By requirement id. */
  readonly requirements: ReadonlyMap<string, Finding>;
  /** By gap id; a reason says why there is no answer. */
  readonly gaps: ReadonlyMap<string, GapAnswer | Reason>;
  /** Why not all that came is evidence (something took the target's place, answers were crossed), in one line. */
  readonly doubt?: string;
}

/** Adds to what was found in the answers what the check finds in outcomes and trace. */
export function judgeCheck(check: Check, findings: Findings, seen: Seen): Findings {
  const { trace } = seen;
  const notAsked = whyNotAsked(check, trace.run);
  if (notAsked === undefined) findings.guard(() => check.decide(findings, seen));
  else if (notAsked.kind === 'unbound') findings.notApplicable(notAsked.what);
  else findings.skips(notAsked);
  const { inFullWith } = check;
  if (inFullWith !== undefined && !trace.run.permissions.has(inFullWith))
    findings.skips({ kind: 'not-permitted', permission: inFullWith });
  findings.guard(() => check.conclude?.(findings, trace));
  return findings;
}

const LEFT_OUT: Finding = { verdict: 'skipped', reasons: [{ kind: 'left-out' }], evidence: [] };

/** Judges everything that was asked for, once. */
export function judgeRun(judging: Judging, run: Run): RunResult {
  const { checks, gapObservers, leftOut = [], harmless = checks.flatMap(({ scenes }) => scenes) } = judging;
  const doubt = doubtOf(run);
  const judged = checks.map((check) => {
    const findings = judgeCheck(check, run.watch.of(check), run);
    const finding = doubt === undefined ? findings.weigh() : weighInDoubt(doubt, check, findings);
    return { check, findings, finding: run.facts.declined.has(check.id) ? asDeclined(finding) : finding };
  });
  const gaps = gapObservers.map((observer) => {
    const answer = gapAnswer(observer, run);
    const stands =
      'kind' in answer ||
      doubt === undefined ||
      (doubt.until !== undefined && answer.evidence.every((exchange) => isBefore(exchange, doubt)));
    return [observer.id, stands ? answer : inDoubt(doubt)] as const;
  });
  const rows = new Map<string, Finding>(judged.map(({ check, finding }) => [check.id, finding]));
  const explains = (id: string) => rows.has(id) && rows.get(id)?.verdict !== 'pass';
  const requirements = new Map([
    ...judged.map(({ check, findings }) => {
      const alone = isShownByAll(check) ? harmless : check.scenes;
      const row = withCauses(check, run, judged, explains);
      return [check.id, isBrokenAside(row, findings, alone, run) ? aside(row) : row] as const;
    }),
    ...leftOut.map((id) => [id, LEFT_OUT] as const),
  ]);
  return {
    requirements,
    gaps: new Map(gaps),
    ...(doubt === undefined ? {} : { doubt: doubt.message }),
  };
}

/** A reading that the target does not promise: observed, and nothing more. */
export function asDeclined({ verdict, violation, evidence }: Finding): Finding {
  if (verdict === 'inconclusive' || verdict === 'skipped' || verdict === 'not-applicable')
    return { verdict: 'not-applicable', reasons: [{ kind: 'declined', what: 'was not seen' }], evidence };
  const what = violation === undefined ? 'holds here' : `does not hold here: ${violation.actual}`;
  return { verdict: 'not-applicable', reasons: [{ kind: 'declined', what }], evidence };
}

type Judged = readonly {
  readonly check: Check;
  readonly findings: Findings;
  readonly finding: Finding;
}[];

/** The failure that explains all that shows another one. */
const causeOfFailure = ({ decisive }: Findings, others: Judged): string | undefined =>
  others.find(({ check: { explains }, findings }) => {
    const own = findings.decisive.filter((one) => one !== undefined);
    return (
      explains !== undefined &&
      decisive.every((one) => one !== undefined && isAnswered(one) && explains(one, own))
    );
  })?.check.id;

/**
 * Names the failure on whose answers an open row rests, unless the row names its cause itself. A row that passed explains
 * no other.
 */
function withCauses(check: Check, run: Run, judged: Judged, explains: (id: string) => boolean): Finding {
  const { finding: row = LEFT_OUT, findings } = judged.find((one) => one.check === check) ?? {};
  const sceneIds = run.scenesBehind(check.scenes);
  const { declined } = run.facts;
  // A reading that is declined explains what follows from it as if it had failed.
  const isBroken = (one: Judged[number]) =>
    one.finding.verdict === 'fail' || (declined.has(one.check.id) && one.findings.broken > 0);
  const others = judged.filter((one) => one.check !== check && isBroken(one));
  const spenders = others.filter((one) => one.check.explainsShortage).map((one) => one.check.id);
  const cause = row.verdict === 'fail' && findings ? causeOfFailure(findings, others) : undefined;
  // What the document states stays broken.
  const isReading = requirements.some(({ id, reading }) => id === check.id && reading !== undefined);
  const besides = others.find((one) => declined.has(one.check.id) && findings?.isBrokenWith(one.findings));
  if (row.violation !== undefined && isReading && besides !== undefined) {
    const reasons = [notTold(row.violation.actual, besides.check.id)];
    return { verdict: 'not-applicable', reasons, evidence: row.evidence };
  }
  const reasons = row.reasons.map((reason): Reason => {
    if (reason.kind === 'broken' && cause !== undefined) return { ...reason, blames: [cause] };
    if (reason.kind === 'interference' && spenders.length > 0) return notTold(reason.what, ...spenders);
    return 'blames' in reason ? { ...reason, blames: reason.blames?.filter(explains) ?? [] } : reason;
  });
  const [first] = reasons;
  const followsDeclined = reasons.every((reason) => {
    const blames = 'blames' in reason ? (reason.blames ?? []) : [];
    return blames.length > 0 && blames.every((id) => declined.has(id));
  });
  if (row.verdict === 'inconclusive' && first !== undefined && followsDeclined)
    return { ...row, verdict: 'not-applicable', reasons };
  const isExplained = reasons.some((reason) => 'blames' in reason && (reason.blames ?? []).length > 0);
  // Without evidence only a row that nothing was seen of rests on its scenes: other reasons stand for themselves.
  const isOpen =
    row.verdict === 'inconclusive' &&
    !isExplained &&
    (row.evidence.length > 0 || row.reasons.some(({ kind }) => kind === 'not-shown'));
  if (!isOpen || (first?.kind !== 'not-shown' && first?.kind !== 'not-told')) return { ...row, reasons };
  const basis = judged.find(
    (other) =>
      other.check.isBasis === true &&
      other.check !== check &&
      other.finding.verdict === 'fail' &&
      other.findings.isBrokenIn(row.evidence, sceneIds),
  );
  if (basis === undefined) return { ...row, reasons };
  return { ...row, reasons: [{ ...first, blames: [basis.check.id] }, ...reasons.slice(1)] };
}

/** Whether no answer breaks a row that comes where it is asked for alone: the others' requests bring it about. */
function isBrokenAside(row: Finding, findings: Findings, alone: readonly AnyScene[], run: Run): boolean {
  // What is played after everything else may show what they have done.
  const atOnce = alone.filter((scene) => scene.kind === 'on-keys' || !scene.afterwards);
  return (
    row.verdict === 'fail' && row.evidence.length > 0 && !findings.isBrokenIn([], run.scenesBehind(atOnce))
  );
}

const aside = (row: Finding): Finding => ({
  ...row,
  reasons: row.reasons.map((reason) => (reason.kind === 'broken' ? { ...reason, aside: true } : reason)),
});

const gapAnswer = (observer: GapObserver, run: Run): GapAnswer | Reason =>
  whyNotAsked(observer, run.facts) ??
  conclusiveOr<GapAnswer | undefined, Reason>(
    () => observer.answer(run),
    ({ reason }) => reason,
  ) ?? { kind: 'not-shown' };

const inDoubt = ({ message }: Doubt): Reason => ({ kind: 'in-doubt', what: message });

/**
 * What was found before the doubt; afterwards nothing is found, neither good nor bad. Of crossed answers nothing can be
 * told but that they are crossed.
 */
function weighInDoubt(doubt: Doubt, { standsWhereCrossed }: Check, findings: Findings): Finding {
  const isCrossed = doubt.until === undefined;
  const finding = findings.weigh(
    (exchange) => isBefore(exchange, doubt) || (isCrossed && standsWhereCrossed === true),
  );
  if (finding.verdict === 'fail' || (!isCrossed && findings.broken === 0)) return finding;
  return { verdict: 'inconclusive', reasons: [inDoubt(doubt)], evidence: [] };
}
