import { exchangeText } from './exchange-text.ts';
import { runFacts } from './facts.ts';
import { code, fold, MOST_ROWS, prose, table } from './markdown-text.ts';
import { nextSteps } from './next-steps.ts';
import { byReason, outcome, runProblems } from './outcome.ts';
import type { GapResult, Report, RequirementResult } from './report.ts';
import { bySection } from './sections.ts';
import { shownLines } from './visible-text.ts';

/** GitHub refuses a comment of more than 65,536 characters. The last parts are left out first. */
const COMMENT_LIMIT = 60_000;

const SIGN = { conformant: '✅', 'not-conformant': '❌', inconclusive: '⚠️' } as const;

/**
 * Markdown (GitHub's dialect) for a pull request: the verdict, what is broken, what was not verified, what drifted. The
 * rest is folded.
 */
export function renderMarkdown(report: Report): string {
  const found = outcome(report);
  const { headline, broken, known, drifted, notVerified, mayNotVerified, skipped } = found;
  const blocks = [
    `## ${SIGN[report.verdict]} ${prose(headline, 600)}`,
    ...runProblems(report).map((problem) => `**${prose(problem, 400)}**`),
    facts(report),
    broken.length > 0 ? `### Broken\n\n${failureTable(broken, found.consequences)}` : '',
    broken.some(({ curl }) => curl !== undefined) ? repeatBlock(broken) : '',
    proofBlock(broken, report.exchanges),
    notVerified.length > 0 ? `### Not verified\n\n${reasonList(notVerified)}` : '',
    skipped.length > 0 ? fold(`Skipped (${skipped.length})`, reasonList(skipped)) : '',
    drifted.length > 0 ? `### Drifted\n\n${gapTable(drifted)}` : '',
    `**Next**\n\n${nextSteps(report)
      .map((step) => `- ${stepText(step)}`)
      .join('\n')}`,
    known.length > 0 ? fold(`Known failures (${known.length})`, failureTable(known)) : '',
    mayNotVerified.length > 0
      ? fold(`Not verified, MAY (${mayNotVerified.length})`, reasonList(mayNotVerified))
      : '',
    fold('All requirements by section', sectionTable(report)),
    fold(
      `What the document leaves open: this target’s answers (${answered(report.gaps).length})`,
      gapTable(answered(report.gaps)),
    ),
  ];
  let text = '';
  for (const block of blocks) {
    if (block === '') continue;
    if (text.length + block.length > COMMENT_LIMIT)
      return `${text}\n_The rest does not fit here; see report.html._\n`;
    text += `${text === '' ? '' : '\n'}${block}\n`;
  }
  return text;
}

function facts(report: Report): string {
  return runFacts(report)
    .map(
      ([label, text]) =>
        `${label}: ${label === 'Target' || label === 'Ended early' ? code(text, 400) : prose(text, 400)}`,
    )
    .join('<br>\n');
}

function failureTable(
  rows: readonly RequirementResult[],
  consequences: ReadonlyMap<string, readonly RequirementResult[]> = new Map(),
): string {
  const follow = (id: string) => consequences.get(id)?.map((row) => `\`${row.id}\``) ?? [];
  return table(
    ['Requirement', '§', 'The document asks', 'What came back'],
    rows.map((row) => [
      `**${row.id}**<br>${prose(row.title)}${follow(row.id).length > 0 ? `<br>and what follows from it: ${follow(row.id).join(', ')}` : ''}`,
      row.section,
      code(row.expected ?? row.statement),
      code(row.actual ?? row.reason),
    ]),
  );
}

function repeatBlock(rows: readonly RequirementResult[]): string {
  const commands = rows
    .slice(0, MOST_ROWS)
    .flatMap(({ id, curl }) => (curl === undefined ? [] : [`# ${id}\n${shownLines(curl, 1_000)}`]))
    .join('\n');
  return fold('Repeat them', fenced(commands, 'sh'));
}

/** The other proofs are in the page. */
const MOST_PROOFS = 10;

function proofBlock(rows: readonly RequirementResult[], exchanges: Report['exchanges']): string {
  const byId = new Map(exchanges.map((exchange) => [exchange.id, exchange]));
  const proofs = rows.flatMap((row) => {
    const proof = byId.get(row.evidence[0] ?? '');
    return proof === undefined ? [] : [`# ${row.id}\n${exchangeText(proof, 400)}`];
  });
  if (proofs.length === 0) return '';
  const more =
    proofs.length > MOST_PROOFS ? `\n\n_and ${proofs.length - MOST_PROOFS} more, see report.html_` : '';
  return fold('The answers that prove it', fenced(proofs.slice(0, MOST_PROOFS).join('\n\n'), 'http') + more);
}

function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function reasonList(rows: readonly RequirementResult[]): string {
  return byReason(rows)
    .slice(0, MOST_ROWS)
    .map(({ reason, rows: group }) => {
      const ids = group.slice(0, MOST_ROWS).map(({ id }) => `\`${id}\``);
      const more = group.length > MOST_ROWS ? ` and ${group.length - MOST_ROWS} more` : '';
      return `- **${group.length}**: ${code(reason)}: ${ids.join(', ')}${more}`;
    })
    .join('\n');
}

function stepText({ what, command }: { readonly what: string; readonly command?: string }): string {
  return command === undefined ? prose(what) : `${prose(what)}: ${code(command, 500)}`;
}

const COLUMNS = [
  ['pass', 'Passed'],
  ['fail', 'Broken'],
  ['inconclusive', 'Not verified'],
  ['skipped', 'Skipped'],
  ['not-applicable', 'Not applicable'],
] as const;

function sectionTable(report: Report): string {
  const groups = bySection(report.requirements).map(({ name, rows }) => {
    const number = (verdict: RequirementResult['verdict']) =>
      rows.filter((row) => row.verdict === verdict).length;
    const shown = (verdict: RequirementResult['verdict']) =>
      number(verdict) === 0 ? '' : String(number(verdict));
    return [name, ...COLUMNS.map(([verdict]) => shown(verdict))];
  });
  return table(['Section', ...COLUMNS.map(([, words]) => words)], groups);
}

function answered(gaps: readonly GapResult[]): GapResult[] {
  return gaps.filter(({ observed }) => observed !== null);
}

function gapTable(gaps: readonly GapResult[]): string {
  return table(
    ['Question', '§', 'Answer', 'Pinned', ''],
    gaps.map((gap) => [
      `**${gap.id}**<br>${prose(gap.question)}`,
      gap.section,
      code(gap.observed ?? ''),
      code(gap.pinned ?? ''),
      gap.verdict === 'drifted' ? `❌ ${code(gap.detail)}` : gap.verdict,
    ]),
  );
}
