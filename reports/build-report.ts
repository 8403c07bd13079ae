/**
 * A report as every format shows it: its rows in groups, the causes first, its headline, what made its verdict, what to do
 * next. It is built once; a format is a template over it. What a target chose is made harmless here.
 */
import type { Exchange } from '../checks/wire/exchange.ts';
import { exchangeText } from './exchange-parts.ts';
import { count, runFacts, wayNotices } from './facts.ts';
import { nextSteps } from './next-steps.ts';
import { sentenceOf, whySkipped } from './reasons.ts';
import type { GapResult, Report } from './report.ts';
import {
  bySection,
  type Groups,
  groupsOf,
  ofKind,
  type Row,
  type RowKind,
  type Rows,
  rowKind,
} from './rows.ts';
import type { Standing, TestCase, TestRun } from './test-run.ts';
import { harmless } from './visible-text.ts';

/** Builds what every format shows of a report. */
export function buildReport(stored: Report) {
  const report = harmless(stored);
  const { requirements: rows, gaps } = report;
  const exchanges = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  const proofOf = ({ evidence: [id = ''] }: Row) => exchanges.get(id);
  const groups = groupsOf(report);
  return {
    report,
    /** The exchange that decided a row. */
    proofOf,
    ...groups,
    name: 'Pet Store interface',
    ...headlinesOf(report, groups),
    verdict: VERDICTS[report.verdict][0],
    problems: problemsOf(report, groups),
    /** What a reader should know who looks at nothing else: somebody else used a key. */
    notices: [...wayNotices(report.run.way), ...interferenceIn(rows)],
    /** What to do next, the most useful first. */
    steps: nextSteps(report, groups),
    cases: [
      ...bySection(rows).flatMap(([name, those]) => those.map((row) => rowCase(name, row, proofOf(row)))),
      ...gaps.filter(({ pinned }) => pinned !== null).map(pinCase),
    ],
    facts: runFacts(report),
    run: report.run,
  };
}

/** A report in the form that formats show. */
export type BuiltReport = ReturnType<typeof buildReport>;

const VERDICTS = {
  conformant: ['pass', 'Conformant'],
  'nothing-broken': ['pass', 'Nothing broken'],
  'not-conformant': ['fail', 'Not conformant'],
  inconclusive: ['inconclusive', 'Inconclusive'],
} as const satisfies Record<Report['verdict'], readonly [TestRun['verdict'], words: string]>;

/** The verdict in words. Only a run that left nothing out says that the target conforms. */
export const verdictWords = ({ verdict }: Pick<Report, 'verdict'>): string => VERDICTS[verdict][1];

/** The verdict and its numbers in one line, and in a few words. */
function headlinesOf(report: Report, { causes, drifted }: Groups): Pick<TestRun, 'headline' | 'short'> {
  const { requirements: rows, problems, verdict } = report;
  if (rows.length === 0 && problems.length > 0)
    return { headline: `Nothing to judge: ${problems.join('; ')}`, short: 'Nothing to judge' };
  const number = (kind: RowKind) => ofKind(rows, kind).length;
  const [broken, known, open, may] = [number('fail'), number('known'), number('inconclusive'), number('may')];
  const [left, unbound] = [ofKind(rows, 'skipped'), number('not-applicable')];
  const asked = rows.length - left.length - unbound;
  const told = (many: number, words: string) => (many === 0 ? [] : [words]);
  const few = causes.length < broken ? `, ${count(causes.length, 'cause')}` : '';
  const verified = left.length === 0 ? `${count(asked, 'requirement')} verified` : `${asked} asked for`;
  const parts = [
    ...told(broken, `${broken} of ${count(asked, 'requirement')} broken${few}`),
    ...(broken > 0 ? [] : problems),
    ...(broken > 0 ? [] : told(asked, `${number('pass')} of ${verified}`)),
    ...(asked > 0 ? [] : told(unbound, `${unbound} not applicable`)),
    ...told(drifted.length, `${count(drifted.length, 'pinned answer')} drifted`),
    ...told(known, `${known} covered by the baseline`),
    ...told(open, `${open} not verified`),
    ...told(may, `${may} of level MAY not verified`),
    ...told(left.length, `${left.length} skipped (${whySkipped(left.flatMap(({ why }) => why))})`),
  ];
  const isKnown = verdict === 'nothing-broken' && known > 0;
  const words = isKnown ? 'Nothing new broken' : verdictWords(report);
  return {
    headline: `${words}: ${parts.join(', ')}`,
    short: `${words}: ${parts[0] ?? ''}`,
  };
}

/**
 * What made the verdict in addition to requirements and pinned answers, a line each: the run was cut short, a baseline
 * entry is stale, nothing could be judged.
 */
function problemsOf({ run, problems, verdict }: Report, { causes, drifted, notVerified }: Groups): string[] {
  const found = [
    ...(run.interrupted === undefined ? [] : [`The run ended early: ${run.interrupted}`]),
    ...problems,
  ];
  const isExplained = found.length + causes.length + drifted.length + notVerified.length > 0;
  return isExplained || VERDICTS[verdict][0] === 'pass' ? found : ['Nothing was verified'];
}

function interferenceIn(rows: Rows): string[] {
  const said = rows.flatMap(({ why }) =>
    why.flatMap((reason) => (reason.kind === 'interference' && reason.key ? sentenceOf(reason) : [])),
  );
  return [...new Set(said)].map((what) => `Perhaps somebody else used a key: ${what}`);
}

/** A failure in one line: what came, and what was asked for. */
export function failureLine({ reason, expected }: Pick<Row, 'reason' | 'expected'>): string {
  return expected === undefined ? reason : `${reason.replace(/\.$/, '')}; asked for: ${expected}`;
}

/** A pinned answer that the target no longer gives, in one line. */
export const driftLine = ({ observed, pinned, detail }: GapResult): string =>
  `answers ${observed ?? 'nothing'}, the profile pins ${pinned ?? 'nothing'} (${detail})`;

const PREFIX: Partial<Record<Standing, string>> = {
  known: 'Covered by the baseline: ',
  inconclusive: 'Not verified: ',
  may: 'Not verified (MAY): ',
};

/** A requirement's row as a test case. */
export function rowCase(suite: string, row: Row, proof: Exchange | undefined): TestCase {
  const { id, section, level, title, statement, clause, reading, verdict, consequenceOf } = row;
  const standing = rowKind(row);
  const because = consequenceOf === undefined ? '' : `Follows from ${consequenceOf}: `;
  const unbound = verdict === 'not-applicable' ? `${row.reason} (not applicable)` : row.reason;
  const reason = standing === 'fail' ? failureLine(row) : unbound;
  return {
    id,
    suite,
    name: `${id} (${section}) ${title}`,
    standing,
    reason: `${PREFIX[standing] ?? ''}${because}${reason}`,
    seconds: proof && Math.max(0, proof.receivedAt - proof.sentAt) / 1000,
    about: { 'The document': clause, 'Our reading': reading, 'What is asked': statement },
    facts: {
      'Of this exchange': row.expected,
      'What came back': row.actual,
      'Repeat it with': row.curl,
      'Exchanges in report.json': row.evidence.join(', ') || undefined,
      Exchange: verdict === 'fail' && proof !== undefined ? exchangeText(proof, row.at) : undefined,
    },
    tags: [`section ${section}`, level],
    consequenceOf,
  };
}

/** A row that is decided while the run goes on, as a test case. */
export const decidedCase = (row: Row, proof: Exchange | undefined): TestCase =>
  rowCase('', harmless(row), proof && harmless(proof));

function pinCase(gap: GapResult): TestCase {
  const { id, section, verdict, pinned, observed, question } = gap;
  const drifted = verdict === 'drifted';
  return {
    id,
    suite: 'Pinned answers to what the document leaves open',
    name: `gap ${id} (${section}) ${question}`,
    standing: drifted ? 'fail' : verdict === 'kept' ? 'pass' : 'skipped',
    reason: drifted ? driftLine(gap) : `Not seen in this run: ${gap.detail}`,
    facts: { Pinned: pinned ?? '', Observed: observed ?? 'nothing' },
    tags: [`section ${section}`, 'pinned'],
  };
}
