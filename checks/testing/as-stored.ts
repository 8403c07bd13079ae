import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';

/**
 * Asserts that texts are those of a file, to the letter: a review then shows each sentence that a change touches. With
 * TAP_SNAPSHOT=1 the file is written anew. A text that the file does not have yet is only named: what is new, a check or a
 * command, is no change of what there was. (tap's own snapshots are found only by the name of the process's main file.)
 */
export function assertAsStored(t: Test, file: string, texts: Readonly<Record<string, string>>): void {
  const all = Object.entries(texts);
  if (process.env['TAP_SNAPSHOT'] === '1')
    writeFileSync(file, all.map(([name, text]) => `===== ${name}\n${text}\n`).join(''));
  const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const stored = new Map(
    written
      .split(/^===== /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1, -1)]),
  );
  t.not(stored.size, 0, `${file} has texts`);
  for (const [name, text] of stored)
    t.equal(texts[name], text, `${name}: as stored; else run it with TAP_SNAPSHOT=1`);
  for (const [name] of all) if (!stored.has(name)) t.comment(`not stored yet: ${name}`);
}
