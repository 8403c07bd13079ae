import type { Exchange } from '../checks/wire/exchange.ts';
import { exchangeText } from './exchange-text.ts';
import { driftLine, failureLine, outcome, runProblems } from './outcome.ts';
import type { GapResult, Report, RequirementResult } from './report.ts';
import { bySection } from './sections.ts';
import { shownLine, shownLines } from './visible-text.ts';

/**
 * `unknown` was asked for and could not be judged. `known` is a failure that the baseline lists. `noted` was seen, but
 * was not to be judged.
 */
export type Standing = 'passed' | 'failed' | 'unknown' | 'known' | 'skipped' | 'noted';

/** A test case, as other programs know it. Its texts are safe to escape and show. */
export interface TestCase {
  /** Stable from run to run. */
  readonly id: string;
  readonly suite: string;
  readonly classname: string;
  /** Title with id, for a list. */
  readonly name: string;
  readonly title: string;
  readonly standing: Standing;
  /** The type of failure that it is or would be. */
  readonly kind: string;
  /** One line: why it has this standing. */
  readonly reason: string;
  /** What a reader needs to act on it, by name; an undefined fact is left out. */
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly proof?: Exchange;
  readonly rule?: { readonly section: string; readonly level: string; readonly statement: string };
  /** The id of the case that explains this one. */
  readonly consequenceOf?: string;
}

/** A run as test cases. It may be a check or a load. */
export interface TestRun {
  readonly name: string;
  readonly headline: string;
  /** The headline in a few words. */
  readonly short: string;
  readonly verdict: 'held' | 'broken' | 'open';
  /** What made the verdict in addition to the cases, a line each. */
  readonly problems: readonly string[];
  readonly cases: readonly TestCase[];
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly run: {
    readonly startedAt: string;
    readonly durationSeconds: number;
    readonly harnessVersion: string;
    readonly target: string;
    readonly command?: string;
  };
}

/** What is written before a fact. */
const LABELS: Readonly<Record<string, string>> = {
  asks: 'The document asks: ',
  expected: 'Of this exchange: ',
  actual: 'What came back: ',
  curl: 'Repeat it with: ',
  evidence: 'Exchanges in report.json: ',
  pinned: 'Pinned: ',
  observed: 'Observed: ',
};

/** A case's facts as lines for a reader, without the verdict. */
export function factLines({ facts }: TestCase): string[] {
  return Object.entries(facts).flatMap(([name, text]) =>
    text === undefined || name === 'verdict' ? [] : [`${LABELS[name] ?? '\n'}${text}`],
  );
}

/** The suite of the run itself, for formats that have only suites of cases. */
export const RUN_SUITE = 'The run';

/** The cases. Before them the run itself: a case for each of its problems, or one that passed. */
export function withRunItself({ name, headline, problems, cases }: TestRun): readonly TestCase[] {
  const itself = problems.length > 0 ? problems : [undefined];
  return [
    ...itself.map(
      (problem, index): TestCase => ({
        id: 'run',
        suite: RUN_SUITE,
        classname: 'petstore-harness.run',
        name: index === 0 ? `${name}: ${headline}` : (problem ?? ''),
        title: name,
        standing: problem === undefined ? 'passed' : 'unknown',
        kind: 'run',
        reason: problem ?? '',
        facts: {},
      }),
    ),
    ...cases,
  ];
}

/** A check's report as test cases: one for each requirement, by section, and one for each pinned answer. */
export function checkRun(report: Report): TestRun {
  const proofs = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  const { broken, drifted, notVerified, skipped, passed, headline } = outcome(report);
  const { run, requests } = report;
  const some = (number: number, word: string) => (number > 0 ? [`${number} ${word}`] : []);
  const asked = report.requirements.filter(
    ({ verdict }) => verdict !== 'skipped' && verdict !== 'not-applicable',
  );
  const verified =
    skipped.length === 0
      ? `conformant (${passed.length} verified)`
      : `${passed.length} of ${asked.length}, ${skipped.length} skipped`;
  return {
    name: 'Pet Store interface',
    headline: shownLine(headline),
    short: {
      conformant: verified,
      'not-conformant':
        [
          ...some(broken.length, 'broken'),
          ...some(drifted.length, 'drifted'),
          ...some(report.problems.length, 'stale in the baseline'),
        ].join(', ') || 'not conformant',
      inconclusive: `inconclusive (${notVerified.length} not verified)`,
    }[report.verdict],
    verdict: ({ conformant: 'held', 'not-conformant': 'broken', inconclusive: 'open' } as const)[
      report.verdict
    ],
    problems: runProblems(report).map((problem) => shownLine(problem, 300)),
    cases: [
      ...bySection(report.requirements).flatMap(({ name, rows }) =>
        rows.map((row) => requirementCase(name, row, proofs.get(row.evidence[0] ?? ''))),
      ),
      ...report.gaps.filter(({ pinned }) => pinned !== null).map(pinCase),
    ],
    facts: [
      ['run', run.id],
      ['target', run.target],
      ['harness', run.harnessVersion],
      ['permissions', run.permissions.join(', ') || 'none'],
      ['keys', run.keys.map(({ name, plan }) => `${name} (${plan})`).join(', ')],
      ['clock', run.clockSpeed === 1 ? 'real' : `simulated, ${run.clockSpeed} times real time`],
      ['requests', String(requests.total)],
      ['command', run.command],
    ].map(([label = '', text = '']) => [label, shownLine(text)] as const),
    run,
  };
}

const PREFIX = { known: 'Known failure, listed in the baseline: ', unknown: 'Not verified: ' } as const;

/** A requirement's row as a test case. */
export function requirementCase(
  suite: string,
  row: RequirementResult,
  proof: Exchange | undefined,
): TestCase {
  const { id, section, level, statement, verdict, consequenceOf } = row;
  const standing = standingOf(row);
  const because = consequenceOf === undefined ? '' : `Follows from ${consequenceOf}: `;
  const prefix =
    verdict === 'inconclusive' && standing === 'skipped'
      ? 'Not verified (MAY): '
      : standing === 'known' || standing === 'unknown'
        ? PREFIX[standing]
        : '';
  const unbound = verdict === 'not-applicable' ? `${row.reason} (not applicable)` : row.reason;
  const reason = standing === 'failed' ? failureLine(row) : unbound;
  const text = (value: string | undefined) => (value === undefined ? undefined : shownLines(value));
  return {
    id,
    suite,
    // Consumers read a dot as a package boundary, so the section number must not bring its own.
    classname: `petstore-harness.section-${section.replaceAll('.', '-')}`,
    name: `${id} (${section}) ${shownLine(row.title)}`,
    title: shownLine(row.title),
    standing,
    kind: standing === 'unknown' ? 'inconclusive' : level,
    reason: `${prefix}${because}${shownLine(reason, 400)}`,
    facts: {
      verdict,
      asks: shownLine(statement),
      expected: text(row.expected),
      actual: text(row.actual),
      curl: text(row.curl),
      evidence: row.evidence.slice(0, 10).join(', ') || undefined,
      exchange: verdict === 'fail' && proof !== undefined ? exchangeText(proof) : undefined,
    },
    rule: { section, level, statement: shownLine(statement) },
    ...(verdict === 'fail' && proof !== undefined ? { proof } : {}),
    ...(consequenceOf === undefined ? {} : { consequenceOf }),
  };
}

function standingOf({ verdict, level, baselined, required }: RequirementResult): Standing {
  switch (verdict) {
    case 'pass':
      return 'passed';
    case 'fail':
      return baselined === true ? 'known' : 'failed';
    case 'inconclusive':
      if (baselined === true) return 'known';
      return level === 'MUST' || required === true ? 'unknown' : 'skipped';
    case 'skipped':
    case 'not-applicable':
      return 'skipped';
  }
}

function pinCase(gap: GapResult): TestCase {
  const { id, section, verdict, pinned, observed } = gap;
  const drifted = verdict === 'drifted';
  const standing = drifted ? 'failed' : verdict === 'kept' ? 'passed' : 'skipped';
  return {
    id,
    suite: 'Pinned answers to what the document leaves open',
    classname: 'petstore-harness.gaps',
    name: `gap ${id} (${section}) ${shownLine(gap.question)}`,
    title: shownLine(gap.question),
    standing,
    kind: 'drift',
    reason: drifted ? shownLine(driftLine(gap), 400) : `Not seen in this run: ${shownLine(gap.detail, 300)}`,
    facts: { pinned: shownLine(pinned ?? ''), observed: shownLine(observed ?? 'nothing') },
    rule: { section, level: 'pinned', statement: 'The document leaves it open; the profile pins an answer.' },
  };
}
