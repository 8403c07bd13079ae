/** Brings a key into a state in which its minute can be counted: all spending of its quota is known. */
import { MINUTE, SECOND } from '../../limits/time.ts';
import { sinceEdge } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { Probe } from '../../run/probe.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { admittedOn } from './admitted.ts';

/** The requests of this run on a key since it was last idle for a minute; undefined if that is unknown. */
function sinceRest(readings: readonly RateReading[], now: number): readonly RateReading[] | undefined {
  const own = readings.filter(({ status }) => status !== 429);
  const first = own[0];
  if (first === undefined || first.sentAt > now - MINUTE) return own;
  // Over more than a minute, only a fixed window with a constant Reset shows which requests it holds.
  const last = own.at(-1);
  if (last === undefined || now - last.receivedAt >= MINUTE) return [];
  const inWindow = own.filter(
    ({ reset, sentAt }) => reset !== undefined && reset === last.reset && sentAt > now - MINUTE,
  );
  const standsStill = inWindow.length >= 3 && inWindow.every(({ limit }) => limit === last.limit);
  return standsStill ? inWindow : undefined;
}

/** When the minute in an answer's headers is certainly over; undefined if they do not describe the minute. */
function windowEnd(probe: Probe, { limits }: Key, last: RateReading | undefined): number | undefined {
  return last?.reset !== undefined && last.limit === limits.perMinute
    ? probe.trace.targetClock.certainlyReached(last.reset + SECOND)
    : undefined;
}

/** Whether this Reset is the end of a window at all: one that names the second of each answer is not. */
const showsEnd = (readings: readonly RateReading[], end: number | undefined): boolean =>
  end !== undefined &&
  readings.some(({ reset, date }) => reset === end && date !== undefined && end - date > 2 * SECOND);

/** The longest burst on a target of ordinary speed; a window that ends sooner is waited out. */
const BURST = 5 * SECOND;

/**
 * Brings a key into a state in which its minute can be counted: what it spent in the current window is known, and the
 * window lasts long enough. Returns the requests in that window.
 */
export async function atStart(probe: Probe, key: Key): Promise<readonly RateReading[]> {
  const readings = probe.trace.readingsOf(key);
  const last = readings.at(-1);
  const ends = windowEnd(probe, key, last);
  if (ends !== undefined && ends < probe.now() + BURST)
    await probe.waitUntil(ends, `the next window of key ${key.name}`);
  const before = sinceRest(probe.trace.readingsOf(key), probe.now());
  if (before !== undefined) {
    const isOver = ends !== undefined && ends <= probe.now() && showsEnd(before, last?.reset);
    return isOver ? before.filter(({ reset }) => reset !== last?.reset) : before;
  }
  await rest(probe, key);
  return [];
}

/** Whether somebody else, or an earlier run, spent part of the window: no answer leaves as much as our own requests would. */
function isSpentInPart(probe: Probe, key: Key): boolean {
  const { perMinute } = key.limits;
  const admitted = sinceEdge(admittedOn(probe.trace, key));
  if (!admitted.every(({ limit }) => limit === perMinute)) return false;
  const unspent = admitted.map(({ remaining }, index) => (remaining ?? Number.NaN) + index + 1);
  return unspent.length > 0 && unspent.every((most) => most < perMinute);
}

/**
 * Waits out a window that an earlier run has spent in part, since its count would fall short, and opens the next one.
 * Returns when that was opened; undefined if there was nothing to wait for.
 */
export async function afterSpentWindow(probe: Probe, key: Key): Promise<number | undefined> {
  const ends = windowEnd(probe, key, probe.trace.readingsOf(key).at(-1));
  // What resets within seconds is a bucket's next token, or is waited for anyway.
  const isAhead = ends !== undefined && ends > probe.now() + BURST && ends <= probe.now() + MINUTE + BURST;
  if (!isAhead || !isSpentInPart(probe, key)) return undefined;
  // One answer may show a wrong Remaining: another one has to say the same.
  await probe.attempt(listPets({ limit: 1 }), key);
  if (!isSpentInPart(probe, key)) return undefined;
  await probe.waitUntil(ends, `the next window of key ${key.name}`);
  const opened = await probe.attempt(listPets({ limit: 1 }), key);
  return opened.sentAt;
}

/**
 * Waits until a clock-aligned window has passed without a request. A sliding window counter, which counts part of the
 * previous window, then starts from zero.
 */
export async function restForWindow(probe: Probe, key: Key): Promise<void> {
  const last = probe.trace.readingsOf(key).at(-1);
  const rested = (last?.receivedAt ?? 0) + 2 * MINUTE + SECOND;
  const ends = windowEnd(probe, key, last);
  const until = ends === undefined ? rested : Math.min(rested, ends + MINUTE);
  await probe.waitUntil(until, `key ${key.name} to be at rest for a whole window`);
}

/**
 * Waits until the key has made no request for a whole minute: every kind of window is then fresh. A clock-aligned
 * window ends when the refusal said, and every minute after that. The wait lasts until the next such edge, so that none
 * falls into the burst.
 */
export async function rest(probe: Probe, key: Key, edge?: number): Promise<void> {
  const last = probe.trace.readingsOf(key).at(-1);
  const rested = (last?.receivedAt ?? 0) + MINUTE + SECOND;
  const until =
    edge === undefined ? rested : edge + MINUTE * Math.max(0, Math.ceil((rested - edge) / MINUTE));
  await probe.waitUntil(until, `key ${key.name} to be at rest for a minute`);
}

/** Waits a minute from now, because the key may have spent more than is on record. */
export async function restFromNow(probe: Probe, key: Key): Promise<void> {
  await probe.waitUntil(probe.now() + MINUTE + SECOND, `key ${key.name} to be at rest for a minute`);
}
