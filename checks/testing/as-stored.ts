import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';

/**
 * Asserts that texts are those of a file, to the letter: a review then shows each sentence that a change touches. With
 * TAP_SNAPSHOT=1 the file is written anew. (tap's own snapshots are found only by the name of the process's main file.)
 */
export function assertAsStored(t: Test, file: string, texts: Readonly<Record<string, string>>): void {
  const text = Object.entries(texts)
    .map(([name, part]) => `===== ${name}\n${part}\n`)
    .join('');
  if (process.env['TAP_SNAPSHOT'] === '1') writeFileSync(file, text);
  t.equal(
    text,
    existsSync(file) ? readFileSync(file, 'utf8') : '',
    'as stored: else run it with TAP_SNAPSHOT=1',
  );
}
