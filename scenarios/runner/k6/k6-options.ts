/** k6's options, made from a scenario's facts. */
import { peakOf, RATE_UNIT_SECONDS, slopesOf } from '../../lib/load-profiles.ts';
import type { LoadPlan } from '../../lib/messages.ts';
import { ARRIVALS, type ScenarioFacts } from '../../lib/scenario.ts';
import { latencyBounds, parseSlo } from '../../lib/slo.ts';

/** A load as k6 is to make it. */
type Load = Omit<LoadPlan, 'options' | 'vus'> & { readonly facts: ScenarioFacts };

const PARALLEL = 20;
const MOST_VUS = 5000;
const USUAL_BOUND_MS = 500;

/** In milliseconds, exact to the microsecond: at 20,000 requests/s twenty requests begin within a millisecond. */
const duration = (seconds: number) => `${Math.max(1, Math.round(seconds * 1e6) / 1000)}ms`;
const perUnit = (rate: number) => Math.round(rate * RATE_UNIT_SECONDS);

/** What dashboards on k6's outputs look for. Without `url` no query becomes a series of its own. */
const OUTPUT_TAGS = ['status', 'name', 'scenario', 'error_code', 'method', 'expected_response'];

/**
 * The options, and how many virtual users they need. `drain` brings the VUs' last samples home.
 *
 * @param graceSeconds at the end, for requests under way
 */
export function k6Options(load: Load, graceSeconds: number): Pick<LoadPlan, 'options' | 'vus'> {
  const { facts, seconds, clients, tagged } = load;
  const { profile, personas, targetSeconds = 0 } = facts;
  const processes = load.turns.length;
  const [shape, peak] = [slopesOf(load), peakOf(load)];
  const [bound = USUAL_BOUND_MS] = latencyBounds(parseSlo(load.slo));
  // Little's law, and half as many again for answers slower than the objective allows; the same for each process.
  const enough = Math.min(MOST_VUS, Math.ceil(((peak * bound) / 1000) * 1.5) + 4);
  const arriving = Math.ceil(enough / processes) * processes;
  const vus = (profile === undefined ? 0 : arriving) + clients.length;
  const from = (personas?.from ?? 0) * seconds;
  const longest = Math.max(seconds - from, targetSeconds / load.clock.speed + 1);
  const gracefulStop = duration(graceSeconds);
  const once = { executor: 'per-vu-iterations', iterations: 1 };
  const arrivals = {
    ...{ exec: 'default', timeUnit: `${RATE_UNIT_SECONDS}s`, preAllocatedVUs: arriving, maxVUs: arriving },
    gracefulStop,
  };
  // k6 refuses a constant rate that is shorter than a second. The script (script.ts) sends no more than is paid.
  const constant = {
    ...{ ...arrivals, executor: 'constant-arrival-rate' },
    ...{ rate: perUnit(peak), duration: duration(Math.max(1, seconds)) },
  };
  const ramping = {
    ...{ ...arrivals, executor: 'ramping-arrival-rate', startRate: perUnit(shape[0]?.from ?? 0) },
    stages: shape.map((slope) => ({ duration: duration(slope.seconds), target: perUnit(slope.to) })),
  };
  const ownPace = {
    ...{ ...once, exec: personas?.name, vus: clients.length, gracefulStop },
    startTime: duration(from),
    maxDuration: duration(longest),
  };
  // All VUs at the same time, so that each of them runs it exactly once.
  const startTime = duration(from + longest + graceSeconds);
  const drain = { ...once, exec: 'drain', vus, startTime, maxDuration: '10s', gracefulStop: '0s' };
  return {
    vus,
    options: {
      scenarios: {
        ...(profile !== undefined && { [ARRIVALS]: profile === 'constant' ? constant : ramping }),
        ...(personas !== undefined && { [personas.name]: ownPace }),
        drain,
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
