import { type AnsweredExchange, isAnswered } from '../wire/exchange.ts';
import { type ChangedTarget, changedTarget, isBefore } from './changed-target.ts';
import { type Check, type GapAnswer, type GapObserver, type Scene, Unsettled } from './check.ts';
import { crossedAnswers, standsWhereCrossed } from './crossed-answers.ts';
import { Findings, type Settled } from './findings.ts';
import type { Probe } from './probe.ts';
import type { Run } from './run.ts';
import type { RunEvent } from './run-events.ts';

/** What a run found out. */
export interface RunResult {
  /** By requirement id. */
  readonly requirements: ReadonlyMap<string, Settled>;
  /** By gap id; a string says why there is no answer. */
  readonly gaps: ReadonlyMap<string, GapAnswer | string>;
  /** Why not all that came is evidence (something took the target's place, answers were crossed), in one line. */
  readonly doubt?: string;
}

export interface CheckPlan {
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  /** The long spendings that run side by side, a lane a key: minutes and bans first, then days. */
  readonly lanes: (probe: Probe) => readonly (readonly Scene<unknown>[])[];
  readonly onEvent?: (event: RunEvent) => void;
}

const LIMIT_PERMISSIONS = new Set(['exhaust', 'ban', 'day']);

/** Whether a check drives a key to its limit, which comes after everything that spends a few requests. */
const atTheLimit = ({ permit }: { readonly permit?: string }) =>
  permit !== undefined && LIMIT_PERMISSIONS.has(permit);

/**
 * Runs checks against a target: those that spend little in turn, then the long spendings side by side, then what needs
 * the whole. Only Unsettled may come out of a check; anything else is a defect of the harness and is thrown on.
 */
export async function runChecks(run: Run, plan: CheckPlan): Promise<RunResult> {
  const findings = new Map(plan.checks.map(({ id }) => [id, new Findings()]));
  const of = (check: Check): Findings => findings.get(check.id) ?? new Findings();
  const gaps = new Map<string, GapAnswer | string>();

  const observe = (exchange: AnsweredExchange) => {
    for (const check of plan.checks) check.observe?.(exchange, of(check), run);
  };
  // What was exchanged before the run knew its target is evidence as well.
  for (const exchange of run.exchanges.filter(isAnswered))
    if (exchange.request.operation !== 'other') observe(exchange);
  run.onAnswer(observe);

  const guarded = async (check: Check, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      of(check).unsettled(error.message, ...error.evidence);
    }
  };
  const runCheck = async (check: Check) => {
    const { run: provoke, permit } = check;
    plan.onEvent?.({ kind: 'check-started', id: check.id });
    const without = check.notApplicable?.(run.keys);
    if (without !== undefined) of(check).notApplicable(without);
    else if (permit !== undefined && !run.permissions.has(permit))
      of(check).unsettled(`needs the permission ${permit}`);
    else if (provoke !== undefined) await guarded(check, () => provoke(run.probe(check.id), of(check)));
    const { verdict, reason } = of(check).settle();
    plan.onEvent?.({ kind: 'check-ended', id: check.id, verdict, reason });
  };
  const observeGap = async (observer: GapObserver) => {
    const { id, permit, run: provoke } = observer;
    if (provoke === undefined) return;
    if (permit !== undefined && !run.permissions.has(permit)) {
      gaps.set(id, `needs the permission ${permit}`);
      return;
    }
    try {
      gaps.set(id, (await provoke(run.probe(`gap:${id}`))) ?? 'this run does not show it');
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      gaps.set(id, error.message);
    }
  };

  const ordinary = plan.checks.filter((check) => !atTheLimit(check));
  for (const check of ordinary) await runCheck(check);
  for (const observer of plan.gapObservers.filter((candidate) => !atTheLimit(candidate)))
    await observeGap(observer);

  // The lanes start together; the checks then wait for what they judge, and say so one by one.
  const lanes = plan.lanes(run.probe('lanes')).map(async (scenes) => {
    for (const scene of scenes) {
      await run.play(scene).catch((error: unknown) => {
        if (!(error instanceof Unsettled)) throw error;
      });
    }
  });
  const defect = Promise.all(lanes);
  defect.catch(() => undefined);
  for (const check of plan.checks.filter(atTheLimit)) await runCheck(check);
  for (const observer of plan.gapObservers.filter(atTheLimit)) await observeGap(observer);
  await defect;

  for (const check of plan.checks) {
    const { afterwards, permit } = check;
    if (afterwards === undefined || (permit !== undefined && !run.permissions.has(permit))) continue;
    await guarded(check, () => afterwards(run.probe(`${check.id}:afterwards`), of(check), run));
  }
  for (const check of plan.checks) check.conclude?.(run, of(check));
  for (const { id, conclude } of plan.gapObservers) {
    if (conclude !== undefined) gaps.set(id, conclude(run) ?? 'this run does not show it');
  }
  const change = await changedTarget(run);
  const crossed = crossedAnswers(run.exchanges);
  const settled = new Map(
    [...findings].map(([id, finding]) => {
      if (crossed !== undefined) return [id, settleCrossed(id, finding, crossed)];
      return [id, change === undefined ? finding.settle() : settleBefore(change, finding)];
    }),
  );
  const doubt = crossed ?? change?.message;
  if (doubt === undefined) return { requirements: settled, gaps };
  for (const [id, answer] of gaps) {
    if (typeof answer === 'string') continue;
    const before = change !== undefined && answer.evidence.every((exchange) => isBefore(exchange, change));
    if (!before) gaps.set(id, doubt);
  }
  return { requirements: settled, gaps, doubt };
}

/** What was found before the target changed; afterwards nothing is found, neither good nor bad. */
function settleBefore(change: ChangedTarget, findings: Findings): Settled {
  const settled = findings.settle((exchange) => isBefore(exchange, change));
  if (settled.verdict === 'fail' || !findings.broken) return settled;
  return { verdict: 'inconclusive', reason: change.message, evidence: [] };
}

/** Of crossed answers nothing can be told but that they are crossed. */
function settleCrossed(id: string, findings: Findings, crossed: string): Settled {
  const settled = findings.settle();
  if (settled.verdict === 'fail' && standsWhereCrossed(id)) return settled;
  return { verdict: 'inconclusive', reason: crossed, evidence: [] };
}
