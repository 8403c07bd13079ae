/** What a user asks of a load, and the load that permissions and quotas allow. */
import type { Mix, ScenarioFacts } from '../../lib/scenario.ts';
import { parseSlo, type SloClause } from '../../lib/slo.ts';
import { divideLoad, type LoadPart } from './divide.ts';
import { LoadRefused, type LoadTarget } from './load-target.ts';
import { otherLoad } from './own-load.ts';
import { planQuota, type QuotaBill, renderBill } from './quota.ts';

/** What a user asks of a load. Absent fields have the scenario's defaults. */
export interface LoadRequest {
  readonly facts: ScenarioFacts;
  readonly target: LoadTarget;
  /** Requests per second. */
  readonly rate?: number;
  readonly seconds?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  /** One body in this many is judged by the schema. */
  readonly validateEvery?: number;
  readonly lists?: 'varied' | 'plain';
  /** Length of a time block of the result. */
  readonly blockSeconds?: number;
  /** Seconds at the end for requests under way. */
  readonly graceSeconds?: number;
  /** How many k6 processes share the load. */
  readonly shards?: number;
  /** Whether the processes have equal parts of the rate, whatever their keys can pay. */
  readonly evenly?: boolean;
  /** Further options for `k6 run`. */
  readonly k6Options?: readonly string[];
}

/** A load that has been paid for. */
export interface PreparedLoad extends LoadPart {
  readonly facts: ScenarioFacts;
  readonly seconds: number;
  readonly clauses: readonly SloClause[];
  readonly mix: Mix;
  readonly bill: QuotaBill;
  /** Position of the key that pays for the look at the target before the load. */
  readonly looksFirst: number;
  /** What each k6 process sends. */
  readonly parts: readonly LoadPart[];
  readonly blockSeconds: number;
  readonly notes: readonly string[];
}

const USUAL_BLOCKS = 120;

/** The mix as far as it is permitted: without additions if animals may not be added. */
function permittedMix({ facts, target, mix }: LoadRequest): { mix: Mix; notes: string[] } {
  const asked = mix ?? facts.mix;
  if (asked.createPet === 0 || target.permit.includes('writes')) return { mix: asked, notes: [] };
  if (mix !== undefined) throw new LoadRefused('--mix has additions, which need the permission writes');
  return {
    mix: { ...asked, createPet: 0 },
    notes: ['no animals are added: the profile does not permit writes'],
  };
}

/**
 * Checks permissions and pays the bill; nothing is sent.
 *
 * @throws LoadRefused with the bill and what would fit, or if it cannot be divided over this many shards
 * @throws SloError for an objective that cannot be read
 */
export function prepareLoad(request: LoadRequest): PreparedLoad {
  const { facts, target, shards: count = 1, evenly = false } = request;
  const other = otherLoad(request.k6Options ?? []);
  if (other !== undefined) {
    throw new LoadRefused(
      `k6's ${other} would change the load that was paid for; set it with --rate and --duration, before "--"`,
    );
  }
  const missing = facts.needs?.filter((permission) => !target.permit.includes(permission)) ?? [];
  if (missing.length > 0) {
    throw new LoadRefused(
      `${facts.name} needs the permission ${missing.join(', ')}: add it to "permit" in the profile`,
    );
  }
  const { mix, notes } = permittedMix(request);
  const { clockSpeed } = target;
  const rate = request.rate ?? facts.rate ?? 0;
  const simulated = (facts.targetSeconds ?? 0) / clockSpeed;
  const seconds = Math.max(request.seconds ?? facts.seconds ?? 0, simulated);
  const demand = { facts, rate, seconds, clockSpeed };
  const quota = planQuota(demand, target.keys);
  if (quota.kind === 'refused') {
    const bill = quota.bill.keys.length === 0 ? '' : `\n${renderBill(quota.bill)}`;
    throw new LoadRefused(`${facts.name} does not fit: ${quota.reason}.\nWould fit: ${quota.fits}.${bill}`);
  }
  return {
    facts,
    rate,
    streams: quota.streams,
    seconds,
    clauses: parseSlo(request.slo ?? facts.thresholds),
    mix,
    ...divideLoad(demand, target.keys, quota, { count, evenly }),
    looksFirst: quota.looksFirst,
    blockSeconds: request.blockSeconds ?? Math.max(1, Math.ceil(seconds / USUAL_BLOCKS)),
    notes,
  };
}
