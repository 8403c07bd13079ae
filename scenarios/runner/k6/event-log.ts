import { Ajv } from 'ajv/dist/jtd.js';
import type { Redactor } from '../../../checks/wire/redaction.ts';
import { type EventOf, SCRIPT_EVENT, type ScriptEvent } from '../../lib/events.ts';

const MOST_ERROR_LINES = 20;
const MOST_LINE = 500;
/** k6 logs this when the runner stops it; the runner itself explains why. */
const SIGNALLED = /test run was aborted because k6 received a '\w+' signal/;

const isScriptEvent = new Ajv().compile<ScriptEvent>(SCRIPT_EVENT);

/** A requirement that was broken under load. */
export interface ViolationSummary {
  /** Id in spec/requirements.yaml. */
  readonly requirement: string;
  /** The least number of violations: each VU reports only its first few. */
  readonly reported: number;
  readonly example: Omit<EventOf<'violation'>, 'kind'>;
}

/** The events of the scripts and the log of k6. Keys are redacted before anything is stored. */
export class EventLog {
  readonly #redactor: Redactor;
  readonly #violations = new Map<string, ViolationSummary>();
  readonly #lags = new Map<number, number[]>();
  readonly #figures = new Map<number, EventOf<'figures'>['metrics']>();
  readonly assertions: EventOf<'assertion'>[] = [];
  readonly undecided: EventOf<'undecided'>[] = [];
  readonly measurements: EventOf<'measurement'>[] = [];
  readonly addedIds: string[] = [];
  readonly errorLines: string[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Takes in one event as JSON, from the process with this number. */
  add(json: string, from = 0): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(this.#redactor.redact(json));
    } catch {
      parsed = undefined;
    }
    if (isScriptEvent(parsed)) this.#take(parsed, from);
    else this.problem('k6 wrote an event that cannot be read');
  }

  #take(event: ScriptEvent, from: number): void {
    if (event.kind === 'assertion') this.assertions.push(event);
    else if (event.kind === 'undecided') this.undecided.push(event);
    else if (event.kind === 'measurement') this.measurements.push(event);
    else if (event.kind === 'added') for (const id of event.ids) this.addedIds.push(id);
    else if (event.kind === 'lag') {
      const lags = this.#lags.get(from) ?? [];
      this.#lags.set(from, lags);
      for (const lag of event.milliseconds) lags.push(lag);
    } else if (event.kind === 'figures') this.#figures.set(from, event.metrics);
    else {
      const { kind: _, ...example } = event;
      const { requirement } = event;
      const known = this.#violations.get(requirement) ?? { requirement, reported: 0, example };
      this.#violations.set(requirement, { ...known, reported: known.reported + 1 });
    }
  }

  /** Takes in one line of k6's log, and passes to `note` what a person should see. */
  log(level: string, message: string, note: (line: string) => void): void {
    const line = this.#redactor.redact(message).slice(0, MOST_LINE);
    if (SIGNALLED.test(line)) return;
    if (level === 'error' || level === 'fatal' || level === 'panic') this.problem(line);
    if (level !== 'info' && level !== 'debug') note(`k6 ${level}: ${line}`);
  }

  /** Notes that something went wrong on this side of the wire. */
  problem(line: string): void {
    if (this.errorLines.length < MOST_ERROR_LINES && !this.errorLines.includes(line))
      this.errorLines.push(line);
  }

  /** k6's own metrics of the process with this number, as in its summary; none if it ended early. */
  figures(from: number): { readonly metrics?: EventOf<'figures'>['metrics'] } {
    const metrics = this.#figures.get(from);
    return metrics === undefined ? {} : { metrics };
  }

  /** Arrivals that k6 dropped because every virtual user was waiting. */
  droppedIterations(): number {
    return [...this.#figures.values()].reduce(
      (sum, metrics) => sum + (metrics['dropped_iterations']?.values['count'] ?? 0),
      0,
    );
  }

  /** How late arrivals began, in milliseconds, compared with the most punctual one of the same process. */
  lags(): number[] {
    return [...this.#lags.values()].flatMap((lags) => {
      const soonest = lags.reduce((least, lag) => Math.min(least, lag), Number.POSITIVE_INFINITY);
      return lags.map((lag) => lag - soonest);
    });
  }

  /** The requirements that were broken, with one example each. */
  violations(): ViolationSummary[] {
    return [...this.#violations.values()];
  }
}
