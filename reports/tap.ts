import type { Exchange } from '../checks/wire/exchange.ts';
import { exchangeText } from './exchange-text.ts';
import { outcome, unexplainedVerdict } from './outcome.ts';
import type { Report, RequirementResult } from './report.ts';
import { type Point, tapDocument } from './tap-document.ts';
import { shownLine, shownLines } from './visible-text.ts';

/**
 * TAP 14: a test point per requirement, one for each pinned answer and one for the run itself. A MUST that could not
 * be verified is `not ok`; a skipped point would read as green.
 */
export function renderTap(report: Report): string {
  const proofs = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  return tapDocument([
    runPoint(report),
    ...report.requirements.map((row) => requirementPoint(row, proofs.get(row.evidence[0] ?? ''))),
    ...report.gaps
      .filter(({ pinned }) => pinned !== null)
      .map(({ id, question, verdict, pinned, observed, detail }) => ({
        ok: verdict !== 'drifted',
        description: `gap ${id}: ${shownLine(question)}`,
        ...(verdict === 'not-observed' || verdict === 'unobservable'
          ? { directive: `SKIP ${shownLine(detail, 200)}` }
          : {}),
        ...(verdict === 'drifted'
          ? { diagnostic: { pinned, observed: shownLine(observed ?? ''), detail: shownLine(detail) } }
          : {}),
      })),
  ]);
}

function runPoint(report: Report): Point {
  const problem = unexplainedVerdict(report);
  return {
    ok: problem === undefined,
    description: `run: ${shownLine(outcome(report).headline)}`,
    ...(problem === undefined ? {} : { diagnostic: { verdict: report.verdict, reason: shownLine(problem) } }),
  };
}

function requirementPoint(row: RequirementResult, proof: Exchange | undefined): Point {
  const { id, section, level, verdict } = row;
  const description = `${id} (${section}) ${shownLine(row.title)}`;
  const reason = shownLine(row.reason, 300);
  switch (verdict) {
    case 'pass':
      return { ok: true, description };
    case 'not-applicable':
      return { ok: true, description, directive: `SKIP not applicable: ${reason}` };
    case 'inconclusive':
      return level === 'MAY'
        ? { ok: true, description, directive: `SKIP not verified: ${reason}` }
        : { ok: false, description, diagnostic: { verdict, reason } };
    case 'fail': {
      const point = { ok: false, description, diagnostic: failureDiagnostic(row, reason, proof) };
      return row.baselined === true
        ? { ...point, directive: 'TODO known failure, listed in the baseline' }
        : point;
    }
  }
}

function failureDiagnostic(
  row: RequirementResult,
  reason: string,
  proof: Exchange | undefined,
): Readonly<Record<string, unknown>> {
  const text = (value: string | undefined) => (value === undefined ? undefined : shownLines(value, 2_000));
  return {
    verdict: row.verdict,
    reason,
    asks: text(row.statement),
    expected: text(row.expected),
    actual: text(row.actual),
    curl: text(row.curl),
    evidence: row.evidence.slice(0, 10),
    exchange: proof === undefined ? undefined : exchangeText(proof),
  };
}
