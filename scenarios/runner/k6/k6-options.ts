/** k6's options, made from a scenario's facts. */
import { peakRate, RATE_UNIT_SECONDS, type Slope } from '../../lib/load-profiles.ts';
import { ARRIVALS, type Personas, slopesOf } from '../../lib/scenario.ts';
import type { SloClause } from '../../lib/slo.ts';
import type { Demand, PaidLoad } from '../quota/quota.ts';

/** A load as k6 is to make it. */
interface Load extends Required<Demand>, Pick<PaidLoad, 'clients'> {
  readonly clauses: readonly SloClause[];
  /** Seconds at the end for requests under way. */
  readonly graceSeconds: number;
  /** Whether k6's metrics go to an output that somebody looks at. */
  readonly tagged: boolean;
}

const PARALLEL = 20;
const MOST_VUS = 5000;
const USUAL_BOUND_MS = 500;

/** In milliseconds, exact to the microsecond: at 20,000 requests/s twenty requests begin within a millisecond. */
const duration = (seconds: number) => `${Math.max(1, Math.round(seconds * 1e6) / 1000)}ms`;
const perUnit = (rate: number) => Math.round(rate * RATE_UNIT_SECONDS);

/** k6 refuses a constant rate that is shorter. The script (script.ts) sends no more than is paid. */
const SHORTEST_CONSTANT_SECONDS = 1;

const constantRate = ({ seconds, from }: Slope): object => ({
  executor: 'constant-arrival-rate',
  rate: perUnit(from),
  duration: duration(Math.max(SHORTEST_CONSTANT_SECONDS, seconds)),
});

const ramp = (shape: readonly Slope[]): object => ({
  executor: 'ramping-arrival-rate',
  startRate: perUnit(shape[0]?.from ?? 0),
  stages: shape.map(({ seconds, to }) => ({ duration: duration(seconds), target: perUnit(to) })),
});

/** A scenario of k6: its users, the seconds until it has ended without the grace, and what k6 is told. */
interface MadeScenario {
  readonly name: string;
  readonly vus: number;
  readonly end: number;
  readonly told: object;
}

/** Requests that arrive at a rate. */
function arrivals(load: Load): MadeScenario[] {
  const shape = slopesOf(load);
  const [first] = shape;
  if (first === undefined) return [];
  const { bound = USUAL_BOUND_MS } = load.clauses.find(({ metric }) => metric === 'latency') ?? {};
  // Little's law, and half as many again for answers slower than the objective allows; the same for each process.
  const enough = Math.min(MOST_VUS, Math.ceil(((peakRate(shape) * bound) / 1000) * 1.5) + 4);
  const vus = Math.ceil(enough / load.processes) * load.processes;
  const told = {
    exec: 'default',
    timeUnit: `${RATE_UNIT_SECONDS}s`,
    preAllocatedVUs: vus,
    maxVUs: vus,
    ...(load.facts.profile === 'constant' ? constantRate(first) : ramp(shape)),
  };
  return [{ name: ARRIVALS, vus, end: Math.max(SHORTEST_CONSTANT_SECONDS, load.seconds), told }];
}

function ownPace({ name, from = 0 }: Personas, load: Load): MadeScenario {
  const { facts, seconds, clients, clockSpeed } = load;
  const vus = clients.length;
  const longest = Math.max(seconds * (1 - from), (facts.targetSeconds ?? 0) / clockSpeed + 1);
  const executor = { executor: 'per-vu-iterations', iterations: 1, maxDuration: duration(longest) };
  const startTime = from === 0 ? '0s' : duration(from * seconds);
  return { name, vus, end: from * seconds + longest, told: { exec: name, vus, startTime, ...executor } };
}

/** What dashboards on k6's outputs look for. Without `url` no query becomes a series of its own. */
const OUTPUT_TAGS = ['status', 'name', 'scenario', 'error_code', 'method', 'expected_response'];

/** The options, and how many virtual users they need. `drain` brings the VUs' last samples home. */
export function k6Options(load: Load): { options: Record<string, unknown>; vus: number } {
  const { facts, graceSeconds, tagged } = load;
  const rates = arrivals(load);
  const made = [...rates, ...(facts.personas === undefined ? [] : [ownPace(facts.personas, load)])];
  const gracefulStop = duration(graceSeconds);
  const scenarios = made.map(({ name, told }) => [name, { ...told, gracefulStop }]);
  const vus = made.reduce((sum, each) => sum + each.vus, 0);
  // All VUs at the same time, so that each of them runs it exactly once.
  const drain = {
    executor: 'per-vu-iterations',
    exec: 'drain',
    vus,
    iterations: 1,
    startTime: duration(Math.max(0, ...made.map(({ end }) => end)) + graceSeconds),
    maxDuration: '10s',
    gracefulStop: '0s',
  };
  return {
    vus,
    options: {
      scenarios: {
        ...Object.fromEntries(scenarios),
        ...(rates.length > 0 ? { drain } : {}),
      },
      // Each tag costs a percent of a request; without an output nothing would show it.
      systemTags: tagged ? OUTPUT_TAGS : [],
      batch: PARALLEL,
      batchPerHost: PARALLEL,
      maxRedirects: 0,
      discardResponseBodies: true,
      userAgent: 'petstore-harness',
    },
  };
}
