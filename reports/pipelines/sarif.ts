import type { Log, ReportingDescriptor, Result } from 'sarif';
import { factLines, type Standing, type TestCase, type TestRun } from '../test-run.ts';

/** The results. Code scanning shows each as an alert, so other standings have none. */
const RESULT: Partial<Record<Standing, Pick<Result, 'kind' | 'level'>>> = {
  fail: { kind: 'fail', level: 'error' },
  known: { kind: 'fail', level: 'error' },
  inconclusive: { kind: 'open', level: 'none' },
  noted: { kind: 'informational', level: 'none' },
};

/** To this file findings point where no profile is named; code scanning requires one. */
const NO_PROFILE = 'petstore-profile.yaml';

/**
 * SARIF 2.1.0: a rule for each case, and a result for each failure, drifted answer and case that could not be judged (kind
 * `open`). A failure's message has the exchange that proves it. Findings point at the target profile, a file of the
 * repository in which code scanning can show them.
 */
export function renderSarif({ name, problems, cases, run }: TestRun): string {
  const artifact = run.profile ?? NO_PROFILE;
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'petstore-harness', version: run.harnessVersion, rules: cases.map(ruleOf) },
        },
        automationDetails: { id: `petstore-harness/${name}/` },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: problems.length === 0,
            startTimeUtc: run.startedAt,
            commandLine: run.command,
            toolExecutionNotifications: problems.map((text) => ({ level: 'error', message: { text } })),
          },
        ],
        results: cases.flatMap((one, ruleIndex) => {
          const told = RESULT[one.standing];
          return told === undefined ? [] : [{ ...resultOf(one, artifact), ruleIndex, ...told }];
        }),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

const ruleOf = ({ id, name, about = {}, tags = [] }: TestCase): ReportingDescriptor => ({
  id,
  shortDescription: { text: name },
  help: { text: factLines(about).join('\n') || name },
  defaultConfiguration: { level: 'error' },
  properties: { tags: [...tags] },
});

function resultOf(one: TestCase, artifact: string): Result {
  const { id, standing, reason } = one;
  const told = standing === 'inconclusive' ? [] : factLines({ ...one.about, ...one.facts });
  return {
    ruleId: id,
    message: { text: [reason, ...told].join('\n') },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: artifact }, region: { startLine: 1 } },
        logicalLocations: [{ name: id, kind: 'member' }],
      },
    ],
    // Without it code scanning distinguishes alerts by their line, and all of ours have the same one.
    partialFingerprints: { 'requirement/v1': id },
    suppressions:
      standing === 'known'
        ? [{ kind: 'external', justification: 'Covered by the baseline of known failures' }]
        : undefined,
  };
}
