/** What the script of each scenario sends and tells on a simulated clock, and the result that it makes. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { assertAnsweredAsStored } from '../checks/testing/answered-as-stored.ts';
import { DIRECT } from '../checks/wire/access.ts';
import { scenarioNamed } from './lib/catalogue.ts';
import { arrivalsOf } from './lib/load-profiles.ts';
import type { LoadPlan } from './lib/messages.ts';
import { MARK } from './lib/scenario.ts';
import { type LoadRequest, prepareLoad } from './runner/quota/prepare.ts';
import { conclude } from './runner/result/conclude.ts';
import { Recording } from './runner/result/recording.ts';
import { logged } from './runner/testing/made-results.ts';
import { type SimulatedTarget, simulatedWorld } from './testing/simulated-k6.ts';

const START = Date.UTC(2026, 5, 1, 12, 0, 20);

/** A load, and its target, as the name of a stored text has them. */
interface Asked extends Partial<Omit<LoadRequest, 'facts' | 'target'>>, SimulatedTarget {
  readonly scenario: string;
  readonly clockSpeed?: number;
  readonly permit?: readonly string[];
  readonly plan?: Partial<LoadPlan>;
  /** Which of the shards it is. */
  readonly shard?: number;
}

const KEYS = [
  ...(['free', 'pro'] as const).map((plan) => ({
    name: `${plan}-edge`,
    plan,
    roles: ['exhaust'],
  })),
  { name: 'free-ban', plan: 'free', roles: ['ban'] },
  ...(['pro', 'business', 'enterprise', 'enterprise'] as const).map((plan, at) => ({
    ...{ name: `${plan}-load-${at}`, plan, roles: ['load'] },
  })),
] as const;
/** The document's own may become others. */
const LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 1_000_000, perDay: 10_000_000 },
};

function planned({ scenario, clockSpeed = 1, permit, plan, ...request }: Asked): LoadPlan {
  const target = {
    ...{ address: 'http://pets.test/v1', access: DIRECT, secrets: {}, clockSpeed, categoryId: 7 },
    permit: permit ?? ['writes', 'exhaust', 'ban'],
    keys: KEYS.map((key) => ({ ...key, env: key.name.toUpperCase(), ...LIMITS[key.plan] })),
  };
  const paid = prepareLoad({
    runId: 'a1b2',
    validateEvery: 4,
    ...request,
    facts: scenarioNamed(scenario),
    target,
  });
  return { ...paid, clock: { from: START, at: START, speed: clockSpeed }, ...plan };
}

/** Of longer loads so many requests at a rate are sent, from their begin to their end. */
const MOST_ARRIVALS = 160;
/** Requests in their order, the same ones as one line; of many the first, and a digest of all. */
function told(requests: ReturnType<typeof simulatedWorld>['requests']): string[] {
  const rows: { at: number; text: string; times: number }[] = [];
  for (const { at, asked, status } of requests) {
    const [last, text] = [rows.at(-1), `${asked} → ${status}`];
    if (last?.text === text) last.times += 1;
    else rows.push({ at, text, times: 1 });
  }
  const lines = rows.map(({ at, text, times }) => `+${at / 1000} s ${text}${times > 1 ? ` ×${times}` : ''}`);
  const rest = lines.splice(16).join('\n');
  return rest === '' ? lines : [...lines, `and more, ${hash('sha256', rest).slice(0, 6)}`];
}

function simulated(asked: Asked): string {
  const [facts, plan] = [scenarioNamed(asked.scenario), planned(asked)];
  const { user, exec, machine, requests, lines, pass } = simulatedWorld(plan, START, asked);
  const { shard = 0 } = asked;
  const processes = plan.turns.length;
  exec.test.options.executionSegment = `${shard}/${processes}:${shard + 1}/${processes}`;
  const script = user(1);
  const before = script['setup']?.();
  const paid = arrivalsOf({ ...plan, facts });
  // k6 begins one more at the very end.
  const arrivals = facts.profile === undefined ? 0 : Math.min(MOST_ARRIVALS, paid + 1);
  for (let at = shard; at < arrivals; at += processes) {
    pass(Math.max(0, START + (at * plan.seconds * 1000) / Math.max(1, arrivals - 1) - machine.now));
    Object.assign(exec.scenario, { iterationInTest: at, iterationInInstance: Math.floor(at / processes) });
    script['default']?.();
  }
  script['drain']?.();
  exec.scenario.startTime = machine.now;
  for (const client of plan.clients.keys()) {
    exec.scenario.iterationInTest = client;
    const own = user(client + 2);
    own[facts.personas?.name ?? '']?.();
    own['drain']?.();
  }
  script['teardown']?.(before);
  script['handleSummary']?.({ metrics: { http_reqs: { values: { count: requests.length } } } });
  const recording = new Recording({ plan, processes, redact: (text) => text });
  const messages = lines.filter((line) => line.startsWith(MARK));
  for (const line of messages) recording.add(logged(JSON.parse(line.slice(MARK.length))));
  const { run, series, ...result } = conclude([recording.part()]);
  const isUsual = asked.deviation === undefined && asked.otherwise === undefined;
  const rows = {
    ...(isUsual
      ? { plan: { ...plan, keys: undefined, options: undefined }, options: script['options'] }
      : {}),
    run: { ...run, ...{ answers: undefined, harnessVersion: undefined, k6Version: undefined } },
    ...result,
    series: series.map(({ blocks, latency, outcomes, perSecond, ...one }) => ({
      ...one,
      blocks: blocks.length,
    })),
  };
  const short = (_name: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
  return [
    ...new Set(lines.filter((line) => !line.startsWith(MARK))),
    ...told(requests),
    `${requests.length} requests, ${messages.length} messages`,
    ...Object.entries(rows).flatMap(([name, value]) =>
      Array.isArray(value)
        ? value.map((one) => `${name}: ${JSON.stringify(one, short)}`)
        : `${name}: ${JSON.stringify(value, short)}`,
    ),
  ].join('\n');
}

t.test('what a script sends and tells is as stored', async (t) => {
  const file = join(import.meta.dirname, 'testing', 'simulated.txt');
  await assertAnsweredAsStored(t, file, (asked) => simulated(JSON.parse(asked)));
});
