import type { Decisions, Design } from '../design.ts';

/**
 * A way in which a server differs from the conforming one: parts of its design that are replaced. It is a function where
 * it needs the usual ones or remembers something: that is called once per server. Of several each is put on those before.
 */
export type Deviation = Partial<Design> | readonly Deviation[] | ((usual: Design) => Deviation);

/** Deviations by what they are about, then by name. */
export type DeviationTable = Readonly<Record<string, Readonly<Record<string, Deviation>>>>;

const areSeveral = (deviation: Deviation): deviation is readonly Deviation[] => Array.isArray(deviation);

/** A design with a deviation put on it. */
export function deviating(usual: Design, deviation: Deviation): Design {
  if (typeof deviation === 'function') return deviating(usual, deviation(usual));
  if (areSeveral(deviation)) return deviation.reduce<Design>(deviating, usual);
  return { ...usual, ...deviation };
}

/** How a decision is made instead, given the usual way. */
type Change<Decision extends keyof Decisions> = (
  usual: Decisions[Decision],
  ...given: Parameters<Decisions[Decision]>
) => ReturnType<Decisions[Decision]>;

/** Makes one of the server's decisions in another way. */
export const deciding =
  <Decision extends keyof Decisions>(decision: Decision) =>
  (change: Change<Decision>): Deviation =>
  (usual) => ({
    [decision]: (...given: Parameters<Decisions[Decision]>) => change(usual[decision], ...given),
  });
