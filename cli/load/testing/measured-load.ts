/** `load` as its users run it, with the k6 of the tests. */
import { k6, skip } from '../../../scenarios/runner/testing/brief-runs.ts';
import { run, type Started, type Surroundings, start } from '../../testing/command.ts';

export { skip };

const withK6 = (env: Readonly<Record<string, string>>) =>
  k6.path === '' ? env : { K6_BIN: k6.path, ...env };

/** Starts `load` with these arguments. */
export const startLoad = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  surroundings?: Surroundings,
): Started => start(folder, ['load', ...args], withK6(env), surroundings);

/** Runs `load` to its end. */
export const runLoad = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  surroundings?: Surroundings,
) => run(folder, ['load', ...args], withK6(env), surroundings);
