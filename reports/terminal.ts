import cliTruncate from 'cli-truncate';
import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { type BuiltReport, driftLine } from './build-report.ts';
import { costText, count, duration, simulatedClock } from './facts.ts';
import type { Cause, ReasonGroup, Rows } from './groups.ts';
import { verdictSign } from './row-kinds.ts';
import { clip } from './visible-text.ts';

/** The screen that the summary is written to. */
export interface Screen {
  readonly colour: boolean;
  readonly columns: number;
  /** The summary has at most this many lines; Infinity if the output is not a terminal. */
  readonly rows: number;
}

/** Stands for the screen if the output is not a terminal. */
export const NO_SCREEN: Screen = { colour: false, columns: 120, rows: Number.POSITIVE_INFINITY };

/** How many lines of what was asked and what came are shown. */
const MOST_TEXT_LINES = 3;
/** A longer command is only in the report. */
const MOST_COMMAND_LINES = 8;

/**
 * The summary at the end of a run: the verdict, what is broken, what was not verified, and the next step. For each cause it
 * shows what the document says, what came back and a command that repeats it. It names what the screen has no room for.
 */
export function renderTerminal(built: BuiltReport, screen: Screen): string {
  const pen = penOf(screen);
  const head = headLines(built, pen);
  const next = nextLines(built, pen);
  // Three lines: a blank one, the shell's prompt, and one that names what is left out.
  const room = screen.rows - pen.height(head) - pen.height(next) - 3;
  const middle = fittedLines(built, tailLines(built, pen), room, pen);
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

/** The verdict, what the run cost, what made the verdict in addition to its rows, and who disturbed it. */
function headLines({ report, headline, verdict, problems, notices }: BuiltReport, pen: Pen): string[] {
  const { paint, fit } = pen;
  const tone = { held: paint.green, broken: paint.red, open: paint.yellow }[verdict];
  const bold = (text: string) => paint.bold(tone(text));
  return [
    ...wrap(headline, pen, `${verdictSign(report.verdict)} `, bold),
    paint.dim(fit(`  ${costLine(report)}`)),
    ...[...problems.filter((problem) => !headline.includes(problem)), ...notices.slice(0, 2)].flatMap(
      (line) => wrap(clip(line, 300), pen, paint.yellow('! ')),
    ),
  ];
}

/** What was not verified, was skipped or is known, one line for each reason. */
function tailLines({ report, notVerified, skipped, known }: BuiltReport, { paint, fit }: Pen): string[] {
  const { run } = report;
  const reasons = (sign: string, groups: readonly ReasonGroup[], what: string) =>
    groups.map(({ reason, rows }) =>
      fit(`${sign} ${rows.length} ${what}, ${reason}: ${paint.dim(idList(rows))}`),
    );
  const notes = [
    ...(skipped.length === 0 || run.costOfSkipped === undefined
      ? []
      : [`verifying what was skipped ${costText(run.costOfSkipped)}`]),
    ...(known.length === 0 ? [] : [`${count(known.length, 'known failure')}: ${idList(known)}`]),
  ];
  return [
    ...reasons(paint.yellow('?'), notVerified, 'not verified'),
    ...reasons(paint.dim('–'), skipped, 'skipped'),
    ...notes.map((note) => fit(paint.dim(`  ${note}`))),
  ];
}

/** The most useful step; a run that was cut short is to be continued, whatever it found. */
function nextLines({ report, steps }: BuiltReport, pen: Pen): string[] {
  const { paint, columns } = pen;
  return steps
    .slice(0, report.run.interrupted === undefined ? 1 : 2)
    .flatMap(({ what, command = '' }) => [
      ...wrap(clip(what, 300), pen, paint.bold('→ ')),
      ...(command === '' ? [] : commandLines(command, columns).map((line) => paint.cyan(line))),
    ]);
}

/** What is wrong, and below it the tail, in at most `room` lines. Ids name what does not fit. */
function fittedLines(
  { causes, drifted }: BuiltReport,
  tail: readonly string[],
  room: number,
  pen: Pen,
): string[] {
  const { paint, fit, height } = pen;
  const wrong = [...causes.map(({ row }) => row), ...drifted];
  const blocks = [
    ...causes.map((cause) => causeBlock(cause, pen)),
    ...drifted.map((gap) => wrap(`${gap.id} (${gap.section}) ${driftLine(gap)}`, pen, paint.red('≠ '))),
  ];
  // The first cause must be seen. Half of the remaining room is for what was not verified.
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

function costLine({ run, requests }: BuiltReport['report']): string {
  const speed = run.clockSpeed === 1 ? '' : ` (${run.clockSpeed}×)`;
  const clock = simulatedClock(run) === undefined ? '' : `, simulated clock${speed}`;
  const animals = run.animalsAdded === 0 ? '' : `, ${count(run.animalsAdded, 'animal')} added`;
  return `${clip(run.target, 120)}, ${count(requests.total, 'request')} in ${duration(run.durationSeconds)}${clock}${animals}`;
}

function causeBlock({ row, follow }: Cause, pen: Pen): string[] {
  const { paint, columns, fit } = pen;
  const most = MOST_TEXT_LINES * (columns - 10);
  const said = (label: string, text: string | undefined) =>
    text === undefined ? [] : wrap(clip(text, most), pen, paint.dim(`  ${label}  `));
  const command = row.curl === undefined ? [] : commandLines(row.curl, columns);
  return [
    ...wrap(`${row.id} ${paint.dim(`(${row.section})`)} ${row.title}`, pen, paint.red('✘ ')),
    ...said('says', row.clause && `“${row.clause}”${row.reading === undefined ? '' : ' (our reading)'}`),
    ...said('asks', row.expected ?? row.statement),
    ...said('came', row.actual ?? row.reason),
    ...(command.length <= MOST_COMMAND_LINES
      ? command
      : ['  (the command that repeats it is in the report)']),
    ...(follow.length === 0
      ? []
      : [fit(paint.dim(`  and ${follow.length} that follow from it: ${idList(follow)}`))]),
  ];
}

/** A text in lines of the screen's width, broken between words, the first line behind a sign. */
export function wrap(
  text: string,
  { columns }: Pick<Screen, 'columns'>,
  sign: string,
  paint = (line: string) => line,
): string[] {
  return fillLines(text.split(' '), columns, sign, ' '.repeat(stringWidth(sign)), '').map(paint);
}

/** One argument of a shell command, its quotes and escapes included. */
const ARGUMENT = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;

/** A command in lines that can be pasted as they are: broken only between arguments, with backslashes. */
export const commandLines = (command: string, columns: number): string[] =>
  fillLines(command.match(ARGUMENT) ?? [command], columns, '  ', '    ', ' \\');

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

const idList = (rows: Rows | readonly { readonly id: string }[]): string =>
  rows.map(({ id }) => id).join(', ');
