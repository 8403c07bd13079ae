import { type Deviation, type Personality, together } from '../personality.ts';

/** One thing that a server does wrong, and nothing else. */
export interface Fault extends Personality {
  readonly name: string;
  /** The id of the requirement that it breaks. */
  readonly breaks: string;
  /** What it does, in one sentence. */
  readonly summary: string;
}

/** A fault's row: what it does, in a sentence and in code. */
type Row = readonly [summary: string, ...deviations: Deviation[]];

/** Faults by the requirement that they break, then by name. */
export type FaultTable = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** The faults of a table, in its order. */
export const faultsOf = (table: FaultTable): Fault[] =>
  Object.entries(table).flatMap(([breaks, rows]) =>
    Object.entries(rows).map(([name, [summary, ...deviations]]) => ({
      name,
      breaks,
      summary,
      ...together(...deviations),
    })),
  );
