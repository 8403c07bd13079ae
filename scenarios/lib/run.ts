/**
 * This run, as the script knows it: the plan that the runner wrote beside it, and samples and events on their way to the
 * runner. Each VU keeps its samples and writes them to k6's log twice a second; `drain`, which every VU runs once after the
 * load, writes what is left.
 */
import { scenarioNamed } from './catalogue.ts';
import type { LoadPlan, Message } from './messages.ts';
import { MARK, type ScenarioFacts } from './scenario.ts';

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

const WRITE_EVERY_MS = 500;
const VIOLATIONS_PER_VU = 3;

/** What is not yet written; starts are counted from `since`, which is 0 where there are none. */
let series: Record<string, number[]> = {};
let since = 0;
let lags: number[] = [];
let added: string[] = [];
let written = 0;
/** What is under way: nothing where the time is 0. */
let openSeries = '';
let openAt = 0;
const violations = new Map<string, number>();

/** Notes that a request is under way, so that one cut off at the end of the run is not forgotten. */
export function begin(series: string, at: number): void {
  openSeries = series;
  openAt = at;
}

/**
 * Adds a sample.
 *
 * @param name position of the key, operation, status and outcome
 */
export function end(name: string, at: number, milliseconds: number): void {
  if (since === 0) since = at;
  // Rounds like Math.round, at a quarter of its cost.
  const microseconds = (milliseconds * 1000 + 0.5) | 0;
  const own = series[name];
  if (own === undefined) series[name] = [at - since, microseconds];
  else own.push(at - since, microseconds);
  // Not before it is added: k6 may cut a VU off in between, as its requests end.
  openAt = 0;
  if (at - written >= WRITE_EVERY_MS) write(at);
}

function write(now: number): void {
  written = now;
  if (since === 0 && added.length === 0) return;
  const samples = { series, since, lags, added };
  // Before it is written: k6 may cut a VU off while it writes, and drain would write it again.
  [series, since, lags, added] = [{}, 0, [], []];
  tell({ samples });
}

/** Writes what is left. */
export function drain(): void {
  const now = Date.now();
  if (openAt > 0) end(`${openSeries} 0 unfinished`, openAt, now - openAt);
  write(now);
}

/** Notes how late an iteration began, in milliseconds. */
export function noteLag(milliseconds: number): void {
  lags.push(Math.round(milliseconds));
}

/** Notes the id of an animal that was added. */
export function noteAdded(id: string): void {
  added.push(id);
}

/** Writes a message. */
export function tell(message: Message): void {
  console.log(MARK + JSON.stringify(message));
}

let protocol = '';

/** Writes the version of HTTP that was spoken, where it is another than before. */
export function tellProtocol(name: string): void {
  if (name === protocol) return;
  protocol = name;
  tell({ protocol: name });
}

/** Writes a violation; of each requirement a VU writes the first few. */
export function tellViolation(violation: NonNullable<Message['violation']>): void {
  const seen = violations.get(violation.requirement) ?? 0;
  violations.set(violation.requirement, seen + 1);
  if (seen < VIOLATIONS_PER_VU) tell({ violation });
}
