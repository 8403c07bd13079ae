/** `load` as its users run it, with the k6 of the tests. */
import { k6ForTests } from '../../../scenarios/runner/testing/k6.ts';
import { run, type Started, type Surroundings, start } from '../../testing/command.ts';

const { k6, skip: reason } = await k6ForTests();

/** Why tests that need k6 are skipped; false where they are not. */
export const skip: string | false = reason;

const withK6 = (env: Readonly<Record<string, string>>) =>
  k6 === undefined ? env : { K6_BIN: k6.path, ...env };

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
