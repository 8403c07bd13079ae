import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../../spec/package-root.ts';
import type { ScenarioFacts } from '../../lib/scenario.ts';

/** Where `npm run build` puts the scripts for k6, and the files that they share. */
export const SCRIPTS = new URL('dist/scenarios/k6/', packageRoot);

/** Prefix of the names of shared files. */
export const SHARED = 'shared-';

/** The name of a scenario's script: its own if it has clients at their own pace, else the one for rates. */
export const scriptName = ({ name, streams }: ScenarioFacts): string =>
  streams.some(({ kind }) => kind === 'clients') ? name : 'mixed-requests';

/**
 * Copies a scenario's script and what it imports into `folder`, readable by the user only.
 *
 * @returns the path of the script
 */
export async function placeScript(facts: ScenarioFacts, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const script = join(folder, 'script.js');
  const shared = (await readdir(SCRIPTS)).filter((file) => file.startsWith(SHARED));
  const place = async (file: string, path: string) => {
    await copyFile(new URL(file, SCRIPTS), path);
    await chmod(path, 0o600);
  };
  await Promise.all([
    place(`${scriptName(facts)}.js`, script),
    ...shared.map((file) => place(file, join(folder, file))),
  ]);
  return script;
}
