/** What a user asks of a load, and the plan of the load that permissions and quotas allow. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { wayOf } from '../../../checks/wire/access.ts';
import type { LoadPlan } from '../../lib/load-plan.ts';
import { mostRequests, peakRate, slopes } from '../../lib/load-profiles.ts';
import type { Mix, ScenarioFacts } from '../../lib/scenario.ts';
import { parseSlo, type SloClause } from '../../lib/slo.ts';
import { k6Options } from '../k6/k6-options.ts';
import { otherLoad } from '../k6/k6-process.ts';
import type { LoadTarget } from './load-target.ts';
import { type BudgetKey, payFor } from './quota.ts';

/** What a user asks of a load. Absent fields have the scenario's defaults. */
export interface LoadRequest {
  readonly facts: ScenarioFacts;
  readonly target: LoadTarget;
  readonly runId: string;
  /** Requests per second. */
  readonly rate?: number;
  readonly seconds?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  /** One body in this many is judged by the schema. */
  readonly validateEvery?: number;
  readonly lists?: 'varied' | 'plain';
  /** Seconds at the end for requests under way. */
  readonly graceSeconds?: number;
  /** How many k6 processes share the load, each an equal part. */
  readonly shards?: number;
  /** Whether k6's metrics go to an output that somebody looks at. */
  readonly tagged?: boolean;
  /** Further options for `k6 run`. */
  readonly k6Options?: readonly string[];
}

/** A load that has been paid for. */
export interface PreparedLoad {
  readonly facts: ScenarioFacts;
  readonly clauses: readonly SloClause[];
  /** The key that pays for the look at the target before the load. */
  readonly looks: BudgetKey | undefined;
  /** The plan, with what only a look at the target can tell left open: its clock agrees, its animals are unknown. */
  readonly plan: LoadPlan;
}

/** By default one body in this many is validated. */
const VALIDATE_EVERY = 100;
const USUAL_BLOCKS = 120;
const GRACE_SECONDS = 2;

/** The mix as far as it is permitted: without additions if animals may not be added. */
function permittedMix({ facts, target, mix }: LoadRequest): { mix: Mix; notes: string[] } {
  const asked = mix ?? facts.mix;
  if (asked.createPet === 0 || target.permit.includes('writes')) return { mix: asked, notes: [] };
  if (mix !== undefined) throw new UsageError('--mix has additions, which need the permission writes');
  return {
    mix: { ...asked, createPet: 0 },
    notes: ['no animals are added: the profile does not permit writes'],
  };
}

/**
 * Checks permissions and pays the bill; nothing is sent.
 *
 * @throws UsageError with the bill and what would fit, or if it cannot be divided over this many shards
 * @throws SloError for an objective that cannot be read
 */
export function prepareLoad(request: LoadRequest): PreparedLoad {
  const { facts, target, shards: processes = 1, tagged = false } = request;
  const { address, access, keys, clockSpeed, categoryId = 1 } = target;
  const other = otherLoad(request.k6Options ?? []);
  if (other !== undefined)
    throw new UsageError(
      `k6's ${other} would change the load that was paid for; set it with --rate and --duration, before "--"`,
    );
  const missing = facts.needs?.filter((permission) => !target.permit.includes(permission)) ?? [];
  if (missing.length > 0)
    throw new UsageError(
      `${facts.name} needs the permission ${missing.join(', ')}: add it to "permit" in the profile`,
    );
  const { mix, notes } = permittedMix(request);
  const rate = request.rate ?? facts.rate ?? 0;
  const simulated = (facts.targetSeconds ?? 0) / clockSpeed;
  const seconds = Math.max(request.seconds ?? facts.seconds ?? 0, simulated);
  const slo = request.slo ?? facts.thresholds;
  const clauses = parseSlo(slo);
  const demand = { facts, rate, seconds, clockSpeed, processes };
  const { bill, clients, turns, looksFirst } = payFor(demand, keys);
  const graceSeconds = request.graceSeconds ?? GRACE_SECONDS;
  const { options, vus } = k6Options({ ...demand, clauses, clients, graceSeconds, tagged });
  const rates = facts.streams.flatMap((stream) =>
    stream.kind === 'rate' ? [peakRate(slopes(stream.profile, rate, 1))] : [],
  );
  return {
    facts,
    clauses,
    looks: keys[looksFirst],
    plan: {
      scenario: facts.name,
      runId: request.runId,
      target: address,
      keys: keys.map(({ name, plan, env, perMinute, perDay }) => ({ name, plan, env, perMinute, perDay })),
      streams: facts.streams.map((stream) => {
        const { name } = stream;
        if (stream.kind === 'clients') {
          const { cost, overLimit = false, counted = false } = stream;
          return { name, expects429: overLimit, clients: [...(clients.get(name) ?? [])], cost, counted };
        }
        if (stream.profile !== 'constant') return { name, expects429: false };
        const own = ((stream.to ?? 1) - (stream.from ?? 0)) * seconds;
        return {
          name,
          expects429: false,
          constant: { rate, requests: mostRequests(slopes('constant', rate, own)) },
        };
      }),
      turns: turns.length === 0 ? [[]] : turns.map((own) => [...own]),
      mix,
      slo,
      validateEvery: request.validateEvery ?? VALIDATE_EVERY,
      clock: { from: 0, at: 0, speed: clockSpeed },
      seconds,
      blockSeconds: facts.blockSeconds ?? Math.max(1, Math.ceil(seconds / USUAL_BLOCKS)),
      lists: request.lists ?? 'varied',
      tagged,
      bill: [...bill],
      vus,
      peakRate: Math.max(0, ...rates),
      notes,
      way: wayOf(access),
      headers: access.headers.map(({ name, value, env }) =>
        env === undefined ? { name, value } : { name, env },
      ),
      samples: { categoryId: String(categoryId), ids: [] },
      options: { ...options, insecureSkipTLSVerify: access.tls.rejectUnauthorized === false },
    },
  };
}
