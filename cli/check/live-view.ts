import cliTruncate from 'cli-truncate';
import { createLogUpdate } from 'log-update';
import picocolors from 'picocolors';
import type { Clock } from '../../checks/run/clock.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { clock } from '../../reports/facts.ts';
import { count } from '../../reports/outcome.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { requirements } from '../../spec/contract.ts';
import { wantsColour } from '../shared/screen.ts';
import type { SettledEvent } from './check-report.ts';
import { framesOf } from './live-frame.ts';
import { LiveProgress, pace } from './live-progress.ts';

/** Shows a run under way. */
export interface LiveView {
  onEvent(event: RunEvent): void;
  /** A line that stays. */
  note(line: string): void;
  /** Leaves the terminal clean. */
  end(): void;
}

/** What a view needs of the run. */
export interface Shown {
  readonly clock: Clock;
  readonly checks: number;
}

export const silentView: LiveView = { onEvent: () => {}, note: () => {}, end: () => {} };

/** The view for a stream: a picture that is redrawn on a terminal, a few lines elsewhere. */
export function liveView(stream: NodeJS.WriteStream, shown: Shown): LiveView {
  return stream.isTTY ? picture(stream, shown) : lines(stream, shown);
}

/** Fast enough for a countdown in seconds, slow enough not to flicker. */
const REDRAW_MS = 200;

function picture(stream: NodeJS.WriteStream, shown: Shown): LiveView {
  // The cursor is left alone: a process that is killed could not bring it back.
  const { canvas, show } = framesOf(stream);
  const draw = createLogUpdate(canvas, { showCursor: true });
  const colour = picocolors.createColors(wantsColour(stream));
  const progress = new LiveProgress();
  let drawn = '';
  const redraw = () => {
    const fit = (line: string) => cliTruncate(line, Math.max(20, stream.columns - 1));
    // A picture higher than the screen scrolls at every change.
    const text = liveLines(progress, shown)
      .map(fit)
      .slice(0, Math.max(1, stream.rows - 2))
      .join('\n');
    if (text !== drawn) draw(text);
    drawn = text;
    show();
  };
  const timer = setInterval(redraw, REDRAW_MS);
  timer.unref();
  const note = (line: string) => {
    draw.clear();
    drawn = '';
    canvas.write(`${line}\n`);
    redraw();
  };
  return {
    onEvent(event) {
      progress.admit(event, shown.clock.now());
      if (isFailure(event)) note(cliTruncate(colour.red(failureLine(event)), stream.columns));
    },
    note,
    end() {
      clearInterval(timer);
      draw.clear();
      draw.done();
      show();
    },
  };
}

const isFailure = (event: RunEvent): event is SettledEvent =>
  event.kind === 'check-ended' && event.verdict === 'fail';

/** A failure, with the requirement in words: an id alone says little to a new user. */
function failureLine({ id, reason }: SettledEvent): string {
  const title = requirements.find((row) => row.id === id)?.title;
  return `✘ ${id}${title === undefined ? '' : ` (${title})`}: ${shownLine(reason, 300)}`;
}

/** The lines of the picture: the current check, what the run waits for, what it spent. */
export function liveLines(progress: LiveProgress, { clock, checks }: Shown): string[] {
  const now = clock.now();
  const { running, waits, requests, spending, ended, failed } = progress;
  const current = [...running].at(-1) ?? (spending.size > 0 ? 'days’ quotas' : 'between checks');
  const total = [...requests.values()].reduce((sum, sent) => sum + sent, 0);
  const broken = failed === 0 ? '' : `, ${failed} broken`;
  const simulated = clock.speed === 1 ? '' : ' (simulated clock)';
  return [
    `▸ ${current} · ${ended} of ${count(checks, 'check')}${broken}, ${count(total, 'request')}${simulated}`,
    ...[...waits]
      .sort(([, a], [, b]) => a - b)
      .map(([what, until]) => `  ${countdown(until - now)} for ${shownLine(what, 120)}`),
    ...[...spending].map(([key, day]) => {
      const { done, of } = day;
      const so = `  day of ${key}: ${done.toLocaleString('en')} of ${of.toLocaleString('en')} (${Math.floor((100 * done) / of)} %)`;
      const rate = pace(day, now);
      if (rate === undefined) return so;
      return `${so}, ${Math.round(rate.perMinute).toLocaleString('en')} a minute, done in ${countdown(rate.arrival - now)} at ${timeOfDay(rate.arrival)}`;
    }),
    `  requests: ${[...requests].map(([key, sent]) => `${key} ${sent.toLocaleString('en')}`).join(' · ')}`,
  ];
}

/** `0:43`, `1:40:00`: what is left of a wait by the run's clock. */
const countdown = (milliseconds: number) => clock(Math.max(0, Math.ceil(milliseconds / 1000)));

function timeOfDay(time: number): string {
  return new Date(time).toTimeString().slice(0, 5);
}

/** Only a wait that is longer than this, in real time, gets a line. */
const WORTH_A_LINE_MS = 5_000;
/** How often a log gets a line on the progress, in real time. */
const PROGRESS_EVERY_MS = 10_000;

/** For logs: failures, long waits, and every ten seconds a line on the progress. */
function lines(stream: NodeJS.WritableStream, shown: Shown): LiveView {
  const progress = new LiveProgress();
  const note = (line: string) => void stream.write(`${line}\n`);
  const tell = () =>
    note(
      liveLines(progress, shown)
        .map((line) => line.trim())
        .join('; '),
    );
  const timer = setInterval(tell, PROGRESS_EVERY_MS);
  timer.unref();
  /** Until when each wait was announced: several scenes may wait for one key. */
  const announced = new Map<string, number>();
  return {
    onEvent(event) {
      const now = shown.clock.now();
      progress.admit(event, now);
      if (isFailure(event)) note(failureLine(event));
      if (event.kind !== 'waiting' || (announced.get(event.for) ?? 0) > now) return;
      if ((event.until - now) / shown.clock.speed < WORTH_A_LINE_MS) return;
      announced.set(event.for, event.until);
      note(`waiting ${countdown(event.until - now)} for ${shownLine(event.for, 120)}`);
    },
    note,
    end: () => clearInterval(timer),
  };
}
