import type { Personality } from '../personality.ts';

/** A conforming server that answers what the document leaves open in its own way. */
export interface Variant extends Personality {
  readonly name: string;
  /** What it is like, in one sentence. */
  readonly summary: string;
  /** Its answers to questions that the document leaves open, where they are not the usual ones: question to answer. */
  readonly answers: Readonly<Record<string, string>>;
}
