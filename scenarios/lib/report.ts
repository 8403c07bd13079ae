/**
 * Samples and events on their way to the runner. Each VU keeps its samples and writes them to k6's log twice a
 * second; `drain`, which every VU runs once after the load, writes what is left.
 */

import type { EventOf, ScriptEvent } from './events.ts';
import { EVENT_MARK, GAP_FACTOR, MOST_GAP_MS, SAMPLES_MARK, STATUS_FACTOR } from './sample.ts';

const FLUSH_EVERY_MS = 500;
const FLUSH_AT = 3_000;
const VIOLATIONS_PER_VU = 3;

// Filled by index and kept: that costs k6 a third of push.
const rows: number[] = [];
let filled = 0;
let base = 0;
let last = 0;
let flushedAt = 0;
/** The first number of the sample before, where it is in the same line. */
let lastCode = -1;
let openCode = 0;
let openSince = 0;
/** Where the sample of the open request goes: once it is there, the request is counted, whatever k6 cuts off next. */
let openAt = -1;
let lags: number[] = [];
let added: string[] = [];
const violations = new Map<string, number>();

/** Notes that a request is under way, so that one cut off at the end of the run is not forgotten. */
export function begin(series: number, now: number): void {
  openCode = series;
  openSince = now;
  openAt = filled;
}

/** Adds the sample of the request that {@link begin} announced. */
export function end(status: number, outcome: number, milliseconds: number): void {
  endAs(openCode + status * STATUS_FACTOR + outcome, milliseconds);
}

/** As {@link end}, with the sample's first number ready made. */
export function endAs(code: number, milliseconds: number): void {
  // Rounds like Math.round, at a quarter of its cost; k6's timeouts are far below the 35 minutes that fit.
  const microseconds = (milliseconds * 1000 + 0.5) | 0;
  const gap = openSince - last;
  if (code === lastCode && gap < MOST_GAP_MS) {
    rows[filled] = -1 - gap * GAP_FACTOR - microseconds;
    filled += 1;
  } else {
    if (filled === 0) base = openSince;
    rows[filled] = code;
    rows[filled + 1] = filled === 0 ? 0 : gap;
    rows[filled + 2] = microseconds;
    filled += 3;
    lastCode = code;
  }
  last = openSince;
  if (openSince - flushedAt >= FLUSH_EVERY_MS || filled >= FLUSH_AT) flush(openSince);
}

function flush(now: number): void {
  flushedAt = now;
  openAt = -1;
  lastCode = -1;
  if (filled > 0) {
    rows.length = filled;
    const line = `${SAMPLES_MARK}${base},${rows.join(',')}`;
    // Before it is written: k6 may cut a VU off while it writes, and drain would write it again.
    filled = 0;
    console.log(line);
  }
  if (lags.length > 0) {
    tell({ kind: 'lag', milliseconds: lags });
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
  if (filled === openAt) {
    const cutOff = 5;
    end(0, cutOff, now - openSince);
  }
  flush(now);
}

/** Notes how late an iteration began, in milliseconds. */
export function noteLag(milliseconds: number): void {
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
export function tellViolation(event: EventOf<'violation'>): void {
  const seen = violations.get(event.requirement) ?? 0;
  violations.set(event.requirement, seen + 1);
  if (seen < VIOLATIONS_PER_VU) tell(event);
}
