import { type Deviation, type Personality, together } from '../personality.ts';

/** One answer to a question that the document leaves open. */
export interface Answer extends Personality {
  /** The question's id in the contract's list of gaps; a name of our own where it is not in that list. */
  readonly question: string;
  /** The answer as that list calls it, or the value where the list leaves it open. */
  readonly answer: string;
}

/** A conforming server that answers what the document leaves open in its own way. */
export interface Variant extends Personality {
  readonly name: string;
  /** Its answers where they are not the usual ones: question to answer. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Gives an answer its name. */
export const answer = (question: string, name: string, ...deviations: readonly Deviation[]): Answer => ({
  question,
  answer: name,
  ...together(...deviations),
});

/** Variants by name: the answers of each. */
export type VariantTable = Readonly<Record<string, readonly Answer[]>>;

/** The variants of a table, in its order. */
export function variantsOf(table: VariantTable): Variant[] {
  return Object.entries(table).map(([name, answers]) => ({
    name,
    answers: Object.fromEntries(answers.map(({ question, answer }) => [question, answer])),
    ...together(...answers),
  }));
}
