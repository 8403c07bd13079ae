import { type BuiltReport, driftLine, failureLine } from './build-report.ts';
import { exchangeText } from './exchange-parts.ts';
import { code, fold, MOST_ROWS, prose, SIGNS, table, tableMarkdown } from './markdown-text.ts';
import type { Cause, ReasonGroup } from './rows.ts';
import { clip } from './visible-text.ts';

/** GitHub refuses a comment of more than 65,536 characters. The last parts are left out first. */
const COMMENT_LIMIT = 60_000;
/** The other proofs are in the page. */
const MOST_PROOFS = 10;

/**
 * Markdown (GitHub's dialect) for a pull request: the verdict, the causes, what was not verified, what drifted. The rest is
 * folded.
 */
export function renderMarkdown(built: BuiltReport): string {
  const { report, causes, known, drifted, notVerified, mayNotVerified, skipped } = built;
  const answered = report.gaps.filter(({ observed }) => observed !== null);
  const part = (heading: string, items: readonly unknown[], body: () => string) =>
    items.length === 0 ? [] : [`### ${heading}\n\n${body()}`];
  const folded = (summary: string, items: readonly unknown[], body: () => string) =>
    items.length === 0 ? [] : [fold(`${summary} (${items.length})`, body())];
  const blocks = [
    `## ${SIGNS[built.verdict]} ${prose(built.headline, 600)}`,
    ...[...built.problems, ...built.notices].map((line) => `**${prose(line, 400)}**`),
    ...part('Broken', causes, () => causeTable(causes)),
    ...(causes.length === 0 ? [] : [proofs(causes)]),
    ...part('Drifted', drifted, () =>
      drifted.map((gap) => `- **${gap.id}** ${code(driftLine(gap))}`).join('\n'),
    ),
    ...part('Not verified', notVerified, () => reasonList(notVerified)),
    `**Next**\n\n${built.steps.map(({ what, command }) => `- ${prose(what)}${command === undefined ? '' : `: ${code(command, 500)}`}`).join('\n')}`,
    built.facts
      .map(
        ([label, text]) =>
          `${label}: ${['Target', 'Command'].includes(label) ? code(text, 400) : prose(text, 400)}`,
      )
      .join('<br>\n'),
    ...folded(
      'Skipped',
      skipped.flatMap(({ rows }) => rows),
      () => reasonList(skipped),
    ),
    ...folded('Known failures', known, () =>
      known.map((row) => `- **${row.id}** ${code(failureLine(row))}`).join('\n'),
    ),
    ...folded('Not verified, MAY', mayNotVerified, () => reasonList(mayNotVerified)),
    ...folded('What the document leaves open: this target’s answers', answered, () =>
      tableMarkdown({
        title: 'Answers',
        head: ['Question', 'Answer', 'Pinned', ''],
        rows: answered.map(({ id, observed, pinned, verdict }) => [
          id,
          observed ?? '',
          pinned ?? '',
          verdict === 'drifted' ? { wrong: verdict } : verdict,
        ]),
      }),
    ),
  ];
  let text = '';
  for (const block of blocks) {
    if (text.length + block.length > COMMENT_LIMIT)
      return `${text}\n_The rest does not fit here; see report.html._\n`;
    text += `${text === '' ? '' : '\n'}${block}\n`;
  }
  return text;
}

function causeTable(causes: readonly Cause[]): string {
  return table(
    ['Requirement', '§', 'What is asked', 'What came back'],
    causes.map(({ row, follow }) => [
      `**${row.id}**<br>${prose(row.title)}${follow.length === 0 ? '' : `<br>and what follows from it: ${follow.map(({ id }) => `\`${id}\``).join(', ')}`}`,
      row.section,
      `${code(row.expected ?? row.statement)}${row.clause === undefined ? '' : `<br>The document${row.reading === undefined ? '' : ', as we read it'}: ${prose(`“${row.clause}”`, 400)}`}`,
      code(row.actual ?? row.reason),
    ]),
  );
}

/** How to repeat the failures, and the answers that prove them. */
function proofs(causes: readonly Cause[]): string {
  const told = causes
    .slice(0, MOST_PROOFS)
    .map(({ row, proof }) =>
      [
        `# ${row.id}`,
        clip(row.curl ?? '', 1_000),
        proof === undefined ? '' : exchangeText(proof, row.at, 400),
      ]
        .filter(Boolean)
        .join('\n'),
    );
  const more = causes.length - told.length;
  const note = more > 0 ? `\n\n_and ${more} more, see report.html_` : '';
  return fold(
    'How to repeat them, and the answers that prove them',
    fenced(told.join('\n\n'), 'http') + note,
  );
}

function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function reasonList(groups: readonly ReasonGroup[]): string {
  return groups
    .slice(0, MOST_ROWS)
    .map(({ reason, rows }) => {
      const ids = rows.slice(0, MOST_ROWS).map(({ id }) => `\`${id}\``);
      const more = rows.length > MOST_ROWS ? ` and ${rows.length - MOST_ROWS} more` : '';
      return `- **${rows.length}**: ${code(reason)}: ${ids.join(', ')}${more}`;
    })
    .join('\n');
}
