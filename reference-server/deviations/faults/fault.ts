import type { Parts } from '../../recipe.ts';
import { type Personality, together } from '../personality.ts';
import { eachServer } from '../shapes.ts';

/** One thing that a server does wrong, and nothing else. */
export interface Fault extends Personality {
  readonly name: string;
  /** The id of the requirement that it breaks. */
  readonly breaks: string;
  /** What it does, in one sentence. */
  readonly summary: string;
}

/** What differs; a function where it remembers something, so that every server has its own. */
export type Deviation = Personality | ((parts: Parts) => Personality);

/** A fault's row: what it does, in a sentence and in code. */
type Row = readonly [summary: string, ...deviations: Deviation[]];

/** Faults by the requirement that they break, then by name. */
export type FaultTable = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** The faults of a table, in its order. */
export function faultsOf(table: FaultTable): Fault[] {
  return Object.entries(table).flatMap(([breaks, rows]) =>
    Object.entries(rows).map(([name, [summary, ...deviations]]) => {
      const made = deviations.map((deviation) =>
        typeof deviation === 'function' ? eachServer(deviation) : deviation,
      );
      return { name, breaks, summary, ...together(...made) };
    }),
  );
}
