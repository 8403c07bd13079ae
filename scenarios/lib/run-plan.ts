/** The plan of this run, which the runner wrote beside the script. */
import { scenarioNamed } from './catalogue.ts';
import type { LoadPlan } from './messages.ts';
import type { ScenarioFacts } from './scenario.ts';

export const plan: LoadPlan = JSON.parse(open('./plan.json'));

export const facts: ScenarioFacts = scenarioNamed(plan.scenario);

const { at, from, speed } = plan.clock;

/** The target's time now, in milliseconds since 1970. */
export function targetNow(now: number): number {
  return at + (now - from) * speed;
}

/** The value of a key or a header; only the environment has it. */
export function secret(env: string): string {
  const value = __ENV[env];
  if (value === undefined || value === '') throw new Error(`environment variable ${env} is not set`);
  return value;
}
