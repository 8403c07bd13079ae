import type { ApiKey } from '../api-keys.ts';
import { type When, where } from './when.ts';

/** Every n-th time. It has a counter, so every server needs its own. */
export function everyTime(n: number): () => boolean {
  let times = 0;
  return () => ++times % n === 0;
}

/** Whether the same was seen before. It remembers, so every server needs its own. */
export function seenBefore(): (what: string) => boolean {
  const seen = new Set<string>();
  return (what) => seen.size === seen.add(what).size;
}

/** Every n-th time the one before, in place of this one. It remembers too. */
export function oneBefore<T>(n: number): (one: T) => T {
  const isDue = everyTime(n);
  let last: T | undefined;
  return (one) => {
    const shown = isDue() ? (last ?? one) : one;
    last = one;
    return shown;
  };
}

/** Matches every n-th time that a predicate does. */
export const everyNth = (n: number, when: When): When => where(when, everyTime(n));

/** Makes something for each key, once. */
export function ofEachKey<T>(make: () => T): (key: ApiKey | null) => T {
  const made = new Map<string, T>();
  return (key) => {
    const name = key?.name ?? '';
    const own = made.get(name) ?? make();
    made.set(name, own);
    return own;
  };
}
