/** Keys that show another caller's view of the target while one key is driven to its limit or beyond. */
import { MINUTE } from '../../limits/time.ts';
import { isAdmittedStatus } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { SceneRun } from '../../run/scene.ts';

/** The functional keys, except the one of this name. */
export const otherKeys = (keys: readonly Key[], key: { readonly name: string | null }): Key[] =>
  keys.filter(({ name, roles }) => name !== key.name && roles.includes('functional'));

/**
 * The first of the keys on which a request disturbs nothing: its minute is not being counted, and its own limit is not
 * reached. A key at its limit says nothing about the ban, and could be banned itself.
 */
export function freeKey(run: SceneRun, keys: readonly Key[]): Key | undefined {
  const now = run.now();
  return keys.find((key) => {
    const lane = run.lane(key);
    // A key with several refusals may be banned itself, unless it was admitted since.
    const last = run.trace.readingsOf(key, now - MINUTE).at(-1);
    const isInnocent =
      run.trace.refusalsOf({ key: key.name }) <= 1 || (last !== undefined && isAdmittedStatus(last.status));
    return isInnocent && !lane.isReserved && lane.readyAt(now, run.trace.targetClock) <= now;
  });
}
