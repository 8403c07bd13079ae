import type { Exchange } from '../wire/exchange.ts';
import { type Reason, reasonOf } from './reason.ts';

/** Thrown by a scene or a judge where it cannot tell; what verdict that makes follows from the reason's kind. */
export class Inconclusive extends Error {
  override readonly name = 'Inconclusive';
  readonly reason: Reason;
  readonly evidence: readonly Exchange[];

  /** @param reason in words: what came does not tell */
  constructor(reason: Reason | string, evidence: readonly Exchange[] = []) {
    const why = reasonOf(reason);
    super('what' in why ? why.what : why.kind);
    this.reason = why;
    this.evidence = evidence;
  }
}

/** What comes of it, or why that cannot be told. Any other error is a defect and is thrown on. */
export const conclusionOf = <T>(work: Promise<T>): Promise<T | Inconclusive> =>
  work.catch((error: unknown) => {
    if (error instanceof Inconclusive) return error;
    throw error;
  });

/** Runs what may be inconclusive: its result, or why there is none. Any other error is a defect and is thrown on. */
export function conclusiveOr<T, U>(work: () => T, otherwise: (reason: Inconclusive) => U): T | U {
  try {
    return work();
  } catch (error) {
    if (error instanceof Inconclusive) return otherwise(error);
    throw error;
  }
}
