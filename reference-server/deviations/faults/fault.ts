import { type Deviation, type Personality, together } from '../personality.ts';

/** One thing that a server does wrong, and nothing else. */
export interface Fault extends Personality {
  readonly name: string;
  /** The id of the requirement that it breaks. */
  readonly breaks: string;
}

/** Faults by the requirement that they break, then by name, which says what is wrong and where. */
export type FaultTable = Readonly<Record<string, Readonly<Record<string, Deviation | readonly Deviation[]>>>>;

/** The faults of a table, in its order. */
export const faultsOf = (table: FaultTable): Fault[] =>
  Object.entries(table).flatMap(([breaks, rows]) =>
    Object.entries(rows).map(([name, deviations]) => ({ name, breaks, ...together(...[deviations].flat()) })),
  );
