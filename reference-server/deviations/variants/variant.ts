import { type Deviation, type Personality, together } from '../personality.ts';

/** A conforming server that answers what the document leaves open in its own way. */
export interface Variant extends Personality {
  readonly name: string;
  /** Its answers where they are not the usual ones: question to answer. */
  readonly answers: Readonly<Record<string, string>>;
}

/**
 * Ways to answer, by question and answer. The question is the id in the contract's list of gaps, or a name of our own where
 * it is not in that list; the answer is called as that list calls it. In parentheses is what the list does not know.
 */
export type AnswerTable = Readonly<
  Record<string, Readonly<Record<string, Deviation | readonly Deviation[]>>>
>;

/** Variants by name: its answer to each question. */
export type VariantTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The variants of a table, in its order. */
export function variantsOf(table: VariantTable, ways: AnswerTable): Variant[] {
  const wayOf = (question: string, answer: string) => {
    const way = ways[question]?.[answer];
    if (way === undefined) throw new Error(`no server answers ${question} so: ${answer}`);
    return way;
  };
  return Object.entries(table).map(([name, answers]) => {
    const given = Object.entries(answers);
    return {
      name,
      answers: Object.fromEntries(
        given.map(([question, answer]) => [question, answer.replace(/ \(.*\)$/, '')]),
      ),
      ...together(...given.flatMap(([question, answer]) => wayOf(question, answer))),
    };
  });
}
