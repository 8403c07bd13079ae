import cliTruncate from 'cli-truncate';
import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { costText, duration, simulatedClock } from './facts.ts';
import { nextSteps } from './next-steps.ts';
import { byReason, count, driftLine, type Outcome, outcome, runProblems } from './outcome.ts';
import type { Report, RequirementResult } from './report.ts';
import { verdictSign } from './row-kinds.ts';
import { shownLine, shownLines } from './visible-text.ts';

/** The screen that the summary is written to. */
export interface Screen {
  readonly colour: boolean;
  readonly columns: number;
  /** The summary has at most this many lines; Infinity if the output is not a terminal. */
  readonly rows: number;
}

/** How many lines of what was asked and what came are shown; of longer texts, the part that differs. */
const MOST_TEXT_LINES = 3;
/** A longer command is only in the report. */
const MOST_COMMAND_LINES = 8;

/**
 * The summary at the end of a run: the verdict, what is broken, what was not verified, and the next step. For each
 * broken requirement it shows what the document asks, what came back and a command that repeats it. It names what the
 * screen has no room for.
 */
export function renderTerminal(report: Report, screen: Screen): string {
  const pen = penOf(screen);
  const found = outcome(report);
  const head = headLines(report, shownLine(found.headline), pen);
  const next = nextLines(report, pen);
  // Three lines: a blank one, the shell's prompt, and one that names what is left out.
  const room = screen.rows - pen.height(head) - pen.height(next) - 3;
  const middle = fittedLines(found, tailLines(report, found, pen), room, pen);
  return `${[...head, ...middle, '', ...next].join('\n')}\n`;
}

const penOf = ({ colour, columns }: Screen) => ({
  paint: picocolors.createColors(colour),
  columns,
  /** Cuts a line where the screen ends. */
  fit: (text: string) => cliTruncate(text, columns),
  /** How many lines of the screen these take. */
  height: (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0),
});
type Pen = ReturnType<typeof penOf>;

/** The verdict, what the run cost, and what made the verdict in addition to its rows. */
function headLines(report: Report, headline: string, { paint, columns, fit }: Pen): string[] {
  const { verdict } = report;
  const tone = { conformant: paint.green, 'not-conformant': paint.red, inconclusive: paint.yellow }[verdict];
  return [
    paint.bold(tone(`${verdictSign(verdict)} ${headline}`)),
    paint.dim(fit(`  ${costLine(report)}`)),
    ...runProblems(report)
      .map((problem) => shownLine(problem, 300))
      .filter((problem) => !headline.includes(problem))
      .flatMap((problem) => wrapText(problem, columns, paint.yellow('! '))),
  ];
}

/** What was not verified, was skipped or is known, one line for each reason. */
function tailLines({ run, gaps }: Report, found: Outcome, { paint, fit }: Pen): string[] {
  const { notVerified, skipped, known } = found;
  const reasons = (sign: string, rows: readonly RequirementResult[], what: string) =>
    byReason(rows).map(({ reason, rows: group }) =>
      fit(`${sign} ${group.length} ${what}, ${shownLine(reason, 300)}: ${paint.dim(idList(group))}`),
    );
  const notes = [
    ...(skipped.length === 0 || run.costOfSkipped === undefined
      ? []
      : [`verifying what was skipped ${costText(run.costOfSkipped)}`]),
    ...(known.length === 0 ? [] : [`${count(known.length, 'known failure')}: ${idList(known)}`]),
    ...notable(gaps),
  ];
  return [
    ...reasons(paint.yellow('?'), notVerified, 'not verified'),
    ...reasons(paint.dim('–'), skipped, 'skipped'),
    ...notes.map((note) => fit(paint.dim(`  ${note}`))),
  ];
}

/** Section 7 asks for an Error body in every error, but the document says nothing of unknown paths. */
function notable(gaps: Report['gaps']): string[] {
  const without = gaps.filter(
    ({ id, observed }) => id === 'unknown-path' && observed?.endsWith('-other-body'),
  );
  return without.map(
    ({ detail }) => `to note: an unknown path is answered without an Error body, ${shownLine(detail, 120)}`,
  );
}

/** The most useful step. */
function nextLines(report: Report, { paint, columns }: Pen): string[] {
  return nextSteps(report)
    .slice(0, 1)
    .flatMap(({ what, command = '' }) => [
      ...wrapText(shownLine(what, 300), columns, paint.bold('→ ')),
      ...(command === '' ? [] : commandLines(shownLines(command), columns).map((line) => paint.cyan(line))),
    ]);
}

/** What is wrong, and below it the tail, in at most `room` lines. Ids name what does not fit. */
function fittedLines(found: Outcome, tail: readonly string[], room: number, pen: Pen): string[] {
  const { paint, columns, fit, height } = pen;
  const { broken, drifted, consequences } = found;
  const wrong = [...broken, ...drifted];
  const blocks = [
    ...broken.map((row) => failureBlock(row, consequences.get(row.id) ?? [], pen)),
    ...drifted.map((gap) =>
      wrapText(`${gap.id} (${gap.section}) ${shownLine(driftLine(gap))}`, columns, paint.red('≠ ')),
    ),
  ];
  // The first broken requirement must be seen. Half of the remaining room is for what was not verified.
  const left = room - height(blocks[0] ?? []);
  const tailRoom = wrong.length === 0 ? room : Math.min(tail.length, Math.max(1, Math.floor(left / 2)));
  const shownTail = tail.slice(0, Math.max(0, tail.length <= tailRoom ? tailRoom : tailRoom - 1));
  const more = tail.length - shownTail.length;
  const shownBlocks = takeWhileFits(blocks, height, room - shownTail.length - (more > 0 ? 1 : 0));
  const leftOut = wrong.slice(shownBlocks.length);
  return [
    ...shownBlocks.flat(),
    ...(leftOut.length === 0 ? [] : [fit(paint.red(`✘ ${leftOut.length} more broken: ${idList(leftOut)}`))]),
    ...shownTail,
    ...(more === 0 ? [] : [fit(paint.dim(`  and ${count(more, 'more line')} in the report`))]),
  ];
}

function costLine({ run, requests }: Report): string {
  const speed = run.clockSpeed === 1 ? '' : ` (${run.clockSpeed}×)`;
  const clock = simulatedClock(run) === undefined ? '' : `, simulated clock${speed}`;
  const animals = run.animalsAdded === 0 ? '' : `, ${count(run.animalsAdded, 'animal')} added`;
  return `${shownLine(run.target, 120)}, ${count(requests.total, 'request')} in ${duration(run.durationSeconds)}${clock}${animals}`;
}

function failureBlock(
  row: RequirementResult,
  explained: readonly RequirementResult[],
  { paint, columns, fit }: Pen,
): string[] {
  const [asks, came] = cutBeforeDifference(
    shownLine(row.expected ?? row.statement, 2_000),
    shownLine(row.actual ?? row.reason, 2_000),
    MOST_TEXT_LINES * (columns - 10),
  );
  const command = row.curl === undefined ? [] : commandLines(shownLines(row.curl, 4_000), columns);
  const title = `${row.id} ${paint.dim(`(${row.section})`)} ${shownLine(row.title, 200)}`;
  const follow = `and ${explained.length} that follow from it: ${idList(explained)}`;
  return [
    ...wrapText(title, columns, paint.red('✘ ')),
    ...wrapText(asks, columns, paint.dim('  asks  ')),
    ...wrapText(came, columns, paint.dim('  came  ')),
    ...(command.length <= MOST_COMMAND_LINES
      ? command
      : ['  (the command that repeats it is in the report)']),
    ...(explained.length === 0 ? [] : [fit(paint.dim(`  ${follow}`))]),
  ];
}

/** Two texts, with at most `most` characters each. Longer ones start shortly before they differ. */
function cutBeforeDifference(one: string, other: string, most: number): readonly [string, string] {
  const texts = [[...one], [...other]] as const;
  const differs = texts[0].findIndex((character, index) => character !== texts[1][index]);
  const cut = (text: readonly string[]) => {
    if (text.length <= most) return text.join('');
    const from = differs < most - 40 ? 0 : differs - 40;
    const part = text.slice(from, from + most - 2).join('');
    return `${from === 0 ? '' : '…'}${part}${from + most - 2 < text.length ? '…' : ''}`;
  };
  return [cut(texts[0]), cut(texts[1])];
}

/** A text in lines of the screen's width, the first one behind a sign. */
function wrapText(text: string, columns: number, sign: string): string[] {
  return fillLines(text.split(' '), columns, sign, ' '.repeat(stringWidth(sign)), '');
}

/** One argument of a shell command, its quotes and escapes included. */
const ARGUMENT = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;

/** A command in lines that can be pasted as they are: broken only between arguments, with backslashes. */
export function commandLines(command: string, columns: number): string[] {
  return fillLines(command.match(ARGUMENT) ?? [command], columns, '  ', '    ', ' \\');
}

function fillLines(
  words: readonly string[],
  columns: number,
  first: string,
  indent: string,
  end: string,
): string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of words) {
    const isBegun = line !== first && line !== indent;
    if (isBegun && stringWidth(`${line} ${word}${end}`) > columns) {
      lines.push(`${line}${end}`);
      line = `${indent}${word}`;
    } else line += isBegun ? ` ${word}` : word;
  }
  return [...lines, line];
}

function takeWhileFits<Item>(items: readonly Item[], heightOf: (item: Item) => number, room: number): Item[] {
  let used = 0;
  const end = items.findIndex((item, index) => {
    used += heightOf(item);
    return index > 0 && used > room;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

function idList(rows: readonly { readonly id: string }[]): string {
  return rows.map(({ id }) => id).join(', ');
}
