import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs the tests of folders and of all folders below them in this process. Most of them are done in less time than a
 * process takes to start and to load tap and the modules. `npx tap FILE` runs one of them as ever.
 */
export async function inOneProcess(...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.test.ts')).sort()) {
      await import(join(folder, file));
    }
  }
}
