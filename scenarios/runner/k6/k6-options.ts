import { mostRequests, peakRate, RATE_UNIT_SECONDS, type Slope, slopes } from '../../lib/load-profiles.ts';
import type { RateStream, ScenarioFacts } from '../../lib/scenario.ts';
import type { PaidStream } from '../quota/quota.ts';

/** What k6's options are made from. */
export interface OptionsRequest {
  readonly facts: ScenarioFacts;
  readonly streams: readonly PaidStream[];
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
  readonly clockSpeed: number;
  /** Seconds that a request usually takes at most: how many VUs a rate needs follows from it. */
  readonly expectedSeconds: number;
  /** Seconds that requests under way are given at the end. */
  readonly graceSeconds: number;
  /** Whether k6 writes its metrics somewhere while it runs. */
  readonly toOutputs: boolean;
  /** Virtual users of a rate, where what is expected does not decide it. */
  readonly users?: number;
}

export interface K6Options {
  readonly options: Record<string, unknown>;
  /** Virtual users in all. */
  readonly vus: number;
  /** Seconds until the load has ended, without the grace. */
  readonly loadSeconds: number;
}

const PARALLEL = 20;
const MOST_VUS = 5000;

/** In milliseconds, exact to the microsecond: at 20,000 requests/s a millisecond is twenty of them. */
const duration = (seconds: number) => `${Math.max(1, Math.round(seconds * 1e6) / 1000)}ms`;
const perUnit = (rate: number) => Math.round(rate * RATE_UNIT_SECONDS);
/** Shorter than this k6 takes no constant rate. */
const SHORTEST_CONSTANT_SECONDS = 1;

/**
 * The executor of a constant rate that makes exactly as many requests as are paid. k6 begins with one at the very start;
 * a load that lasted to the moment of the first one that is not paid might send that too.
 */
function constantRate(rate: number, seconds: number): object {
  const paid = mostRequests([{ seconds, from: rate, to: rate }]);
  // k6 reckons in whole nanoseconds, rounded down.
  const interval = Math.floor(1e9 / rate) / 1e9;
  const length = Math.min(seconds, (paid - 0.5) * interval);
  if (length >= SHORTEST_CONSTANT_SECONDS)
    return { executor: 'constant-arrival-rate', rate: perUnit(rate), duration: duration(length) };
  // This one begins with the first request an interval after the start.
  return ramp([{ seconds: (paid + 0.5) * interval, from: rate, to: rate }]);
}

function ramp(shape: readonly Slope[]): object {
  return {
    executor: 'ramping-arrival-rate',
    startRate: perUnit(shape[0]?.from ?? 0),
    stages: shape.map(({ seconds, to }) => ({ duration: duration(seconds), target: perUnit(to) })),
  };
}

/** VUs for a rate (Little's law, with half as many again for what is slower than expected). */
function vusFor(peak: number, expectedSeconds: number): number {
  return Math.min(MOST_VUS, Math.ceil(peak * expectedSeconds * 1.5) + 4);
}

function rateScenario(
  stream: RateStream,
  request: OptionsRequest,
): { vus: number; end: number; scenario: object } {
  const { share = 1, from = 0, to = 1, profile, exec } = stream;
  const seconds = (to - from) * request.seconds;
  const shape = slopes(profile, request.rate * share, seconds);
  const vus = request.users ?? vusFor(peakRate(shape), request.expectedSeconds);
  const common = {
    exec,
    startTime: duration(from * request.seconds).replace(/^1ms$/, '0s'),
    timeUnit: `${RATE_UNIT_SECONDS}s`,
    preAllocatedVUs: vus,
    maxVUs: vus,
    gracefulStop: duration(request.graceSeconds),
  };
  const [first] = shape;
  const isConstant = shape.every((slope) => slope.from === slope.to && slope.from === first?.from);
  const executor = isConstant ? constantRate(first?.from ?? 0, seconds) : ramp(shape);
  return { vus, end: to * request.seconds, scenario: { ...common, ...executor } };
}

/** Tags that k6 sets by itself. Each costs a percent of a request; without url no query makes a series of its own. */
const SYSTEM_TAGS = ['status', 'name', 'scenario', 'error_code'] as const;
/** What dashboards on k6's outputs look for besides; nothing else reads it. */
const OUTPUT_TAGS = ['method', 'expected_response'] as const;

/**
 * k6's own tags for a run.
 *
 * @param toOutputs whether k6 writes its metrics somewhere while it runs
 */
export function systemTags(toOutputs: boolean): string[] {
  return [...SYSTEM_TAGS, ...(toOutputs ? OUTPUT_TAGS : [])];
}

/** k6's options for a paid scenario. `drain` brings the VUs' last samples home; see scenarios/lib/report.ts. */
export function k6Options(request: OptionsRequest): K6Options {
  const scenarios: Record<string, object> & { drain?: object } = {};
  let vus = 0;
  let loadSeconds = 0;
  let hasRate = false;
  for (const { stream, keys } of request.streams) {
    if (stream.kind === 'rate') {
      const made = rateScenario(stream, request);
      scenarios[stream.name] = made.scenario;
      vus += made.vus;
      loadSeconds = Math.max(loadSeconds, made.end);
      hasRate = true;
      continue;
    }
    const clients = stream.count ?? keys.length;
    const start = (stream.from ?? 0) * request.seconds;
    const longest = Math.max(
      request.seconds - start,
      (request.facts.targetSeconds ?? 0) / request.clockSpeed + 1,
    );
    scenarios[stream.name] = {
      executor: 'per-vu-iterations',
      exec: stream.exec,
      vus: clients,
      iterations: 1,
      startTime: duration(start).replace(/^1ms$/, '0s'),
      maxDuration: duration(longest),
      gracefulStop: duration(request.graceSeconds),
    };
    vus += clients;
    loadSeconds = Math.max(loadSeconds, start + longest);
  }
  if (hasRate) {
    // As many as there are, at once: each VU then runs it exactly once.
    scenarios.drain = {
      executor: 'per-vu-iterations',
      exec: 'drain',
      vus,
      iterations: 1,
      startTime: duration(loadSeconds + request.graceSeconds),
      maxDuration: '10s',
      gracefulStop: '0s',
    };
  }
  return {
    vus,
    loadSeconds,
    options: {
      scenarios,
      systemTags: systemTags(request.toOutputs),
      batch: PARALLEL,
      batchPerHost: PARALLEL,
      maxRedirects: 0,
      userAgent: 'petstore-harness',
    },
  };
}
