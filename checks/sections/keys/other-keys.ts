/** Keys with which another caller's view of the target is had, while one is driven to its limit or beyond. */
import { type Key, MINUTE } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { isAdmittedStatus } from '../minute/admitted.ts';

/** The keys that pay for ordinary checks, but the one of this name. */
export const otherKeys = (probe: Probe, key: { readonly name: string | null }): Key[] =>
  probe.keys.filter(({ name, roles }) => name !== key.name && roles.includes('functional'));

/**
 * The first of the keys on which a request disturbs nothing: its own minute is not being counted, and its own limit
 * not reached, which says nothing about the ban and may earn it one of its own.
 */
export function freeKey(probe: Probe, keys: readonly Key[]): Key | undefined {
  const stored = probe.storedKey();
  if (stored !== undefined) return keys.find(({ name }) => name === stored);
  // A key that had several refusals may have earned a ban of its own, unless it was admitted since.
  const isInnocent = (key: Key) => {
    const last = probe.readingsOf(key, probe.now() - MINUTE).at(-1);
    return probe.refusalsOf(key) <= 1 || (last !== undefined && isAdmittedStatus(last.status));
  };
  return keys.find((key) => isInnocent(key) && !probe.isCounted(key) && probe.quotaAt(key) <= probe.now());
}
