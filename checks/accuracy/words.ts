/** What a fault makes a run say, kept to the letter in words.txt beside this file: a review shows what a change says. */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageRoot } from '../../spec/package-root.ts';
import type { Entry } from './matrix.ts';

const FILE = new URL('checks/accuracy/words.txt', packageRoot);

/** Without what differs from run to run: names of animals and keys, times, and numbers but for a status. */
const lasting = (text: string) =>
  Buffer.from(text)
    .toString()
    .replaceAll(/arness-[a-z]{1,8}(?:(?: [a-z])? [a-z]{2}(?="))?/gi, 'arness-…')
    .replaceAll(/\b(?:free|pro|business|enterprise)-\w+(,? \w+-\w+)*/g, '…')
    .replaceAll(/[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} [\d: ]+ GMT/g, '…')
    .replaceAll(/(?<!(?:fail:|\/) (?=[1-5]\d\d (?:for |with|application|\/)))(?<!\d)\d[\d,.]*/g, 'N');

/** What the requirement that a fault breaks says of it. */
const wordsOf = ({ case: { breaks }, result }: Entry): string[] =>
  result.verdicts.flatMap(({ id, verdict, expected = '', reason }) =>
    id === breaks ? `${id} ${lasting(`${verdict}: ${expected} / ${reason}`)}` : [],
  );

/** A line for what is said in other words than are stored. */
export function newWords(entries: readonly Entry[]): string[] {
  const stored = readFileSync(FILE, 'utf8').split('\n');
  return entries.flatMap((entry) =>
    wordsOf(entry)
      .filter((words) => !stored.includes(words))
      .map((words) => `fault ${entry.case.name}: not in words.txt, see --write: ${words}`),
  );
}

/** Stores what these say, each sentence once. */
export const writeWords = (entries: readonly Entry[]): void =>
  writeFileSync(FILE, `${[...new Set(entries.flatMap(wordsOf))].sort().join('\n')}\n`);
