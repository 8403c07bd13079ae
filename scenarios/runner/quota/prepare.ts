/** What a user asks of a load, and the plan of the load that permissions and quotas allow. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { wayOf } from '../../../checks/wire/access.ts';
import type { LoadPlan } from '../../lib/messages.ts';
import type { Mix, ScenarioFacts } from '../../lib/scenario.ts';
import { k6Options as optionsFor } from '../k6/k6-options.ts';
import { otherLoad } from '../k6/k6-process.ts';
import type { LoadTarget } from './load-target.ts';
import { payFor } from './quota.ts';

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
  /** Seconds at the end for requests under way. */
  readonly graceSeconds?: number;
  /** How many k6 processes share the load, each an equal part. */
  readonly shards?: number;
  /** Further options for `k6 run`. */
  readonly k6Options?: readonly string[];
}

/** By default one body in this many is validated. */
const VALIDATE_EVERY = 100;
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
 * Checks permissions and pays the bill; nothing is sent. The plan leaves open what only a look at the target can tell: its
 * clock agrees, its animals are unknown.
 *
 * @throws UsageError with the bill and what would fit, if it cannot be divided over this many shards, or for an objective
 *   that cannot be read
 */
export function prepareLoad(request: LoadRequest): LoadPlan {
  const { facts, target, runId, shards: processes = 1, k6Options = [] } = request;
  const { slo = facts.thresholds, graceSeconds = GRACE_SECONDS, validateEvery = VALIDATE_EVERY } = request;
  const { address, access, keys, clockSpeed, categoryId = 1 } = target;
  const other = otherLoad(k6Options);
  if (other !== undefined)
    throw new UsageError(
      `k6's ${other} would change the load that was paid for; set it with --rate and --duration, before "--"`,
    );
  const missing = facts.needs?.filter((permission) => !target.permit.includes(permission)) ?? [];
  if (missing.length > 0)
    throw new UsageError(
      `${facts.name} needs the permission ${missing.join(', ')}: add it to "permit" in the profile`,
    );
  const rate = request.rate ?? facts.rate ?? 0;
  const simulated = (facts.targetSeconds ?? 0) / clockSpeed;
  const seconds = Math.max(request.seconds ?? facts.seconds ?? 0, simulated);
  const plan = {
    scenario: facts.name,
    target: address,
    ...{ runId, rate, seconds, slo, validateEvery },
    ...payFor({ facts, rate, seconds, clockSpeed, processes }, keys),
    ...permittedMix(request),
    tagged: process.env['K6_OUT'] !== undefined || k6Options.some((option) => /^(-o|--out)/.test(option)),
    clock: { from: 0, at: 0, speed: clockSpeed },
    way: wayOf(access),
    headers: access.headers.map(({ name, value, env }) =>
      env === undefined ? { name, value } : { name, env },
    ),
    samples: { categoryId: String(categoryId), ids: [] },
  };
  const { vus, options } = optionsFor({ ...plan, facts }, graceSeconds);
  const insecureSkipTLSVerify = access.tls.rejectUnauthorized === false;
  return { ...plan, vus, options: { ...options, insecureSkipTLSVerify } };
}
