import type { Answer } from '../answer.ts';
import type { Call } from '../design.ts';
import type { OperationName } from '../operations.ts';
import type { Deviation } from './deviation.ts';

/** Whether a deviation shows in an answer; most look at the call alone. */
export type When = (call: Call, answer: Answer) => boolean;

/** Matches what each of these does. */
export const where =
  (...tests: readonly When[]): When =>
  (call, answer) =>
    tests.every((test) => test(call, answer));

export const always = () => true;

/** Whether a call is to an operation; to any, if none is named. */
export const on =
  (operation?: OperationName) =>
  ({ route }: Call): boolean =>
    operation === undefined || route.operation === operation;

/** Whether the query of a call has a status. */
export const asksForStatus = (call: Call): boolean => new URLSearchParams(call.route.search).has('status');

/** Whether the raw query of a list contains this parameter. */
export const queried =
  (text: string) =>
  ({ route }: Call): boolean =>
    route.operation === 'listPets' && route.search.split('&').includes(text);

/** Every n-th time. It has a counter, so every server needs its own. */
export function everyTime(n: number): () => boolean {
  let times = 0;
  return () => ++times % n === 0;
}

/** A deviation that knows what it has seen before. */
export const knowingSeen =
  (deviation: (isSeen: (what: string) => boolean) => Deviation): Deviation =>
  () => {
    const seen = new Set<string>();
    return deviation((what) => seen.size === seen.add(what).size);
  };

/** Every n-th time the one before, in place of this one. It remembers, so every server needs its own. */
export function oneBefore<T>(n: number): (one: T) => T {
  const isDue = everyTime(n);
  let last: T | undefined;
  return (one) => {
    const shown = isDue() ? (last ?? one) : one;
    last = one;
    return shown;
  };
}

/** Makes something for each name, such as that of a key, once. */
export function ofEach<T>(make: () => T): (name: string | undefined) => T {
  const made = new Map<string | undefined, T>();
  return (name) => {
    const own = made.get(name) ?? make();
    made.set(name, own);
    return own;
  };
}
