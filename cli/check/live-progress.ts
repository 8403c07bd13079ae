import type { RunEvent } from '../../checks/run/run-events.ts';

/** A day's quota that is being spent. */
export interface Spending {
  readonly done: number;
  readonly of: number;
  /** When this run began to spend it, by the run's clock, and how much was spent by then. */
  readonly since: number;
  readonly from: number;
}

/** What a run is doing now, according to its events. */
export class LiveProgress {
  /** Checks under way, the latest one last. */
  readonly running = new Set<string>();
  /** What the run waits for, and until when. */
  readonly waits = new Map<string, number>();
  /** Requests sent, by key name. */
  readonly requests = new Map<string, number>();
  /** By key name. */
  readonly spending = new Map<string, Spending>();
  ended = 0;
  failed = 0;

  /** Takes in an event. */
  admit(event: RunEvent, now: number): void {
    if (event.kind === 'check-started') this.running.add(event.id);
    else if (event.kind === 'waiting') this.waits.set(event.for, event.until);
    else if (event.kind === 'waited') this.waits.delete(event.for);
    else if (event.kind === 'exchange') {
      const key = event.exchange.key ?? '(none)';
      this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    } else if (event.kind === 'check-ended') {
      this.running.delete(event.id);
      this.ended += 1;
      if (event.verdict === 'fail') this.failed += 1;
    } else {
      const { key, done, of } = event;
      const { since, from } = this.spending.get(key) ?? { since: now, from: done };
      if (done >= of) this.spending.delete(key);
      else this.spending.set(key, { done, of, since, from });
    }
  }
}

/** Requests a minute, and when the last one is due, by the run's clock; undefined until both are known. */
export function pace(
  { done, of, since, from }: Spending,
  now: number,
): { perMinute: number; arrival: number } | undefined {
  if (done <= from || now <= since) return undefined;
  const perMillisecond = (done - from) / (now - since);
  return { perMinute: perMillisecond * 60_000, arrival: now + (of - done) / perMillisecond };
}
