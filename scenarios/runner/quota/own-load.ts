/** k6 may send what was paid for, and no option or variable may change that. */

/** These options replace all scenarios of a script. */
const LONG = /^--(vus|duration|iterations|stage|paused)(=|$)/;
/** The same as short options, alone or behind others that take no value. */
const SHORT = /^-[qvwlh]*[udisp]/;

/** The first of k6's options that would change the load that was paid for. */
export function otherLoad(k6Options: readonly string[]): string | undefined {
  return k6Options.find((option) => LONG.test(option) || SHORT.test(option));
}

const VARIABLES = ['K6_VUS', 'K6_DURATION', 'K6_ITERATIONS', 'K6_STAGES', 'K6_PAUSED'];

/**
 * An environment without the variables that would make k6 send another load.
 *
 * @param withheld further variables that k6 must not see
 */
export function withoutOtherLoad(
  environment: NodeJS.ProcessEnv,
  withheld: readonly string[] = [],
): NodeJS.ProcessEnv {
  const without = new Set([...VARIABLES, ...withheld]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !without.has(name)));
}
