/** How much k6 sends is what was paid for: nothing else may say so. */

/** k6 takes these over a script's scenarios, all of which it then leaves out. */
const LONG = /^--(vus|duration|iterations|stage|paused)(=|$)/;
/** The same in short, alone or behind others that take no value. */
const SHORT = /^-[qvwlh]*[udisp]/;

/** The first of k6's options that would make another load than the one that was paid for; undefined where none does. */
export function otherLoad(k6Options: readonly string[]): string | undefined {
  return k6Options.find((option) => LONG.test(option) || SHORT.test(option));
}

const VARIABLES = ['K6_VUS', 'K6_DURATION', 'K6_ITERATIONS', 'K6_STAGES', 'K6_PAUSED'];

/**
 * An environment without what would make k6 send another load, be it meant for another script.
 *
 * @param withheld further variables that are not k6's business
 */
export function withoutOtherLoad(
  environment: NodeJS.ProcessEnv,
  withheld: readonly string[] = [],
): NodeJS.ProcessEnv {
  const without = new Set([...VARIABLES, ...withheld]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !without.has(name)));
}
