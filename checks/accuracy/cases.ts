/** Every case of the accuracy run, and those that are asked for. */
import fc from 'fast-check';
import { FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { VARIANTS } from '../../reference-server/deviations/variants/index.ts';
import { currentId, requirements } from '../../spec/contract.ts';
import type { AccuracyCase } from './case.ts';
import { DISTURBANCES } from './disturbances.ts';
import { STYLES } from './framework-service.ts';

/** Each conforming variant behind each disturbance. */
export const PAIRS: readonly AccuracyCase[] = DISTURBANCES.flatMap(
  ({ name: disturbance, variants = VARIANTS }) =>
    variants.map(({ name }) => ({ kind: 'variant', name, disturbance })),
);
const CONFORMING: readonly AccuracyCase[] = [
  ...STYLES.map((name) => ({ kind: 'service' as const, name })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name })),
];
const ALL: readonly AccuracyCase[] = [
  ...CONFORMING,
  ...FAULTS.map(({ name, breaks }) => ({ kind: 'fault' as const, name, breaks: currentId(breaks) })),
  ...PAIRS,
];

/** Long cases first, so that none is left running alone at the end. */
const weight = (one: AccuracyCase) =>
  one.kind === 'service' ? 3 : one.breaks?.startsWith('rate-day-') ? 2 : 0;

/** The requirements that must be seen red. */
const CHECKABLE = requirements
  .filter(({ excluded, level }) => excluded === undefined && level === 'MUST')
  .map(({ id }) => id);

/**
 * The cases whose fault, requirement, variant, service or disturbance matches, and the requirements that must be seen red;
 * all, if there is no filter. Conforming servers that were not asked for are restricted to the requirements that faults break.
 */
export function casesFor(filter: RegExp | undefined) {
  const isAsked = (one: AccuracyCase) =>
    filter === undefined ||
    [one.name, one.breaks, one.disturbance].some((text) => text !== undefined && filter.test(text));
  const asked = ALL.filter(isAsked).sort((one, other) => weight(other) - weight(one));
  const broken = [...new Set(asked.flatMap(({ breaks }) => breaks ?? []))];
  // A check that fails everything would find every fault: each conforming server shows that it does not.
  const companions = broken.length === 0 ? [] : CONFORMING.filter((one) => !isAsked(one));
  const cases: readonly AccuracyCase[] = [...companions.map((one) => ({ ...one, only: broken })), ...asked];
  return { cases, checkable: CHECKABLE.filter((id) => filter === undefined || broken.includes(id)) };
}

/** The pairs of a variant and a disturbance that are not among these cases, a line for a disturbance. */
export const pairsWithout = (cases: readonly AccuracyCase[]): string[] =>
  DISTURBANCES.flatMap(({ name }) => {
    const pairs = PAIRS.filter((pair) => pair.disturbance === name);
    const left = pairs.filter((pair) => !cases.includes(pair));
    const variants = left.length === pairs.length ? 'each variant' : left.map((pair) => pair.name).join(', ');
    return left.length === 0 ? [] : [`${name}: ${variants}`];
  });

/** Some of these, by a seed. */
export const someOf = <T>(all: readonly T[], count: number, seed: number): readonly T[] =>
  fc.sample(fc.shuffledSubarray([...all], { minLength: count, maxLength: count }), { numRuns: 1, seed })[0] ??
  [];

/** Some cases, by a seed; no requirement has to be seen red. */
export function sampleOf(count: number, seed: number): ReturnType<typeof casesFor> {
  return { cases: someOf(ALL, count, seed), checkable: [] };
}
