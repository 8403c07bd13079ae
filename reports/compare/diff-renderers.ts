import { html } from '@remix-run/html-template';
import picocolors from 'picocolors';
import { verdictWords } from '../build-report.ts';
import { count, moment } from '../facts.ts';
import { pageShell } from '../html/page-shell.ts';
import { tableHtml } from '../html/table.ts';
import { CHANGES, type ChangeKind, type ReportDiff } from './diff.ts';

/** The difference for other programs; the shape of ReportDiff is stable within its formatVersion. */
export const renderDiffJson = (diff: ReportDiff): string => `${JSON.stringify(diff, null, 2)}\n`;

/** Which changes need a word why. */
const isBad = (kind: ChangeKind) => kind === 'broke' || kind === 'no-longer-verified';

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
  const rows = diff.requirements.map(
    ({ kind, id, section, is, was, reason }) =>
      `${signs[kind]} ${id} (${section}) is ${is}, was ${was}${isBad(kind) ? `\n    ${reason}` : ''}\n`,
  );
  const gaps = diff.gaps.map(({ id, section, was, is, pinned, breaksPin }) => {
    const before = was === is ? '' : `, was ${was}`;
    const note = breaksPin ? paint.red(`; the profile pins ${pinned ?? ''}`) : '';
    return `${breaksPin ? paint.red('≠') : paint.dim('≠')} ${id} (${section}) answers ${is}${before}${note}\n`;
  });
  return [paint.bold(`${headline(diff)}\n`), paint.dim(`${runs(diff)}\n`), ...rows, ...gaps].join('');
}

/** The difference as one HTML file without network and script. */
export function renderDiffHtml(diff: ReportDiff): string {
  const changes = tableHtml({
    title: 'Requirements',
    head: ['Requirement', 'What became of it', 'Was', 'Is', 'Why'],
    rows: diff.requirements.map(({ id, title, kind, was, is, reason }) => [
      html`${title} <code>${id}</code>`,
      isBad(kind) ? { wrong: CHANGES[kind] } : CHANGES[kind],
      was,
      is,
      isBad(kind) ? reason : '',
    ]),
  });
  const answers = tableHtml({
    title: 'Answers that changed',
    head: ['Question', 'Was', 'Is', 'Profile'],
    rows: diff.gaps.map(({ id, question, was, is, pinned, breaksPin }) => [
      html`${question} <code>${id}</code>`,
      was,
      is,
      breaksPin ? { wrong: `pins ${pinned ?? ''}` } : (pinned ?? ''),
    ]),
  });
  const body = html`<main><header><h1 class="${diff.regression ? 'fail' : 'pass'}"><span aria-hidden="true">${diff.regression ? '✘' : '✔'}</span> ${headline(diff)}</h1><p class="quiet">${runs(diff)}</p></header>
${diff.requirements.length === 0 ? '' : html`<section><h2>Requirements</h2>${changes}</section>`}
${diff.gaps.length === 0 ? '' : html`<section><h2>Answers that changed</h2>${answers}</section>`}</main>`;
  return pageShell(headline(diff), body, false);
}

/** `5 broke, 1 pinned answer drifted`, or that nothing changed. */
function diffSummary({ requirements, gaps }: ReportDiff): string {
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
  const where = old.target === now.target ? now.target : `${old.target} against ${now.target}`;
  return `${where}: ${name(old)} to ${name(now)}`;
}
