import type { Exchange } from '../checks/wire/exchange.ts';
import type { RequirementResult } from './report.ts';

export type Row = RequirementResult;
export type Rows = readonly Row[];

/** A broken requirement that no other explains, and what it explains. */
export interface Cause {
  readonly row: Row;
  readonly follow: Rows;
  /** The exchange that proves it. */
  readonly proof: Exchange | undefined;
}

/** Rows with one reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly rows: Rows;
}
