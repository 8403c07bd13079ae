/**
 * Samples and events on their way to the runner. Each VU keeps its samples and writes them to k6's log twice a
 * second; `drain`, which every VU runs once after the load, writes what is left.
 */

import type { LagEvent, ScriptEvent, ViolationEvent } from './events.ts';
import { EVENT_MARK, SAMPLES_MARK, STATUS_FACTOR } from './sample.ts';

const FLUSH_EVERY_MS = 500;
const FLUSH_AT = 3_000;
const VIOLATIONS_PER_VU = 3;

let rows: number[] = [];
let base = 0;
let last = 0;
let flushedAt = 0;
let openCode = -1;
let openSince = 0;
let lags: number[] = [];
let added: string[] = [];
const violations = new Map<string, number>();

/** Notes that a request is under way, so that one cut off at the end of the run is not forgotten. */
export function begin(series: number, now: number): void {
  openCode = series;
  openSince = now;
}

/** Adds the sample of the request that {@link begin} announced. */
export function end(status: number, outcome: number, milliseconds: number): void {
  if (rows.length === 0) {
    base = openSince;
    last = openSince;
  }
  rows.push(openCode + status * STATUS_FACTOR + outcome, openSince - last, Math.round(milliseconds * 1000));
  last = openSince;
  openCode = -1;
  if (openSince - flushedAt >= FLUSH_EVERY_MS || rows.length >= FLUSH_AT) flush(openSince);
}

function flush(now: number): void {
  flushedAt = now;
  if (rows.length > 0) console.log(`${SAMPLES_MARK}${base},${rows.join(',')}`);
  rows = [];
  if (lags.length > 0) {
    const event: LagEvent = { kind: 'lag', milliseconds: lags };
    tell(event);
    lags = [];
  }
  if (added.length > 0) {
    tell({ kind: 'added', ids: added });
    added = [];
  }
}

/** Writes what is left. */
export function drain(): void {
  const now = Date.now();
  if (openCode >= 0) {
    const cutOff = 5;
    end(0, cutOff, now - openSince);
  }
  flush(now);
}

/** Notes how late an iteration began, in milliseconds. */
export function late(milliseconds: number): void {
  lags.push(Math.round(milliseconds));
}

/** Notes the id of an animal that was added. */
export function noteAdded(id: string): void {
  added.push(id);
}

/** Writes an event. */
export function tell(event: ScriptEvent): void {
  console.log(EVENT_MARK + JSON.stringify(event));
}

/** Writes a violation; of each requirement a VU writes the first few. */
export function tellViolation(event: ViolationEvent): void {
  const seen = violations.get(event.requirement) ?? 0;
  violations.set(event.requirement, seen + 1);
  if (seen < VIOLATIONS_PER_VU) tell(event);
}
