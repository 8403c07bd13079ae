import type { Invocation, Log, ReportingDescriptor, Result } from 'sarif';
import type { Exchange } from '../checks/wire/exchange.ts';
import { failureLine, outcome, unexplainedVerdict } from './outcome.ts';
import type { GapResult, Report, RequirementResult } from './report.ts';
import { shownLine, shownLines } from './visible-text.ts';

/** Where the finding can be read; code scanning wants a file, and the report has every exchange. */
const ARTIFACT = 'report.json';

/**
 * SARIF 2.1.0: a rule per requirement, a result for every failure, drifted answer and MUST that was not verified
 * (kind `open`), each failure with the request and response that prove it. Passes are left out: code scanning shows
 * every result as an alert.
 */
export function renderSarif(report: Report): string {
  const { broken, known, drifted, notVerified } = outcome(report);
  const exchanges = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  const rules = [...report.requirements.map(requirementRule), ...drifted.map(gapRule)];
  const ruleIndex = new Map(rules.map(({ id }, index) => [id, index]));
  const finding = (ruleId: string, text: string): Result => ({
    ruleId,
    ruleIndex: ruleIndex.get(ruleId) ?? -1,
    message: { text },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: ARTIFACT }, region: { startLine: 1 } },
        logicalLocations: [{ name: ruleId, kind: 'member' }],
      },
    ],
    // Without it code scanning tells alerts apart by their line, and all of ours point to the same one.
    partialFingerprints: { 'requirement/v1': ruleId },
  });
  const failure = (row: RequirementResult): Result => {
    const decisive = exchanges.get(row.evidence[0] ?? '');
    return {
      ...finding(row.id, failureText(row)),
      kind: 'fail',
      level: 'error',
      ...(row.baselined === true
        ? { suppressions: [{ kind: 'external', justification: 'Listed in the baseline of known failures' }] }
        : {}),
      ...(decisive === undefined ? {} : webExchange(decisive, report.run.target)),
    };
  };
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'petstore-harness', version: report.run.harnessVersion, rules } },
        automationDetails: { id: 'petstore-harness/check/' },
        columnKind: 'utf16CodeUnits',
        invocations: [invocation(report)],
        results: [
          ...[...broken, ...known].map(failure),
          ...drifted.map(
            (gap): Result => ({ ...finding(gap.id, driftText(gap)), kind: 'fail', level: 'error' }),
          ),
          ...notVerified.map(
            (row): Result => ({
              ...finding(row.id, `Not verified: ${shownLine(row.reason)}`),
              kind: 'open',
              level: 'none',
            }),
          ),
        ],
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function requirementRule(row: RequirementResult): ReportingDescriptor {
  return {
    id: row.id,
    shortDescription: { text: shownLine(row.title) },
    fullDescription: { text: shownLine(row.statement) },
    help: {
      text: `Section ${row.section} of the Pet Store Service Interface (${row.level}): ${shownLine(row.statement)}`,
    },
    defaultConfiguration: { level: 'error' },
    properties: { tags: [`section ${row.section}`, row.level] },
  };
}

function gapRule(row: GapResult): ReportingDescriptor {
  return {
    id: row.id,
    shortDescription: { text: shownLine(row.question) },
    fullDescription: { text: 'The document leaves this open; the target’s profile pins an answer.' },
    defaultConfiguration: { level: 'error' },
  };
}

function failureText(row: RequirementResult): string {
  return [
    shownLine(failureLine(row)),
    `The document asks: ${shownLine(row.statement)}`,
    ...(row.actual === undefined ? [] : [`What came back: ${shownLine(row.actual)}`]),
    ...(row.curl === undefined ? [] : [`Repeat it with: ${shownLine(row.curl, 2_000)}`]),
  ].join('\n');
}

function driftText(gap: GapResult): string {
  return `${shownLine(gap.detail)}\nPinned: ${shownLine(gap.pinned ?? '')}\nObserved: ${shownLine(gap.observed ?? '')}`;
}

function invocation(report: Report): Invocation {
  const problem = unexplainedVerdict(report);
  return {
    executionSuccessful: problem === undefined,
    startTimeUtc: report.run.startedAt,
    commandLine: shownLine(report.run.command),
    ...(problem === undefined
      ? {}
      : { toolExecutionNotifications: [{ level: 'error', message: { text: shownLine(problem) } }] }),
  };
}

function webExchange(exchange: Exchange, target: string): Pick<Result, 'webRequest' | 'webResponse'> {
  const { request, outcome: came } = exchange;
  const headers = (list: Exchange['request']['headers']) =>
    Object.fromEntries(list.map(([name, value]) => [shownLine(name, 100), shownLine(value)]));
  const body = (text: string) => ({ text: shownLines(text, 4_000) });
  return {
    webRequest: {
      protocol: 'HTTP',
      version: '1.1',
      method: request.method,
      target: shownLine(target + request.path, 1_000),
      headers: headers(request.headers),
      ...(request.body === undefined ? {} : { body: body(request.body) }),
    },
    webResponse:
      came.kind === 'failure'
        ? { noResponseReceived: true, reasonPhrase: shownLine(came.message, 200) }
        : { statusCode: came.status, headers: headers(came.headers), body: body(came.body) },
  };
}
