import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../../spec/package-root.ts';

/** Where `npm run build` leaves the scenarios, each bundled for k6. */
export const SCRIPTS = new URL('dist/scenarios/k6/', packageRoot);

/**
 * Puts a scenario's script into `folder`, private like everything there.
 *
 * @returns path of the script
 */
export async function placeScript(name: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const script = join(folder, 'script.js');
  await copyFile(new URL(`${name}.js`, SCRIPTS), script);
  await chmod(script, 0o600);
  return script;
}
