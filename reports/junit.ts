import type { Exchange } from '../checks/wire/exchange.ts';
import { exchangeText } from './exchange-text.ts';
import { type Case, junitDocument, type Suite, type Trouble } from './junit-document.ts';
import { driftLine, failureLine, outcome, unexplainedVerdict } from './outcome.ts';
import type { GapResult, Report, RequirementResult } from './report.ts';
import { bySection } from './sections.ts';
import { shownLine, shownLines } from './visible-text.ts';

/**
 * JUnit XML: a suite per section of the document, a case per requirement, one for each pinned answer, and one for the
 * run itself.
 *
 * A MUST that could not be verified is an `<error>`, not `<skipped>`: every pipeline shows skipped as green, and an
 * error is exactly JUnit's word for "the test could not be carried out". Skipped is left for what does not gate:
 * requirements that do not apply, MAY rows, and failures that the baseline lists.
 */
export function renderJunit(report: Report): string {
  const proofs = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  return junitDocument(report.run, [
    runSuite(report),
    ...bySection(report.requirements).map(({ name, rows }) => ({
      name,
      cases: rows.map((row) => requirementCase(row, proofs.get(row.evidence[0] ?? ''))),
    })),
    gapSuite(report.gaps),
  ]);
}

function runSuite(report: Report): Suite {
  const problem = unexplainedVerdict(report);
  return {
    name: 'The run',
    properties: runProperties(report),
    cases: [
      {
        name: shownLine(outcome(report).headline),
        classname: 'petstore-harness.run',
        ...(problem === undefined
          ? {}
          : { trouble: { tag: 'error', type: report.verdict, message: shownLine(problem, 300) } as const }),
      },
    ],
  };
}

function runProperties({ run, requests }: Report): [string, string][] {
  return [
    ['run', run.id],
    ['target', run.target],
    ['harness', run.harnessVersion],
    ['permissions', run.permissions.join(', ') || 'none'],
    ['keys', run.keys.map(({ name, plan }) => `${name} (${plan})`).join(', ')],
    ['clock', run.clockSpeed === 1 ? 'real' : `simulated, ${run.clockSpeed} times real time`],
    ['requests', String(requests.total)],
    ['command', run.command],
  ].map(([name = '', value = '']) => [name, shownLine(value)]);
}

function requirementCase(row: RequirementResult, proof: Exchange | undefined): Case {
  const trouble = requirementTrouble(row, proof);
  return {
    name: `${row.id}: ${shownLine(row.title)}`,
    // Consumers read a dot as a package boundary, so the section number must not bring its own.
    classname: `petstore-harness.section-${row.section.replaceAll('.', '-')}`,
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function requirementTrouble(row: RequirementResult, proof: Exchange | undefined): Trouble | undefined {
  const reason = shownLine(row.reason, 300);
  switch (row.verdict) {
    case 'pass':
      return undefined;
    case 'not-applicable':
      return { tag: 'skipped', message: `Not applicable: ${reason}` };
    case 'inconclusive':
      return row.level === 'MAY'
        ? { tag: 'skipped', message: `Not verified (MAY): ${reason}` }
        : { tag: 'error', type: 'inconclusive', message: `Not verified: ${reason}`, text: details(row) };
    case 'fail':
      return row.baselined === true
        ? { tag: 'skipped', message: `Known failure, listed in the baseline: ${reason}` }
        : {
            tag: 'failure',
            type: row.level,
            message: shownLine(failureLine(row), 400),
            text: details(row, proof),
          };
  }
}

function details(row: RequirementResult, proof?: Exchange): string {
  const lines = [
    ['The document asks', row.statement],
    ['Of this exchange', row.expected],
    ['What came back', row.actual],
    ['Repeat it with', row.curl],
    ['Exchanges in report.json', row.evidence.slice(0, 10).join(', ') || undefined],
  ].flatMap(([label, text]) => (text === undefined ? [] : [`${label}: ${shownLines(text, 2_000)}`]));
  const exchange = proof === undefined ? '' : `\n${exchangeText(proof)}\n`;
  return `\n${lines.join('\n')}\n${exchange}`;
}

function gapSuite(gaps: readonly GapResult[]): Suite {
  const pinned = gaps.filter((gap) => gap.pinned !== null);
  return {
    name: 'Pinned answers to what the document leaves open',
    cases: pinned.map((gap) => ({
      name: `${gap.id}: ${shownLine(gap.question)}`,
      classname: 'petstore-harness.gaps',
      ...gapTrouble(gap),
    })),
  };
}

function gapTrouble(gap: GapResult): { trouble?: Trouble } {
  if (gap.verdict === 'kept') return {};
  const detail = shownLine(gap.detail, 300);
  if (gap.verdict !== 'drifted')
    return { trouble: { tag: 'skipped', message: `Not seen in this run: ${detail}` } };
  const text = `\nPinned: ${shownLine(gap.pinned ?? '')}\nObserved: ${shownLine(gap.observed ?? '')}\n`;
  return { trouble: { tag: 'failure', type: 'drift', message: shownLine(driftLine(gap), 400), text } };
}
