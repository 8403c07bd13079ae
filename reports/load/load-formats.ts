import type { FormatName } from '../formats.ts';
import type { Table } from '../html/table.ts';
import { code, fold, prose, table } from '../markdown-text.ts';
import { renderBadge } from '../pipelines/badge.ts';
import { renderGithubAnnotations } from '../pipelines/github.ts';
import { renderJunit } from '../pipelines/junit.ts';
import { renderSarif } from '../pipelines/sarif.ts';
import { renderTap } from '../pipelines/tap.ts';
import type { LoadOutcome } from './load-outcome.ts';

/**
 * The formats of a load result that need only its outcome. The page and the terminal show more; a load keeps no exchanges
 * for the format har.
 */
type LoadFormatName = Exclude<FormatName, 'html' | 'terminal' | 'har'>;

/** The renderers of a load result. The files have the same names as those of a check. */
export const LOAD_FORMATS = {
  junit: renderJunit,
  tap: renderTap,
  markdown,
  sarif: (outcome) => renderSarif(outcome, 'load-report.json', 'load'),
  github: renderGithubAnnotations,
  badge: renderBadge,
} as const satisfies Readonly<Record<LoadFormatName, (outcome: LoadOutcome) => string>>;

const SIGN = { held: '✅', broken: '❌', open: '⚠️' } as const;
/** The worst first. */
const WORDS = { failed: '❌ broken', noted: 'noted', passed: '✅ held' } as const;

function markdown({ name, headline, verdict, problems, cases, facts, tables }: LoadOutcome): string {
  const judged = Object.entries(WORDS).flatMap(([standing, words]) =>
    cases
      .filter((one) => one.standing === standing)
      .map(({ title, facts: { actual = '', expected = '' } }) => [
        `**${prose(title)}**`,
        words,
        code(actual),
        code(expected),
      ]),
  );
  const blocks = [
    `## ${SIGN[verdict]} ${prose(name)}: ${prose(headline)}`,
    ...problems.map((problem) => prose(problem, 400)),
    facts
      .map(([label, text]) => `${label}: ${label === 'Target' ? code(text, 400) : prose(text, 400)}`)
      .join('<br>\n'),
    ...(judged.length === 0 ? [] : [table(['Threshold', '', 'Actual', 'Expected'], judged)]),
    ...Object.entries(tables)
      .filter(([which, { rows }]) => which !== 'thresholds' && rows.length > 0)
      .map(([, one]) => folded(one)),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function folded({ title, head, rows }: Table): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? prose(cell) : `**${prose(cell.wrong)}**`)),
  );
  return fold(`${title} (${rows.length})`, table(head, cells));
}
