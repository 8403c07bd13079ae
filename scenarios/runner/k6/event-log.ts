import { Ajv } from 'ajv';
import type { Redactor } from '../../../checks/wire/redaction.ts';
import type {
  AssertionEvent,
  MeasurementEvent,
  ScriptEvent,
  UndecidedEvent,
  ViolationEvent,
} from '../../lib/events.ts';
import type { ThresholdOutcome, ViolationSummary } from '../result/load-result.ts';
import { number, object, text } from '../result/schema-parts.ts';
import { droppedIn, type K6Figures, readK6Figures } from './k6-figures.ts';

const MOST_ERROR_LINES = 20;
const MOST_LINE = 500;
/** What k6 says when the runner stops it, which is the runner's to explain. */
const SIGNALLED = /test run was aborted because k6 received a '\w+' signal/;

const event = (kind: string, properties: Record<string, object>) =>
  object({ kind: { const: kind }, ...properties });

const isScriptEvent = new Ajv({ strict: true, strictRequired: false }).compile<ScriptEvent>({
  type: 'object',
  oneOf: [
    event('violation', {
      requirement: text,
      detail: text,
      operation: text,
      method: text,
      path: text,
      key: text,
      status: number,
      headers: { type: 'object', additionalProperties: text },
      body: text,
    }),
    event('assertion', { name: text, key: text, held: { type: 'boolean' }, expected: text, actual: text }),
    event('undecided', { name: text, key: text, why: text }),
    event('measurement', { name: text, key: text, value: number, unit: text }),
    event('added', { ids: { type: 'array', items: text } }),
    event('lag', { milliseconds: { type: 'array', items: number } }),
    event('figures', { metrics: text }),
  ],
});

/** What scripts told beside samples, and what k6 logged. Keys are removed from everything on its way in. */
export class EventLog {
  readonly #redactor: Redactor;
  readonly #violations = new Map<string, { reported: number; example: Omit<ViolationEvent, 'kind'> }>();
  readonly assertions: AssertionEvent[] = [];
  readonly undecided: UndecidedEvent[] = [];
  readonly measurements: MeasurementEvent[] = [];
  readonly addedIds: string[] = [];
  readonly #lags = new Map<number, number[]>();
  readonly #figures = new Map<number, K6Figures>();
  readonly errorLines: string[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Takes in one event as JSON, from the process of this number. */
  add(json: string, from = 0): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(this.#redactor.redact(json));
    } catch {
      parsed = undefined;
    }
    if (!isScriptEvent(parsed)) {
      this.problem('k6 wrote an event that cannot be read');
      return;
    }
    switch (parsed.kind) {
      case 'violation': {
        const { kind: _, ...example } = parsed;
        const known = this.#violations.get(parsed.requirement);
        if (known === undefined) this.#violations.set(parsed.requirement, { reported: 1, example });
        else known.reported += 1;
        break;
      }
      case 'assertion':
        this.assertions.push(parsed);
        break;
      case 'undecided':
        this.undecided.push(parsed);
        break;
      case 'measurement':
        this.measurements.push(parsed);
        break;
      case 'added':
        for (const id of parsed.ids) this.addedIds.push(id);
        break;
      case 'lag': {
        const lags = this.#lags.get(from) ?? [];
        this.#lags.set(from, lags);
        for (const lag of parsed.milliseconds) lags.push(lag);
        break;
      }
      case 'figures': {
        const figures = readK6Figures(parsed.metrics);
        if (figures === undefined) this.problem("k6's own figures cannot be read");
        else this.#figures.set(from, figures);
        break;
      }
    }
  }

  /** Takes in one line of k6's log; what a person should see goes on to `note`. */
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

  /** k6's own figures of the process of this number; undefined where it did not get so far. */
  figures(from: number): K6Figures | undefined {
    return this.#figures.get(from);
  }

  /** Arrivals that k6 dropped, as every virtual user was waiting. */
  droppedIterations(): number {
    return [...this.#figures.values()].reduce((sum, figures) => sum + droppedIn(figures), 0);
  }

  /** By how much arrivals came later than those that came soonest in the same process, in milliseconds. */
  lags(): number[] {
    return [...this.#lags.values()].flatMap((lags) => {
      const soonest = lags.reduce((least, lag) => Math.min(least, lag), Number.POSITIVE_INFINITY);
      return lags.map((lag) => lag - soonest);
    });
  }

  /** What broke the contract, one example each. */
  violations(): ViolationSummary[] {
    return [...this.#violations].map(([requirement, { reported, example }]) => ({
      requirement,
      reported,
      example,
    }));
  }

  /** The scripts' assertions as outcomes. */
  outcomes(): ThresholdOutcome[] {
    return this.assertions.map(({ name, key, held, expected, actual }) => ({
      name,
      key,
      held,
      expected,
      actual,
    }));
  }
}
