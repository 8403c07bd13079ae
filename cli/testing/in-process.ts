/** The command in the test's own process: a process of its own takes longer to start than most runs take. */
import { main } from '../program.ts';
import { concerning, failure } from '../shared/failure.ts';

const KEY_VARIABLE = /^PETSTORE_|^NO_COLOR$|^FORCE_COLOR$/;
/** The variables of this process, but for those that a test sets. */
export const QUIET_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !KEY_VARIABLE.test(name)),
);

/**
 * Runs the command to its end in a folder, with these variables. One at a time: folder, variables, streams and exit code
 * are those of the process.
 */
export async function runHere(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const output = { stdout: '', stderr: '' };
  const undo = (['stdout', 'stderr'] as const).map((name) => {
    const { write, isTTY } = process[name];
    const heard = (text: string | Uint8Array, done?: unknown) => {
      output[name] += String(text);
      if (typeof done === 'function') done();
      return true;
    };
    Object.assign(process[name], { write: heard, isTTY: false });
    return () => Object.assign(process[name], { write, isTTY });
  });
  const before = { env: process.env, folder: process.cwd(), exitCode: process.exitCode };
  process.env = { ...QUIET_ENVIRONMENT, ...env };
  process.chdir(folder);
  process.exitCode = 0;
  concerning();
  await main(args).catch(failure);
  const code = Number(process.exitCode);
  process.exitCode = before.exitCode;
  process.chdir(before.folder);
  process.env = before.env;
  for (const restore of undo) restore();
  return { code, ...output };
}
