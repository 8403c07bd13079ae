/**
 * A report as every format shows it: its rows in groups, the causes first, its headline, what made its verdict, what to do
 * next. It is built once; a format is a template over it. What a target chose is made harmless here.
 */
import type { Exchange } from '../checks/wire/exchange.ts';
import { groupBy } from '../spec/group-by.ts';
import { exchangeText } from './exchange-parts.ts';
import { count, runFacts, wayNotices } from './facts.ts';
import { nextSteps, type Step } from './next-steps.ts';
import { sentenceOf, whySkipped } from './reasons.ts';
import type { GapResult, Report } from './report.ts';
import type { Groups, ReasonGroup, Row, Rows } from './rows.ts';
import { bySection } from './sections.ts';
import type { Standing, TestCase, TestRun } from './test-run.ts';
import { isOpen } from './verdict.ts';
import { clip, harmless } from './visible-text.ts';

/** A report in the form that formats show. */
export interface BuiltReport extends TestRun, Groups {
  readonly report: Report;
  /** What a reader should know who looks at nothing else: somebody else used a key. */
  readonly notices: readonly string[];
  /** What to do next, the most useful first. */
  readonly steps: readonly Step[];
}

/** Builds what every format shows of a report. */
export function buildReport(stored: Report): BuiltReport {
  const report = harmless(stored);
  const rows = report.requirements;
  const gating = rows.filter(({ baselined }) => baselined !== true);
  const causeIds = new Set(
    gating.filter((row) => isFail(row) && row.consequenceOf === undefined).map(({ id }) => id),
  );
  const isExplained = ({ consequenceOf }: Row) => consequenceOf !== undefined && causeIds.has(consequenceOf);
  const consequences = groupBy(gating.filter(isExplained), ({ consequenceOf }) => consequenceOf);
  const own = gating.filter((row) => !isExplained(row));
  const exchanges = new Map(report.exchanges.map((exchange) => [exchange.id, exchange]));
  const proofOf = ({ evidence: [id = ''] }: Row) => exchanges.get(id);
  const groups = {
    causes: own
      .filter(isFail)
      .map((row) => ({ row, follow: consequences.get(row.id) ?? [], proof: proofOf(row) }))
      .sort((a, b) => b.follow.length - a.follow.length),
    known: rows.filter(({ baselined }) => baselined === true),
    drifted: report.gaps.filter(({ verdict }) => verdict === 'drifted'),
    notVerified: byReason(own.filter(isOpen)),
    mayNotVerified: byReason(own.filter((row) => row.verdict === 'inconclusive' && !isOpen(row))),
    skipped: byReason(rows.filter(({ verdict }) => verdict === 'skipped')),
    passed: rows.filter(({ verdict }) => verdict === 'pass'),
    notApplicable: rows.filter(({ verdict }) => verdict === 'not-applicable'),
    sections: bySection(rows),
  };
  const seconds = ({ evidence }: Row) =>
    evidence.reduce((sum, id) => {
      const { sentAt, receivedAt } = exchanges.get(id) ?? { sentAt: 0, receivedAt: 0 };
      return sum + Math.max(0, receivedAt - sentAt) / 1000;
    }, 0);
  const problems = problemsOf(report, groups);
  return {
    report,
    ...groups,
    name: 'Pet Store interface',
    ...headlinesOf(report, groups),
    verdict: VERDICTS[report.verdict],
    problems,
    notices: [...wayNotices(report.run.way), ...interferenceIn(rows)],
    steps: nextSteps(report, groups),
    cases: [
      ...groups.sections.flatMap(({ name, rows: those }) =>
        those.map((row) => ({ ...rowCase(name, row, proofOf(row)), seconds: seconds(row) })),
      ),
      ...report.gaps.filter(({ pinned }) => pinned !== null).map(pinCase),
    ],
    facts: runFacts(report),
    run: report.run,
  };
}

const isFail = ({ verdict }: Row) => verdict === 'fail';
const rowsIn = (groups: readonly ReasonGroup[]): Rows => groups.flatMap(({ rows }) => rows);

const VERDICTS = {
  conformant: 'pass',
  'nothing-broken': 'pass',
  'not-conformant': 'fail',
  inconclusive: 'inconclusive',
} as const satisfies Record<Report['verdict'], TestRun['verdict']>;

const WORDS = {
  conformant: 'Conformant',
  'nothing-broken': 'Nothing broken',
  'not-conformant': 'Not conformant',
  inconclusive: 'Inconclusive',
} as const satisfies Record<Report['verdict'], string>;

/** The verdict in words. Only a run that left nothing out says that the target conforms. */
export const verdictWords = ({ verdict }: Pick<Report, 'verdict'>): string => WORDS[verdict];

/** How many rows of a report were asked for, and how many of those are broken. */
const tally = ({ requirements }: Report, { causes, skipped, notApplicable }: Groups) => ({
  asked: requirements.length - notApplicable.length - rowsIn(skipped).length,
  broken: causes.length + causes.flatMap(({ follow }) => follow.filter(isFail)).length,
});

/** The verdict and its numbers in one line, and in a few words. */
function headlinesOf(report: Report, groups: Groups): Pick<TestRun, 'headline' | 'short'> {
  const { causes, known, drifted, notVerified, mayNotVerified, skipped, passed, notApplicable } = groups;
  const { asked, broken } = tally(report, groups);
  if (report.requirements.length === 0 && report.problems.length > 0)
    return { headline: `Nothing to judge: ${report.problems.join('; ')}`, short: 'Nothing to judge' };
  const open =
    rowsIn(notVerified).length + causes.flatMap(({ follow }) => follow.filter((row) => !isFail(row))).length;
  const left = rowsIn(skipped);
  const verified =
    left.length === 0
      ? `${passed.length} of ${count(asked, 'requirement')} verified`
      : `${passed.length} of ${asked} asked for`;
  const parts = [
    ...(broken > 0
      ? [
          `${broken} of ${count(asked, 'requirement')} broken${causes.length < broken ? `, ${count(causes.length, 'cause')}` : ''}`,
        ]
      : report.problems),
    ...(broken > 0 || asked === 0 ? [] : [verified]),
    ...(asked === 0 && notApplicable.length > 0 ? [`${notApplicable.length} not applicable`] : []),
    ...(drifted.length > 0 ? [`${count(drifted.length, 'pinned answer')} drifted`] : []),
    ...(known.length > 0 ? [count(known.length, 'known failure')] : []),
    ...(open > 0 ? [`${open} not verified`] : []),
    ...(mayNotVerified.length > 0 ? [`${rowsIn(mayNotVerified).length} of level MAY not verified`] : []),
    ...(left.length > 0 ? [`${left.length} skipped (${whySkipped(left.flatMap(({ why }) => why))})`] : []),
  ];
  const isStale = report.problems.length > 0 && open === 0 && report.verdict === 'inconclusive';
  const words =
    report.verdict === 'nothing-broken' && known.length > 0
      ? 'Nothing new broken'
      : isStale
        ? 'Baseline out of date'
        : verdictWords(report);
  return {
    headline: `${words}: ${parts.join(', ')}`,
    short: isStale ? words : `${words}: ${parts[0] ?? ''}`,
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
  return isExplained || VERDICTS[verdict] === 'pass' ? found : ['Nothing was verified'];
}

function interferenceIn(rows: Rows): string[] {
  const said = rows.flatMap(({ why }) =>
    why.flatMap((reason) => (reason.kind === 'interference' ? sentenceOf(reason) : [])),
  );
  return [...new Set(said)].map((what) => `Somebody else used a key: ${what}`);
}

/** Rows by their reason, the largest group first. Forty checks may lack the same permission. */
function byReason(rows: Rows): ReasonGroup[] {
  return [...groupBy(rows, ({ reason }) => reason)]
    .map(([reason, group]) => ({ reason, rows: group }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

/** A failure in one line: what came, and what was asked for. */
export function failureLine({ reason, expected }: Pick<Row, 'reason' | 'expected'>): string {
  return expected === undefined ? reason : `${reason.replace(/\.$/, '')}; asked for: ${expected}`;
}

/** A pinned answer that the target no longer gives, in one line. */
export const driftLine = ({ observed, pinned, detail }: GapResult): string =>
  `answers ${observed ?? 'nothing'}, the profile pins ${pinned ?? 'nothing'} (${detail})`;

const PREFIX: Partial<Record<Standing, string>> = {
  known: 'Known failure, listed in the baseline: ',
  unknown: 'Not verified: ',
};

/** A requirement's row as a test case. */
export function rowCase(suite: string, row: Row, proof: Exchange | undefined): TestCase {
  const { id, section, level, title, statement, clause, reading, verdict, consequenceOf } = row;
  const standing = standingOf(row);
  const because = consequenceOf === undefined ? '' : `Follows from ${consequenceOf}: `;
  const prefix =
    verdict === 'inconclusive' && standing === 'skipped' ? 'Not verified (MAY): ' : (PREFIX[standing] ?? '');
  const unbound = verdict === 'not-applicable' ? `${row.reason} (not applicable)` : row.reason;
  const reason = standing === 'failed' ? failureLine(row) : unbound;
  const shown = (value: string | undefined) => (value === undefined ? undefined : clip(value, 2_000));
  return {
    id,
    suite,
    name: `${id} (${section}) ${title}`,
    title,
    standing,
    kind: standing === 'unknown' ? 'inconclusive' : level,
    reason: `${prefix}${because}${clip(reason, 400)}`,
    about: { 'The document': clause, 'Our reading': reading, 'What is asked': statement },
    facts: {
      'Of this exchange': shown(row.expected),
      'What came back': shown(row.actual),
      'Repeat it with': shown(row.curl),
      'Exchanges in report.json': row.evidence.slice(0, 10).join(', ') || undefined,
      Exchange: isFail(row) && proof !== undefined ? exchangeText(proof, row.at) : undefined,
    },
    tags: [`section ${section}`, level],
    ...(consequenceOf === undefined ? {} : { consequenceOf }),
  };
}

/** A row that is decided while the run goes on, as a test case. */
export const decidedCase = (row: Row, proof: Exchange | undefined): TestCase =>
  rowCase('', harmless(row), proof && harmless(proof));

function standingOf(row: Row): Standing {
  switch (row.verdict) {
    case 'pass':
      return 'passed';
    case 'fail':
      return row.baselined === true ? 'known' : 'failed';
    case 'inconclusive':
      if (row.baselined === true) return 'known';
      return isOpen(row) ? 'unknown' : 'skipped';
    default:
      return 'skipped';
  }
}

function pinCase(gap: GapResult): TestCase {
  const { id, section, verdict, pinned, observed, question } = gap;
  const drifted = verdict === 'drifted';
  return {
    id,
    suite: 'Pinned answers to what the document leaves open',
    name: `gap ${id} (${section}) ${question}`,
    title: question,
    standing: drifted ? 'failed' : verdict === 'kept' ? 'passed' : 'skipped',
    kind: 'drift',
    reason: drifted ? clip(driftLine(gap), 400) : `Not seen in this run: ${clip(gap.detail, 300)}`,
    facts: { Pinned: pinned ?? '', Observed: observed ?? 'nothing' },
    tags: [`section ${section}`, 'pinned'],
  };
}
