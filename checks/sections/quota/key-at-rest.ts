/** Brings a key into a state in which its minute can be counted: all spending of its quota is known. */
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isAdmittedStatus } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { lostOn } from './admitted.ts';

/** A burst on a target of ordinary speed takes less, so that what was sent before it still counts with it. */
const BURST = 10 * SECOND;

/**
 * From when the requests of this run on a key count, none of which is given back yet: those since it was at rest for a
 * minute. Where the first of them was too long ago for that, or the key was refused since, it is after another minute at
 * rest.
 *
 * @param edge see {@link rest}
 */
export async function knownSince(run: SceneRun, key: Key, edge?: number): Promise<number> {
  const readings = run.trace.readingsOf(key);
  const index = readings.findLastIndex(
    ({ sentAt }, at) => sentAt - (readings[at - 1]?.receivedAt ?? 0) >= MINUTE,
  );
  const first = readings[index];
  if (first === undefined) return run.now();
  const refused = readings.findLast(({ status }) => !isAdmittedStatus(status));
  const isKnown = first.sentAt > Math.max(refused?.receivedAt ?? 0, run.now() - MINUTE + BURST);
  if (isKnown && (index === 0 || lostOn(run.trace, key.name, first.sentAt - MINUTE).length === 0))
    return first.sentAt;
  await rest(run, key, edge);
  return run.now();
}

const lastOf = (run: SceneRun, key: Key) => run.trace.readingsOf(key).at(-1);

/**
 * Waits until the key has made no request for a whole minute: every kind of window is then fresh, but for a counter
 * that slides and counts part of the minute before; that one starts from zero after two. A clock-aligned window ends
 * when the refusal said, and every minute after that. Where the next such edge is near, the wait lasts until then, so
 * that it does not fall into the burst.
 */
export async function rest(run: SceneRun, key: Key, edge?: number, minutes = 1): Promise<void> {
  const rested = (lastOf(run, key)?.receivedAt ?? 0) + minutes * MINUTE + SECOND;
  const sinceEdge = edge === undefined || edge > rested ? 0 : (rested - edge) % MINUTE;
  const until = sinceEdge < MINUTE / 2 ? Math.max(rested, edge ?? 0) : rested + MINUTE - sinceEdge;
  await run.waitUntil(until, `key ${key.name} to be at rest`);
}

/** Waits a minute or two from now, because the key may have spent more than is on record. */
export async function restFromNow(run: SceneRun, key: Key, minutes = 1): Promise<void> {
  await run.waitUntil(run.now() + minutes * MINUTE + SECOND, `key ${key.name} to be at rest for a minute`);
}
