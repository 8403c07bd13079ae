import picocolors from 'picocolors';
import { moment } from '../facts.ts';
import { code, prose, table } from '../markdown-text.ts';
import { count, verdictWords } from '../outcome.ts';
import { shownLine } from '../visible-text.ts';
import { CHANGES, type ChangeKind, type ReportDiff } from './diff.ts';

/** The difference for other programs; the shape of ReportDiff is stable within its formatVersion. */
export function renderDiffJson(diff: ReportDiff): string {
  return `${JSON.stringify(diff, null, 2)}\n`;
}

/** The difference for a terminal or a log. */
export function renderDiffText(diff: ReportDiff, colour = false): string {
  const paint = picocolors.createColors(colour);
  const signs = {
    broke: paint.red('✘'),
    'no-longer-verified': paint.yellow('?'),
    fixed: paint.green('✔'),
    'newly-verified': paint.green('+'),
    changed: paint.dim('~'),
  } as const satisfies Record<ChangeKind, string>;
  const rows = diff.requirements.map((row) => {
    const reason =
      row.kind === 'broke' || row.kind === 'no-longer-verified' ? `\n    ${shownLine(row.reason, 300)}` : '';
    return `${signs[row.kind]} ${row.id} (${row.section}) is ${row.is}, was ${row.was}${reason}\n`;
  });
  const gaps = diff.gaps.map(({ id, section, was, is, pinned, breaksPin }) => {
    const before = was === is ? '' : `, was ${shownLine(was, 120)}`;
    const note = breaksPin ? paint.red(`; the profile pins ${shownLine(pinned ?? '', 120)}`) : '';
    return `${breaksPin ? paint.red('≠') : paint.dim('≠')} ${id} (${section}) answers ${shownLine(is, 120)}${before}${note}\n`;
  });
  return [paint.bold(`${headline(diff)}\n`), paint.dim(`${runs(diff)}\n`), ...rows, ...gaps].join('');
}

/** The difference for a pull request. */
export function renderDiffMarkdown(diff: ReportDiff): string {
  const sections = Object.entries(CHANGES).map(([kind, heading]) => {
    const rows = diff.requirements.filter((row) => row.kind === kind);
    if (rows.length === 0) return '';
    const cells = rows.map((row) => [
      `**${row.id}**<br>${prose(row.title)}`,
      row.section,
      row.was,
      row.is,
      code(row.reason),
    ]);
    return `### ${heading} (${rows.length})\n\n${table(['Requirement', '§', 'Was', 'Is', 'Why'], cells)}`;
  });
  const gaps = diff.gaps.map((gap) => [
    `**${gap.id}**<br>${prose(gap.question)}`,
    gap.section,
    code(gap.was),
    code(gap.is),
    gap.breaksPin
      ? `❌ the profile pins ${code(gap.pinned ?? '')}`
      : gap.pinned === undefined
        ? 'not pinned'
        : 'as pinned',
  ]);
  return `${[
    `## ${diff.regression ? '❌' : '✅'} ${headline(diff)}`,
    prose(runs(diff), 600),
    ...sections,
    gaps.length === 0
      ? ''
      : `### Answers that changed (${gaps.length})\n\n${table(['Question', '§', 'Was', 'Is', ''], gaps)}`,
  ]
    .filter((block) => block !== '')
    .join('\n\n')}\n`;
}

/** `5 broke, 1 pinned answer drifted`, or that nothing changed. */
export function diffSummary({ requirements, gaps }: ReportDiff): string {
  const pins = gaps.filter(({ breaksPin }) => breaksPin).length;
  const some = (number: number, noun: string, verb: string) =>
    number === 0 ? [] : [`${count(number, noun)} ${verb}`];
  const parts = [
    ...Object.entries(CHANGES).flatMap(([kind, heading]) => {
      const rows = requirements.filter((row) => row.kind === kind).length;
      return rows === 0 ? [] : [`${rows} ${heading.toLowerCase()}`];
    }),
    ...some(pins, 'pinned answer', 'drifted'),
    ...some(gaps.length - pins, 'other answer', 'changed'),
  ];
  return parts.join(', ') || 'no change';
}

function headline(diff: ReportDiff): string {
  const summary = diffSummary(diff);
  if (summary === 'no change') return 'No change';
  return `${diff.regression ? 'Regression' : 'No regression'}: ${summary}`;
}

function runs({ old, new: now }: ReportDiff): string {
  const name = (run: ReportDiff['old']) => `${moment(run.startedAt)} (${verdictWords(run).toLowerCase()})`;
  const where =
    old.target === now.target
      ? shownLine(now.target, 120)
      : `${shownLine(old.target, 120)} against ${shownLine(now.target, 120)}`;
  return `${where}: ${name(old)} to ${name(now)}`;
}
