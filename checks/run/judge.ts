/** Judges a run from its outcomes and its trace alone: the same for one that was just played and for a stored one. */

import { everyRow } from '../../spec/contract.ts';
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
import { concluded, Inconclusive, notTold, type Reason } from './reason.ts';
import type { Run } from './run.ts';
import type { AnyScene } from './scene.ts';

/** What is judged: the checks and gap observers that were asked for. */
export interface Judging {
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  /** What is played as well for a row that has no scene of its own: their answers show it. */
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
  else findings.inconclusive(notAsked);
  const { inFullWith } = check;
  if (inFullWith !== undefined && !trace.run.permissions.has(inFullWith))
    findings.inconclusive({ kind: 'not-permitted', permission: inFullWith });
  findings.guard(() => check.conclude?.(findings, trace));
  return findings;
}

const LEFT_OUT: Finding = { verdict: 'skipped', reasons: [{ kind: 'left-out' }], evidence: [] };

/** Judges everything that was asked for, once. */
export function judgeRun(judging: Judging, run: Run): RunResult {
  const { checks, gapObservers, leftOut = [], harmless = checks.flatMap(({ scenes }) => scenes) } = judging;
  const doubt = doubtOf(run);
  const judged = checks.map((check): Judged => {
    const findings = judgeCheck(check, run.watch.of(check), run);
    const finding = doubt === undefined ? findings.weigh() : weighInDoubt(doubt, check, findings);
    return { check, findings, finding: run.trace.run.declined.has(check.id) ? asDeclined(finding) : finding };
  });
  const gaps = gapObservers.map((observer) => {
    const answer = gapAnswer(observer, run);
    const stands =
      'kind' in answer ||
      doubt === undefined ||
      (doubt.until !== undefined && answer.evidence.every((exchange) => isBefore(exchange, doubt)));
    return [observer.id, stands ? answer : inDoubt(doubt)] as const;
  });
  const open = new Set(
    judged.flatMap(({ check, finding }) => (finding.verdict === 'pass' ? [] : [check.id])),
  );
  const requirements = new Map([
    ...judged.map((one) => {
      const others = judged.filter((other) => other !== one);
      const row = withCauses(one, others, run, open);
      const alone = isShownByAll(one.check) ? harmless : one.check.scenes;
      return [one.check.id, markAside(row, one.findings, alone, run)] as const;
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
  const held = verdict === 'pass' ? 'holds here' : 'was not seen';
  const what = violation === undefined ? held : `does not hold here: ${violation.actual}`;
  return { verdict: 'not-applicable', reasons: [{ kind: 'declined', what }], evidence };
}

interface Judged {
  readonly check: Check;
  readonly findings: Findings;
  readonly finding: Finding;
}

/** The failure that explains all that shows another one. */
const causeOfFailure = ({ decisive }: Findings, failures: readonly Judged[]): string | undefined =>
  failures.find(({ check: { explains }, findings }) => {
    const own = findings.decisive.filter((one) => one !== undefined);
    return (
      explains !== undefined &&
      decisive.every((one) => one !== undefined && isAnswered(one) && explains(one, own))
    );
  })?.check.id;

const blamesOf = (reason: Reason): readonly string[] => ('blames' in reason ? (reason.blames ?? []) : []);

/**
 * Names the failure from which a row follows.
 *
 * @param open ids of the rows that did not pass: one that passed explains no other
 */
function withCauses(
  { check, findings, finding: row }: Judged,
  others: readonly Judged[],
  run: Run,
  open: ReadonlySet<string>,
): Finding {
  const { declined } = run.trace.run;
  // A reading that is declined explains what follows from it as if it had failed.
  const failures = others.filter(
    (one) => one.finding.verdict === 'fail' || (declined.has(one.check.id) && one.findings.broken > 0),
  );
  const bringsThis = everyRow().filter(({ id, brings }) => declined.has(id) && brings?.includes(check.id));
  const bringer = failures.find(({ check: { id } }) => bringsThis.some((one) => one.id === id));
  if (row.violation !== undefined && bringer !== undefined) {
    const reasons = [notTold(row.violation.actual, bringer.check.id)];
    return { verdict: 'not-applicable', reasons, evidence: row.evidence };
  }
  const cause = row.verdict === 'fail' ? causeOfFailure(findings, failures) : undefined;
  const spenders = failures.filter((one) => one.check.explainsShortage).map((one) => one.check.id);
  const reasons = row.reasons.map((reason): Reason => {
    if (reason.kind === 'broken' && cause !== undefined) return { ...reason, blames: [cause] };
    if (reason.kind === 'interference' && spenders.length > 0) return notTold(reason.what, ...spenders);
    return 'blames' in reason ? { ...reason, blames: blamesOf(reason).filter((id) => open.has(id)) } : reason;
  });
  if (row.verdict !== 'inconclusive') return { ...row, reasons };
  const blamed = reasons.map(blamesOf);
  if (blamed.every((ids) => ids.length > 0 && ids.every((id) => declined.has(id))))
    return { ...row, verdict: 'not-applicable', reasons };
  const [first, ...more] = reasons;
  if (blamed.flat().length > 0 || (first?.kind !== 'not-shown' && first?.kind !== 'not-told'))
    return { ...row, reasons };
  // Without evidence only a row that nothing was seen of rests on its scenes: other reasons stand for themselves.
  const restsOnScenes = reasons.some(({ kind }) => kind === 'not-shown');
  const basis = others.find(
    (one) =>
      one.check.isBasis === true &&
      one.finding.verdict === 'fail' &&
      (row.evidence.length > 0
        ? one.findings.isBrokenIn(row.evidence)
        : restsOnScenes && one.findings.isBrokenBy(run.scenesBehind(check.scenes))),
  );
  return {
    ...row,
    reasons: basis === undefined ? reasons : [{ ...first, blames: [basis.check.id] }, ...more],
  };
}

/** Says where no answer breaks a row that comes where it is asked for alone: the others' requests bring it about. */
function markAside(row: Finding, findings: Findings, alone: readonly AnyScene[], run: Run): Finding {
  // What is played after everything else may show what they have done.
  const atOnce = alone.filter((scene) => scene.kind === 'on-keys' || scene.afterwards !== true);
  if (row.verdict !== 'fail' || row.evidence.length === 0 || findings.isBrokenBy(run.scenesBehind(atOnce)))
    return row;
  const reasons = row.reasons.map((reason) =>
    reason.kind === 'broken' ? { ...reason, aside: true as const } : reason,
  );
  return { ...row, reasons };
}

function gapAnswer(observer: GapObserver, run: Run): GapAnswer | Reason {
  const notAsked = whyNotAsked(observer, run.trace.run);
  if (notAsked !== undefined) return notAsked;
  const answer = concluded(() => observer.answer(run));
  return answer instanceof Inconclusive ? answer.reason : (answer ?? { kind: 'not-shown' });
}

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
