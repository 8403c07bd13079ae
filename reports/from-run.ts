import type { CheckedTarget } from '../checks/check-target.ts';
import type { GapAnswer } from '../checks/run/check.ts';
import type { Finding } from '../checks/run/findings.ts';
import type { Reason } from '../checks/run/reason.ts';
import type { Exchange } from '../checks/wire/exchange.ts';
import { everyRow, type Gap, gaps, keepsPinned, type Requirement } from '../spec/contract.ts';
import { count } from './facts.ts';
import { sentence, sentenceOf } from './reasons.ts';
import {
  type GapResult,
  REPORT_FORMAT_VERSION,
  type Report,
  type RequirementResult,
  type RunFacts,
} from './report.ts';
import { timelineOf } from './timeline.ts';
import { type Gate, gated, isComplete, staleEntries, verdictOf } from './verdict.ts';

/** What the report says in addition to what the run found out. */
export interface RunSurroundings extends Gate {
  /** What was known before the run began, and what ended it early. */
  readonly facts: Omit<RunFacts, 'animalsAdded' | 'targetClockSkewMs'>;
  /** The command that repeats an exchange. */
  readonly repeating: (exchange: Exchange) => string;
  /** Gap id to the answer that the profile pins. */
  readonly pinned: Readonly<Record<string, string>>;
}

/** Writes down what a run found out, or why there was nothing to judge: the target was not reached, or refused every key. */
export function reportOf(checked: CheckedTarget, surroundings: RunSurroundings): Report {
  const { facts, pinned, repeating } = surroundings;
  const nothing = {
    formatVersion: REPORT_FORMAT_VERSION,
    run: { ...facts, animalsAdded: 0 },
    verdict: 'inconclusive',
    complete: false,
    problems: [],
    requirements: [],
    gaps: [],
    requests: { total: 0, byKey: {} },
    timeline: [],
    exchanges: [],
  } as const;
  if (checked.kind === 'not-ready') return { ...nothing, problems: [checked.message] };
  const { trace, result, startedAt, endedAt, banned } = checked;
  const { requestsByKey } = trace;
  const { id, keys } = trace.run;
  const judged = everyRow().flatMap((requirement) => {
    const finding = result.requirements.get(requirement.id);
    return finding === undefined ? [] : [requirementRow(requirement, finding, repeating)];
  });
  const rows = gated(judged, surroundings);
  const gapRows = gaps.flatMap((gap) => gapRow(gap, result.gaps.get(gap.id), pinned[gap.id] ?? null));
  const problems = staleEntries(rows, surroundings.baseline);
  const answers = [...result.gaps.values()].filter((answer) => 'answer' in answer);
  const cited = [...result.requirements.values(), ...answers].flatMap(({ evidence }) => evidence);
  const exchanges = new Map(cited.map((exchange) => [exchange.id, exchange]));
  const skew = trace.targetClock.skew;
  return {
    ...nothing,
    run: {
      ...facts,
      id,
      startedAt: new Date(startedAt).toISOString(),
      durationSeconds: (endedAt - startedAt) / 1000,
      keys: keys.map(({ name, plan, roles }) => ({ name, plan, roles })),
      // A success with the wrong status has added one too.
      animalsAdded: trace.readings.filter(
        ({ operation, status, intent }) =>
          operation === 'createPet' && status >= 200 && status < 300 && intent !== 'foreign',
      ).length,
      way:
        facts.traffic === true
          ? facts.way
          : { ...facts.way, httpVersion: trace.exchanges.some(isHttp2) ? '2' : '1.1' },
      targetClockSkewMs: skew && Math.round(skew),
    },
    verdict: verdictOf(rows, gapRows, problems),
    complete: isComplete(rows),
    problems,
    requirements: rows,
    gaps: gapRows,
    requests: {
      total: [...requestsByKey.values()].reduce((sum, count) => sum + count, 0),
      byKey: Object.fromEntries(requestsByKey),
    },
    timeline: timelineOf(trace, banned, startedAt),
    exchanges: [...exchanges.values()].sort((a, b) => a.sentAt - b.sentAt).map(withShortBody),
  };
}

const isHttp2 = ({ outcome }: Exchange) => outcome.kind === 'response' && outcome.httpVersion === '2';

/** How many characters of a body a report holds; the journal beside it has all. */
const LONGEST_BODY = 64 * 1024;

function withShortBody(exchange: Exchange): Exchange {
  const { outcome } = exchange;
  if (outcome.kind !== 'response' || outcome.body.length <= LONGEST_BODY) return exchange;
  const body = outcome.body.slice(0, LONGEST_BODY);
  return { ...exchange, outcome: { bodyProblem: 'truncated-in-record', ...outcome, body } };
}

/** The row of a requirement. */
export function requirementRow(
  { id, section, level, title, statement, clause, reading, plan, permit }: Requirement,
  { verdict, reasons, violation, evidence }: Finding,
  repeating: RunSurroundings['repeating'],
): RequirementResult {
  const [decisive] = evidence;
  const [first] = reasons;
  const times = first?.kind === 'broken' && first.times > 1 ? ` (${count(first.times, 'time')})` : '';
  return {
    ...{ id, section, level, title, statement, reading, plan, permit, verdict },
    clause: clause || undefined,
    reason: violation === undefined ? sentence(reasons) : `${violation.actual}${times}`,
    why: reasons,
    ...violation,
    evidence: evidence.map((exchange) => exchange.id),
    curl: verdict === 'fail' && decisive !== undefined ? repeating(decisive) : undefined,
  };
}

function gapRow(gap: Gap, found: GapAnswer | Reason | undefined, pinned: string | null): GapResult[] {
  const { id, section, question, unobservable } = gap;
  const row = { id, section, question, pinned };
  const unseen = { ...row, observed: null, evidence: [] };
  if (unobservable !== undefined) return [{ ...unseen, verdict: 'unobservable', detail: unobservable }];
  if (found === undefined) return [];
  if (!('answer' in found)) return [{ ...unseen, verdict: 'not-observed', detail: sentenceOf(found) }];
  const { answer, detail, evidence } = found;
  const verdict = pinned === null ? 'observed' : keepsPinned(gap, pinned, answer) ? 'kept' : 'drifted';
  return [{ ...row, observed: answer, verdict, detail, evidence: evidence.map((exchange) => exchange.id) }];
}
