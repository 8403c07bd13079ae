import cliTruncate from 'cli-truncate';
import { createLogUpdate } from 'log-update';
import picocolors from 'picocolors';
import type { Clock } from '../../checks/run/clock.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { clock as clockText, count } from '../../reports/facts.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { requirement } from '../../spec/contract.ts';
import { wantsColour } from '../shared/screen.ts';

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
  /** Whether the run's clock jumps ahead while nothing happens: its waits take no time. */
  readonly simulated: boolean;
  readonly checks: number;
}

export const silentView: LiveView = { onEvent: () => {}, note: () => {}, end: () => {} };

/** Fast enough for a countdown in seconds, slow enough not to flicker. */
const REDRAW_MS = 200;
/** How often a log gets a line on the progress, in real time. */
const LINE_EVERY_MS = 10_000;
/** Only a wait that is longer than this, in real time, gets a line of a log. */
const WORTH_A_LINE_MS = 5_000;

/** The view for a stream: a picture that is redrawn on a terminal, a few lines elsewhere. */
export function liveView(stream: NodeJS.WriteStream, shown: Shown): LiveView {
  const progress = new Progress(shown);
  const lines = () => progress.lines();
  const { tell, note, end } = stream.isTTY ? picture(stream, lines) : log(stream, lines);
  const timer = setInterval(tell, stream.isTTY ? REDRAW_MS : LINE_EVERY_MS);
  timer.unref();
  const red = picocolors.createColors(wantsColour(stream)).red;
  return {
    onEvent(event) {
      const wait = progress.admit(event);
      if (event.kind === 'check-ended' && event.verdict === 'fail') note(red(failureLine(event)));
      if (wait !== undefined && !stream.isTTY) note(`waiting ${wait}`);
    },
    note,
    end() {
      clearInterval(timer);
      end();
    },
  };
}

function picture(stream: NodeJS.WriteStream, lines: () => readonly string[]) {
  // The cursor is left alone: a process that is killed could not bring it back.
  const draw = createLogUpdate(stream, { showCursor: true });
  const fit = (line: string) => cliTruncate(line, Math.max(20, stream.columns - 1));
  // A picture higher than the screen scrolls at every change.
  const tell = () =>
    draw(
      lines()
        .slice(0, Math.max(1, stream.rows - 2))
        .map(fit)
        .join('\n'),
    );
  return {
    tell,
    note(line: string) {
      draw.clear();
      stream.write(`${fit(line)}\n`);
      tell();
    },
    end: () => draw.clear(),
  };
}

function log(stream: NodeJS.WriteStream, lines: () => readonly string[]) {
  const note = (line: string) => void stream.write(`${line}\n`);
  const tell = () =>
    note(
      lines()
        .map((line) => line.trim())
        .join('; '),
    );
  return { tell, note, end: () => {} };
}

/** A failure, with the requirement in words: an id alone says little to a new user. */
function failureLine({ id, violation }: Extract<RunEvent, { kind: 'check-ended' }>): string {
  return `✘ ${id} (${requirement(id).title}): ${shownLine(violation?.actual ?? '', 300)}`;
}

/** What a run is doing now, according to its events. */
class Progress {
  readonly #shown: Shown;
  /** Checks under way, the latest one last. */
  readonly #running = new Set<string>();
  /** What the run waits for, and until when. */
  readonly #waits = new Map<string, number>();
  /** Until when each wait was announced: several scenes may wait for one key. */
  readonly #announced = new Map<string, number>();
  /** Requests sent, by key name. */
  readonly #requests = new Map<string, number>();
  /** What is spent of a day, by key name. */
  readonly #days = new Map<string, { readonly done: number; readonly of: number }>();
  #ended = 0;
  #failed = 0;

  constructor(shown: Shown) {
    this.#shown = shown;
  }

  /** Takes in an event; returns a wait that is worth a line. */
  admit(event: RunEvent): string | undefined {
    if (event.kind === 'check-started') this.#running.add(event.id);
    else if (event.kind === 'waited') this.#waits.delete(event.for);
    else if (event.kind === 'exchange') {
      const key = event.exchange.key ?? '(none)';
      this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    } else if (event.kind === 'check-ended') {
      this.#running.delete(event.id);
      this.#ended += 1;
      if (event.verdict === 'fail') this.#failed += 1;
    } else if (event.kind === 'spending') {
      if (event.done < event.of) this.#days.set(event.key, event);
      else this.#days.delete(event.key);
    } else {
      this.#waits.set(event.for, event.until);
      const { clock, simulated } = this.#shown;
      const now = clock.now();
      const isShort = simulated || (event.until - now) / clock.speed < WORTH_A_LINE_MS;
      if (isShort || (this.#announced.get(event.for) ?? 0) > now) return undefined;
      this.#announced.set(event.for, event.until);
      return this.#waitFor(event.for, event.until);
    }
    return undefined;
  }

  /** `0:43 for the next window`: what is left of a wait by the run's clock. */
  #waitFor(what: string, until: number): string {
    const seconds = Math.max(0, Math.ceil((until - this.#shown.clock.now()) / 1000));
    return `${clockText(seconds)} for ${shownLine(what, 120)}`;
  }

  /** The current check, what the run waits for, what it spent. */
  lines(): string[] {
    const { clock, simulated, checks } = this.#shown;
    const current = [...this.#running].at(-1) ?? (this.#days.size > 0 ? 'days’ quotas' : 'between checks');
    const sent = [...this.#requests.values()].reduce((sum, requests) => sum + requests, 0);
    const broken = this.#failed === 0 ? '' : `, ${this.#failed} broken`;
    const how = simulated || clock.speed !== 1 ? ' (simulated clock)' : '';
    return [
      `▸ ${current} · ${this.#ended} of ${count(checks, 'check')}${broken}, ${count(sent, 'request')}${how}`,
      ...[...this.#waits]
        .sort(([, a], [, b]) => a - b)
        .map(([what, until]) => `  ${this.#waitFor(what, until)}`),
      ...[...this.#days].map(
        ([key, { done, of }]) =>
          `  day of ${key}: ${done.toLocaleString('en')} of ${of.toLocaleString('en')} (${Math.floor((100 * done) / of)} %)`,
      ),
      `  requests: ${[...this.#requests].map(([key, n]) => `${key} ${n.toLocaleString('en')}`).join(' · ')}`,
    ];
  }
}
