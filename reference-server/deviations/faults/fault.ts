import type { Personality } from '../personality.ts';

/** One thing that a server does wrong, and nothing else. */
export interface Fault extends Personality {
  readonly name: string;
  /** The id of the requirement that it breaks. */
  readonly breaks: string;
  /** What it does, in one sentence. */
  readonly summary: string;
}

/** Writes a fault down in one line: name, requirement, sentence, deviation. */
export function fault(name: string, breaks: string, summary: string, deviation: Personality): Fault {
  return { name, breaks, summary, ...deviation };
}
