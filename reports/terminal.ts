import cliTruncate from 'cli-truncate';
import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { duration } from './facts.ts';
import { byReason, count, driftLine, nextSteps, outcome } from './outcome.ts';
import type { Report, RequirementResult } from './report.ts';
import { shownLine } from './visible-text.ts';

/** What the summary is written to. */
export interface Screen {
  readonly colour: boolean;
  readonly columns: number;
  /** Lines to stay within; Infinity where the output is no terminal. */
  readonly rows: number;
}

/** A command longer than this many lines of the screen is left to the report: nobody copies it from there. */
const MOST_CURL_LINES = 3;

/**
 * The summary at the end of a run: verdict, as many broken requirements as the screen holds with what the document
 * asks, what came back and a command that repeats it, what was not verified and why, and what to do next.
 */
export function renderTerminal(report: Report, screen: Screen): string {
  const paint = picocolors.createColors(screen.colour);
  const { headline, broken, known, drifted, notVerified } = outcome(report);
  const fit = (text: string) => cliTruncate(text, screen.columns);
  const tone = { conformant: paint.green, 'not-conformant': paint.red, inconclusive: paint.yellow }[
    report.verdict
  ];
  const sign = { conformant: '✔', 'not-conformant': '✘', inconclusive: '?' }[report.verdict];

  const head = [paint.bold(tone(`${sign} ${headline}`)), paint.dim(fit(`  ${costLine(report)}`))];
  const tail = [
    ...drifted.map((gap) => fit(`${paint.red('≠')} ${gap.id} (${gap.section}) ${shownLine(driftLine(gap))}`)),
    ...byReason(notVerified).map(({ reason, rows }) =>
      fit(
        `${paint.yellow('?')} ${rows.length} not verified: ${shownLine(reason, 300)} ${paint.dim(idList(rows))}`,
      ),
    ),
    ...(known.length === 0
      ? []
      : [fit(paint.dim(`  ${count(known.length, 'known failure')}: ${idList(known)}`))]),
  ];
  const next = nextSteps(report).map(({ what, command }) => {
    const step = `${paint.bold('→')} ${shownLine(what, 300)}`;
    // A command is not cut: it is there to be copied.
    return command === undefined ? fit(step) : `${step}: ${paint.cyan(shownLine(command, 2_000))}`;
  });

  const height = (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / screen.columns)), 0);
  // One line each for the blank before the next steps, the shell's prompt and a line that names what is left out.
  const room = screen.rows - height(head) - height(next) - 3;
  // What was not verified must not scroll away behind what is broken: up to half of the room is its own.
  const tailRoom = broken.length === 0 ? room : Math.min(tail.length, Math.max(2, Math.floor(room / 2)));
  const shownTail = tail.slice(0, Math.max(0, tailRoom));
  const blocks = broken.map((row) => failureBlock(row, fit, screen.columns, paint));
  const shownBlocks = takeWhileFits(blocks, height, room - shownTail.length);
  const leftOut = broken.slice(shownBlocks.length);

  const lines = [
    ...head,
    ...shownBlocks.flat(),
    ...(leftOut.length === 0 ? [] : [fit(paint.red(`✘ ${leftOut.length} more broken: ${idList(leftOut)}`))]),
    ...shownTail,
    ...(shownTail.length === tail.length
      ? []
      : [fit(paint.dim(`  and ${tail.length - shownTail.length} more reasons, see the report`))]),
    '',
    ...next,
  ];
  return `${lines.join('\n')}\n`;
}

type Paint = ReturnType<typeof picocolors.createColors>;

function costLine({ run, requests }: Report): string {
  const clock = run.clockSpeed === 1 ? '' : `, simulated clock (${run.clockSpeed}×)`;
  const animals = run.animalsAdded === 0 ? '' : `, ${count(run.animalsAdded, 'animal')} added`;
  const ended = run.interrupted === undefined ? '' : `, ended early: ${shownLine(run.interrupted, 80)}`;
  return `${shownLine(run.target, 120)}, ${count(requests.total, 'request')} in ${duration(run.durationSeconds)}${clock}${animals}${ended}`;
}

function failureBlock(
  row: RequirementResult,
  fit: (text: string) => string,
  columns: number,
  paint: Paint,
): string[] {
  const line = (label: string, text: string) =>
    fit(`    ${paint.dim(label)} ${shownLine(text, columns * 2)}`);
  const curl =
    row.curl === undefined ? undefined : `    ${paint.dim('repeat')} ${shownLine(row.curl, 4_000)}`;
  return [
    fit(
      `${paint.red('✘')} ${paint.bold(row.id)} ${paint.dim(`(${row.section})`)} ${shownLine(row.title, 200)}`,
    ),
    line('  asks', row.expected ?? row.statement),
    line('  came', row.actual ?? row.reason),
    ...(curl !== undefined && stringWidth(curl) <= columns * MOST_CURL_LINES ? [curl] : []),
  ];
}

function takeWhileFits<Item>(items: readonly Item[], heightOf: (item: Item) => number, room: number): Item[] {
  let used = 0;
  const end = items.findIndex((item) => {
    used += heightOf(item);
    return used > room;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

function idList(rows: readonly RequirementResult[]): string {
  return rows.map(({ id }) => id).join(', ');
}
