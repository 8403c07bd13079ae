/** What a check or an observer says of a run, the scenes of which a test may have played beforehand. */
import type { Check, GapAnswer, GapObserver } from '../../run/check.ts';
import { Findings } from '../../run/findings.ts';
import { judgeCheck } from '../../run/judge.ts';
import type { Run } from '../../run/run.ts';
import type { Need, Scene } from '../../run/scene.ts';
import type { Trace, TraceSoFar } from '../../run/trace.ts';
import type { RequirementVerdict } from '../../run/verdict.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';

export interface Judged {
  readonly verdict: RequirementVerdict;
  readonly reason: string;
  /** Of a violation. */
  readonly expected: string | undefined;
  /** Ids of the exchanges with commas, the decisive one first. */
  readonly evidence: string;
}

const idsOf = (exchanges: readonly Exchange[]) => [...new Set(exchanges)].map(({ id }) => id).join();

function named<T extends { readonly id: string }>(rows: readonly T[], id: string): T {
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) throw new Error(`there is no ${id}`);
  return row;
}

async function play(run: Run, needs: readonly Need[]): Promise<void> {
  for (const need of needs) await run.playNeed(need);
}

/** Plays what one check needs and is not settled yet, and judges it; without what it sees in the answers. */
export async function judged(run: Run, checks: readonly Check[], id: string): Promise<Judged> {
  const check = named(checks, id);
  await play(run, Object.values(check.needs));
  return settled(judgeCheck(check, new Findings(), run, run.trace));
}

/** Lets one check look at answers as they come; `soFar` is what is known otherwise than the run's trace says. */
export function seen(
  run: Run,
  checks: readonly Check[],
  id: string,
  answers: readonly AnsweredExchange[],
  soFar: TraceSoFar = run.trace,
): Judged {
  const check = named(checks, id);
  const findings = new Findings();
  for (const answer of answers) findings.guard(() => check.observe?.(answer, findings, soFar));
  findings.guard(() => check.conclude?.(run.trace, findings));
  return settled(findings);
}

/** A trace that holds these. */
export function traceOf(
  run: Run,
  exchanges: readonly Exchange[],
  readings: readonly RateReading[] = [],
): Trace {
  const { run: facts, targetClock, signs } = run.trace;
  return {
    run: facts,
    targetClock,
    signs,
    exchanges,
    readings,
    readingsOf: ({ name }, since = 0) =>
      readings.filter(({ key, sentAt }) => key === name && sentAt >= since),
    find: (id) => exchanges.find((exchange) => exchange.id === id),
    keyOf: (exchange) => run.trace.keyOf(exchange),
    refusalsOf: () => 0,
  };
}

/** What one check says in the end of a run that exchanged these. */
export function concluded(
  run: Run,
  checks: readonly Check[],
  id: string,
  exchanges: readonly Exchange[],
  readings: readonly RateReading[] = [],
): Judged {
  const findings = new Findings();
  findings.guard(() => named(checks, id).conclude?.(traceOf(run, exchanges, readings), findings));
  return settled(findings);
}

function settled(findings: Findings): Judged {
  const { verdict, reason, violation, evidence } = findings.settle();
  return { verdict, reason, expected: violation?.expected, evidence: idsOf(evidence) };
}

/** Answers one gap; of the evidence the ids. */
export async function observed(
  run: Run,
  gaps: readonly GapObserver[],
  id: string,
): Promise<(Omit<GapAnswer, 'evidence'> & Pick<Judged, 'evidence'>) | undefined> {
  const gap = named(gaps, id);
  await play(run, Object.values(gap.needs));
  const answer = gap.answer(run, run.trace);
  return answer === undefined ? undefined : { ...answer, evidence: idsOf(answer.evidence) };
}

/** Lets a scene have been played with this outcome. */
export async function played(run: Run, id: string, outcome: unknown): Promise<void> {
  run.settle(id, outcome);
}

/** Plays one scene; what came of it. @throws Unsettled */
export async function outcomeOf<T>(run: Run, scene: Scene<T>): Promise<T> {
  await run.play(scene);
  return run.outcomeOf(scene);
}
