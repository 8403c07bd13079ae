import { styleText } from 'node:util';
import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import { wrap } from '../spec/text-table.ts';
import { type BuiltReport, driftLine } from './build-report.ts';
import { count, duration, simulatedClock } from './facts.ts';
import { type Cause, type ReasonGroup, ROW_KINDS, type Rows } from './rows.ts';
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
const MOST_TEXT_LINES = 2;
/** A longer command is only in the report. */
const LONGEST_COMMAND = 1_000;

/**
 * The summary at the end of a run: the verdict, what is broken, what was not verified, and the next step. For each cause it
 * shows what the document says, what came back and a command that repeats it. It names what the screen has no room for.
 */
export function renderTerminal(built: BuiltReport, screen = NO_SCREEN): string {
  const { causes, drifted } = built;
  const pen = penOf(screen);
  const { paint, fit, height } = pen;
  const [head, next, tail] = [headLines(built, pen), nextLines(built, pen), tailLines(built, pen)];
  const wrong = [...causes.map(({ row }) => row), ...drifted];
  const blocks = [
    ...causes.map((cause) => causeBlock(cause, pen)),
    ...drifted.map((gap) => wrap(`${gap.id} (${gap.section}) ${driftLine(gap)}`, pen, paint('red', '≠ '))),
  ];
  // Five lines: a blank one, where the results are, the shell's prompt, and two that name what is left out. The first cause
  // must be seen; half of what is left is for what was not verified.
  const left = screen.rows - height([...head, ...(blocks[0] ?? []), ...next]) - 5;
  const shownTail = tail.slice(0, Math.max(1, blocks.length === 0 ? left : Math.floor(left / 2)));
  if (shownTail.length < tail.length)
    shownTail.push(paint('dim', `  and ${count(tail.length - shownTail.length, 'more line')} in the report`));
  let room = left - shownTail.length;
  const shown = blocks.filter((block, index) => {
    if (index > 0) room -= height(block);
    return index === 0 || room >= 0;
  });
  const leftOut = wrong.slice(shown.length);
  const lines = [
    ...head,
    ...shown.flat(),
    ...(leftOut.length === 0
      ? []
      : [paint('red', fit(`✘ ${leftOut.length} more broken: ${idList(leftOut)}`))]),
    ...shownTail,
    '',
    ...next,
  ];
  return `${lines.join('\n')}\n`;
}

/** Puts on colours and styles where the output has them. */
export const paintIn =
  (colour: boolean) =>
  (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;

const penOf = ({ colour, columns }: Screen) => ({
  paint: paintIn(colour),
  columns,
  /** Cuts a line where the screen ends. */
  // What no screen shows is not measured: that takes longer than the rest of the summary.
  fit: (text: string) => cliTruncate(text.slice(0, 4 * columns), columns),
  /** How many lines of the screen these take. */
  height: (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0),
});
type Pen = ReturnType<typeof penOf>;

/** The verdict, what the run cost, what made the verdict in addition to its rows, and who disturbed it. */
function headLines({ report, headline, verdict, problems, notices }: BuiltReport, pen: Pen): string[] {
  const { paint, fit } = pen;
  const tone = ({ pass: 'green', fail: 'red', inconclusive: 'yellow' } as const)[verdict];
  const { run, requests } = report;
  const speed = run.clockSpeed === 1 ? '' : ` (${run.clockSpeed}×)`;
  const clock = simulatedClock(run) === undefined ? '' : `, simulated clock${speed}`;
  const animals = run.animalsAdded === 0 ? '' : `, ${count(run.animalsAdded, 'animal')} added`;
  const cost = `${count(requests.total, 'request')} in ${duration(run.durationSeconds)}${clock}${animals}`;
  return [
    ...wrap(headline, pen, `${ROW_KINDS[verdict].sign} `).map((line) => paint(['bold', tone], line)),
    paint('dim', fit(`  ${run.target}, ${cost}`)),
    ...[...problems.filter((problem) => !headline.includes(problem)), ...notices.slice(0, 2)].flatMap(
      (line) => wrap(line, pen, paint('yellow', '! ')),
    ),
  ];
}

/** What was not verified, was skipped or is known, one line for each reason. */
function tailLines({ notVerified, skipped, known }: BuiltReport, { paint, fit }: Pen): string[] {
  const reasons = (what: string, groups: readonly ReasonGroup[]) =>
    groups.map(({ reason, rows }) =>
      fit(`${what.replace('#', String(rows.length))}, ${reason}: ${idList(rows)}`),
    );
  return [
    ...reasons('? # not verified', notVerified).map((line) => paint('yellow', line)),
    ...reasons('– # skipped', skipped),
    ...(known.length === 0 ? [] : [fit(`  ${known.length} covered by the baseline: ${idList(known)}`)]),
  ];
}

/** The most useful step; a run that was cut short is to be continued, whatever it found. */
const nextLines = ({ report, steps }: BuiltReport, pen: Pen): string[] =>
  steps
    .slice(0, report.run.interrupted === undefined ? 1 : 2)
    .flatMap(({ what, command }) => [
      ...wrap(what, pen, pen.paint('bold', '→ ')),
      ...commandLine(command).map((line) => pen.paint('cyan', line)),
    ]);

function causeBlock({ row, follow }: Cause, pen: Pen): string[] {
  const { paint, columns, fit } = pen;
  const said = (label: string, text: string | undefined) =>
    text === undefined
      ? []
      : wrap(clip(text, MOST_TEXT_LINES * (columns - 10)), pen, paint('dim', `  ${label}  `));
  return [
    ...wrap(`${row.id} (${row.section}) ${row.title}`, pen, paint('red', '✘ ')),
    ...said('says', row.clause && `“${row.clause}”${row.reading === undefined ? '' : ' (our reading)'}`),
    ...said('asks', row.expected ?? row.statement),
    ...said('came', row.actual ?? row.reason),
    ...commandLine(row.curl),
    ...(follow.length === 0
      ? []
      : [paint('dim', fit(`  and ${follow.length} that follow from it: ${idList(follow)}`))]),
  ];
}

/** A command is one line, however long, so that it can be pasted. */
function commandLine(command: string | undefined): string[] {
  if (command === undefined) return [];
  return [command.length > LONGEST_COMMAND ? '  (its command is in the report)' : `  ${command}`];
}

const idList = (rows: Rows | readonly { readonly id: string }[]): string =>
  rows.map(({ id }) => id).join(', ');
