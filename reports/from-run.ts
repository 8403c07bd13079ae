import type { Run } from '../checks/run/run.ts';
import type { RunResult } from '../checks/run/run-checks.ts';
import type { RunVerdict } from '../checks/run/verdict.ts';
import { curl } from '../checks/wire/curl.ts';
import type { Exchange } from '../checks/wire/exchange.ts';
import { gaps, requirements } from '../spec/contract.ts';
import {
  type GapResult,
  REPORT_FORMAT_VERSION,
  type Report,
  type RequirementResult,
  type RunFacts,
} from './report.ts';
import { timelineOf } from './timeline.ts';

/** What the report says of a run beside what the run found out. */
export interface RunSurroundings {
  readonly facts: Omit<RunFacts, 'animalsAdded' | 'targetClockSkewMs'>;
  /** Gap id to the answer that the profile pins. */
  readonly pinned: Readonly<Record<string, string>>;
  /** Requirement ids whose failure is known and does not gate. */
  readonly baseline: ReadonlySet<string>;
  /** Milliseconds since 1970 when the run began. */
  readonly startedAt: number;
}

/** Writes down what a run found out. */
export function reportOf(run: Run, result: RunResult, surroundings: RunSurroundings): Report {
  const cited = new Map<string, Exchange>();
  const cite = (evidence: readonly Exchange[]) => {
    for (const exchange of evidence) cited.set(exchange.id, exchange);
    return evidence.map(({ id }) => id);
  };
  const rows = requirementRows(run, result, surroundings, cite);
  const gapRows = gaps.flatMap((gap) => gapRow(gap, result, surroundings, cite));
  const exchanges = new Map([...run.exchanges.map((exchange) => [exchange.id, exchange] as const), ...cited]);
  const skew = run.targetClock.skew;
  return {
    formatVersion: REPORT_FORMAT_VERSION,
    run: {
      ...surroundings.facts,
      animalsAdded: run.animalsAdded,
      ...(skew === undefined ? {} : { targetClockSkewMs: Math.round(skew) }),
    },
    verdict: verdictOf(rows, gapRows),
    requirements: rows,
    gaps: gapRows,
    requests: {
      total: [...run.requestsByKey.values()].reduce((sum, count) => sum + count, 0),
      byKey: Object.fromEntries(run.requestsByKey),
    },
    timeline: timelineOf(run, surroundings.startedAt),
    exchanges: [...exchanges.values()].sort((a, b) => a.sentAt - b.sentAt).map(withShortBody),
  };
}

/** Characters of a body that a report holds; the journal beside it has the whole. */
const LONGEST_BODY = 64 * 1024;

function withShortBody(exchange: Exchange): Exchange {
  const { outcome } = exchange;
  if (outcome.kind !== 'response' || outcome.body.length <= LONGEST_BODY) return exchange;
  const body = outcome.body.slice(0, LONGEST_BODY);
  return { ...exchange, outcome: { bodyProblem: 'truncated-in-record', ...outcome, body } };
}

function requirementRows(
  run: Run,
  result: RunResult,
  { baseline }: RunSurroundings,
  cite: (evidence: readonly Exchange[]) => string[],
): RequirementResult[] {
  return requirements.flatMap((row) => {
    const settled = result.requirements.get(row.id);
    if (settled === undefined) return [];
    const { id, section, level, title, statement } = row;
    const [decisive] = settled.evidence;
    const key = decisive === undefined ? undefined : run.keyOf(decisive);
    return [
      {
        id,
        section,
        level,
        title,
        statement,
        verdict: settled.verdict,
        reason: settled.reason,
        ...(settled.violation === undefined ? {} : settled.violation),
        evidence: cite(settled.evidence),
        ...(settled.verdict === 'fail' && decisive !== undefined
          ? { curl: curl(decisive, run.baseUrl, key?.env) }
          : {}),
        ...(settled.verdict === 'fail' && baseline.has(id) ? { baselined: true } : {}),
      },
    ];
  });
}

function gapRow(
  gap: (typeof gaps)[number],
  result: RunResult,
  { pinned }: RunSurroundings,
  cite: (evidence: readonly Exchange[]) => string[],
): GapResult[] {
  const { id, section, question } = gap;
  const found = result.gaps.get(id);
  const pin = pinned[id] ?? null;
  const row = { id, section, question, pinned: pin };
  if (gap.unobservable !== undefined)
    return [{ ...row, observed: null, verdict: 'unobservable', detail: gap.unobservable, evidence: [] }];
  if (found === undefined) return [];
  if (typeof found === 'string')
    return [{ ...row, observed: null, verdict: 'not-observed', detail: found, evidence: [] }];
  const { answer, detail, evidence } = found;
  const verdict = pin === null ? 'observed' : pin === answer ? 'kept' : 'drifted';
  return [{ ...row, observed: answer, verdict, detail, evidence: cite(evidence) }];
}

/** A MUST that could not be judged makes a run inconclusive, and so does a run in which nothing was. */
function verdictOf(rows: readonly RequirementResult[], gapRows: readonly GapResult[]): RunVerdict {
  const musts = rows.filter(({ level }) => level === 'MUST');
  if (musts.some(({ verdict, baselined }) => verdict === 'fail' && baselined !== true))
    return 'not-conformant';
  if (gapRows.some(({ verdict }) => verdict === 'drifted')) return 'not-conformant';
  if (musts.some(({ verdict }) => verdict === 'inconclusive')) return 'inconclusive';
  return rows.some(({ verdict }) => verdict === 'pass') ? 'conformant' : 'inconclusive';
}
