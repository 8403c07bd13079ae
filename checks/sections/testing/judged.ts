/** What a check or an observer says of a run whose scenes a test has played beforehand. */
import { type Check, type GapAnswer, type GapObserver, type RunView, Unsettled } from '../../run/check.ts';
import { Findings } from '../../run/findings.ts';
import type { Run } from '../../run/run.ts';
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

/** Runs one check, as a run does that was given all permissions. */
export async function judged(run: Run, checks: readonly Check[], id: string): Promise<Judged> {
  const check = named(checks, id);
  const findings = new Findings();
  try {
    await check.run?.(run.probe(id), findings);
    await check.afterwards?.(run.probe(`${id}:afterwards`), findings, run);
  } catch (error) {
    if (!(error instanceof Unsettled)) throw error;
    findings.unsettled(error.message, ...error.evidence);
  }
  check.conclude?.(run, findings);
  return settled(findings);
}

/** What one check confirms when every other one has run. */
export async function judgedAfterwards(run: Run, checks: readonly Check[], id: string): Promise<Judged> {
  const findings = new Findings();
  await named(checks, id).afterwards?.(run.probe(`${id}:afterwards`), findings, run);
  return settled(findings);
}

/** Lets one check look at answers as they come; `view` is what the run knows otherwise than its records say. */
export function seen(
  run: Run,
  checks: readonly Check[],
  id: string,
  answers: readonly AnsweredExchange[],
  view: RunView = run,
): Judged {
  const check = named(checks, id);
  const findings = new Findings();
  for (const answer of answers) check.observe?.(answer, findings, view);
  check.conclude?.(run, findings);
  return settled(findings);
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
  const { keys, targetClock } = run;
  named(checks, id).conclude?.(
    {
      keys,
      targetClock,
      exchanges,
      readings,
      find: () => undefined,
      keyOf: () => undefined,
      refusalsOf: () => 0,
    },
    findings,
  );
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
  const answer = (await gap.run?.(run.probe(`gap:${id}`))) ?? gap.conclude?.(run);
  return answer === undefined ? undefined : { ...answer, evidence: idsOf(answer.evidence) };
}

/** Lets a scene have been played with this outcome. */
export async function played(run: Run, id: string, outcome: unknown): Promise<void> {
  await run.play({ id, play: async () => outcome });
}
