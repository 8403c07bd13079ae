import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The test files of a folder and of all folders below it, as paths from the root. */
const testsOf = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, file));

/**
 * Runs the tests of a folder in this process. Most of them are done in less time than a process takes to start and to load
 * tap and the modules. `npx tap FILE` runs one of them as ever. The files that call this are numbered: what takes longest
 * begins first, and no core is left idle at the end.
 *
 * @param others files and folders within it that have a process of their own
 */
export async function inOneProcess(folder, ...others) {
  for (const file of testsOf(folder).sort())
    if (!others.some((other) => file.startsWith(other))) await import(join(ROOT, file));
}
