/** Plans which keys pay for a scenario's requests before k6 starts, or says what would fit. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import { isCustom } from '../../../spec/plans.ts';
import { textTable } from '../../../spec/text-table.ts';
import { arrivalsOf, peakOf, type Timing, wholeRequests } from '../../lib/load-profiles.ts';
import type { LoadPlan, PlannedKey } from '../../lib/messages.ts';
import type { Personas, ScenarioFacts } from '../../lib/scenario.ts';
import { sum } from '../../lib/statistics.ts';

/** A key that the scenario may use, with its roles. */
export interface BudgetKey extends Omit<PlannedKey, 'requests' | 'busiestMinute'> {
  readonly roles: readonly string[];
  /** What earlier runs left of the minute and of the day; absent if they spent nothing. */
  readonly minuteLeft?: number;
  readonly dayLeft?: number;
}

/** A load that its keys can pay: all keys that were given, and those that pay for clients and for requests at a rate. */
export type PaidLoad = Pick<LoadPlan, 'keys' | 'clients' | 'turns'>;

/**
 * The key that pays for the look at the target before the load. Of keys that take turns the first can pay most; of clients,
 * plans are usually given from the smallest up.
 */
export const looksFirst = ({ turns, clients }: Omit<PaidLoad, 'keys'>): number =>
  turns[0]?.[0] ?? clients.at(-1) ?? -1;

/** What a run asks for. */
export interface Demand extends Timing {
  readonly facts: ScenarioFacts;
  /** Seconds of the target's clock in one real second. */
  readonly clockSpeed: number;
  /** k6 processes that share the load, each with keys of its own. */
  readonly processes?: number;
}

/** Requests that each key keeps in reserve, for what the runner itself sends before and after, and for rounding. */
const RESERVE = 4;

type Need = Pick<PlannedKey, 'requests' | 'busiestMinute'>;

/** A key with what it is to pay so far. */
type Payer = BudgetKey & { requests: number; busiestMinute: number };

/** The keys cannot pay for a load. The message also says what would fit. */
export class Unpayable extends UsageError {
  readonly reason: string;

  constructor(what: string, reason: string, fits: string, bill?: readonly PlannedKey[]) {
    const rows = bill === undefined ? '' : `\n${renderBill(bill)}`;
    super(`${what} does not fit: ${reason}.\nWould fit: ${fits}.${rows}`);
    this.reason = reason;
  }
}

/** What the requests at a rate need, in all and in the busiest minute of the target's clock. */
function rateNeed(demand: Demand): Need {
  const requests = arrivalsOf(demand);
  const inMinute = wholeRequests((peakOf(demand) * 60) / demand.clockSpeed);
  return { requests, busiestMinute: Math.min(requests, inMinute) };
}

/** The part of the need that a key can pay, at most all of it. */
function affordable(key: BudgetKey, { requests, busiestMinute }: Need): number {
  const byMinute = ((key.minuteLeft ?? key.perMinute) - RESERVE) / busiestMinute;
  const byDay = ((key.dayLeft ?? key.perDay) - RESERVE) / requests;
  return Math.max(0, Math.min(1, byMinute, byDay));
}

/** As many of the keys as can each pay an equal part of the need, those that can pay most first; none where none can. */
function payersOf<Key extends BudgetKey>(keys: readonly Key[], need: Need, processes: number): Key[] {
  const ordered = keys.toSorted((a, b) => affordable(b, need) - affordable(a, need));
  const last = ordered.findLastIndex(
    (key, index) => (index + 1) % processes === 0 && affordable(key, need) * (index + 1) >= 1,
  );
  return ordered.slice(0, last + 1);
}

/** The most that clients at their own pace need of one key. */
function clientNeed(personas: Personas, { perMinute }: BudgetKey, { seconds, clockSpeed }: Demand): Need {
  const { from = 0, count = 1, most, mostInMinute } = personas;
  const own = seconds * (1 - from);
  const requests = Math.ceil(most(perMinute, own)) * count;
  const inMinute = mostInMinute?.(perMinute) ?? Math.ceil(most(perMinute, Math.min(own, 60 / clockSpeed)));
  return { requests, busiestMinute: Math.min(requests, inMinute * count) };
}

/** Pays for clients at their own pace, from keys with their role and plans. */
function payClients(personas: Personas, demand: Demand, keys: readonly Payer[]): number[] {
  const { role, count = 1 } = personas;
  const what = demand.facts.name;
  const fits = (key: BudgetKey) => {
    const { requests, busiestMinute } = clientNeed(personas, key, demand);
    return requests <= key.perDay - RESERVE && (role !== 'load' || busiestMinute <= key.perMinute - RESERVE);
  };
  const able = keys.filter((key) => key.roles.includes(role));
  const own =
    role === 'exhaust'
      ? able.filter(({ plan }) => !isCustom(plan))
      : [able.find(fits) ?? able.slice(0, 1)].flat();
  if (own.length === 0) {
    const onPlan = role === 'exhaust' ? ' and a plan with a number' : '';
    const remedy = `give a key the role ${role} in the profile`;
    throw new Unpayable(what, `no key has the role ${role}${onPlan}`, remedy);
  }
  for (const key of own) {
    Object.assign(key, clientNeed(personas, key, demand));
    if (fits(key)) continue;
    const reason = `${key.name} (${key.plan}) would pay up to ${grouped(key.requests)} requests of ${grouped(key.perDay)} a day`;
    throw new Unpayable(what, reason, 'use a key of a larger plan', keys);
  }
  return own.flatMap((key) => new Array<number>(count).fill(keys.indexOf(key)));
}

/** Pays for requests at a rate. Each key pays an equal part, and those of a process take turns. */
function payRates(demand: Demand, keys: readonly Payer[]): number[][] {
  const { facts, processes = 1 } = demand;
  if (facts.profile === undefined) return [[]];
  const need = rateNeed(demand);
  const able = keys.filter((key) => key.roles.includes('load') && key.requests === 0);
  if (able.length === 0)
    throw new Unpayable(facts.name, 'no key has the role load', 'give a key the role load in the profile');
  if (able.length < processes)
    throw new UsageError(
      `${processes} shards need ${processes} load keys, one each; there are ${able.length}`,
    );
  const payers = payersOf(able, need, processes);
  if (payers.length === 0) {
    for (const key of able) {
      const of = (whole: number) => Math.ceil(whole * affordable(key, need));
      Object.assign(key, { requests: of(need.requests), busiestMinute: of(need.busiestMinute) });
    }
    const { requests, busiestMinute } = need;
    const minute =
      demand.clockSpeed === 1 ? 'the busiest minute' : "the busiest minute of the target's clock";
    const reason =
      `${grouped(requests)} requests in ${grouped(Math.round(demand.seconds * 10) / 10)} s, ` +
      `${grouped(busiestMinute)} in ${minute}, are more than ` +
      `${able.length === 1 ? 'the load key has' : `the ${able.length} load keys have`}`;
    throw new Unpayable(facts.name, reason, whatFits(demand, able), keys);
  }
  // k6 gives each process the same part of the rate.
  const part = rateNeed({ ...demand, rate: demand.rate / processes });
  const own = payers.length / processes;
  for (const [place, key] of payers.entries()) {
    const turn = Math.floor(place / processes);
    key.requests = Math.max(0, Math.ceil((part.requests - turn) / own));
    key.busiestMinute = Math.min(key.requests, Math.ceil(part.busiestMinute / own));
  }
  return Array.from({ length: processes }, (_, process) =>
    payers.filter((__, place) => place % processes === process).map((key) => keys.indexOf(key)),
  );
}

/**
 * Plans who pays for a scenario. A key exceeds its plan only where a scenario measures just that.
 *
 * @throws UsageError with the bill and what would fit
 */
export function payFor(demand: Demand, keys: readonly BudgetKey[]): PaidLoad {
  const { facts, processes = 1 } = demand;
  if (processes > 1 && facts.personas !== undefined)
    throw new UsageError(`${facts.name} is about single clients; only rate-based loads can be divided`);
  const payers = keys.map((key): Payer => ({ ...key, requests: 0, busiestMinute: 0 }));
  const clients = facts.personas === undefined ? [] : payClients(facts.personas, demand, payers);
  const turns = payRates(demand, payers);
  const bill = payers.map(({ roles: _, minuteLeft: __, dayLeft: ___, ...row }) => row);
  const first = bill[looksFirst({ turns, clients })];
  if (first !== undefined) {
    first.requests += 1;
    first.busiestMinute += 1;
  }
  return { keys: bill, clients, turns };
}

/** The rate and the time that the keys could pay, found by halving. */
function whatFits(demand: Demand, keys: readonly BudgetKey[]): string {
  const largest = (of: 'rate' | 'seconds') => {
    let [fits, not] = [0, demand[of]];
    for (let step = 0; step < 30; step += 1) {
      const middle = (fits + not) / 2;
      if (payersOf(keys, rateNeed({ ...demand, [of]: middle }), demand.processes ?? 1).length > 0)
        fits = middle;
      else not = middle;
    }
    return fits;
  };
  const [rate, seconds] = [Math.floor(largest('rate') * 100) / 100, Math.floor(largest('seconds'))];
  const offers = [
    ...(rate > 0 ? [`--rate ${rate} for the same time`] : []),
    ...(seconds > 0 ? [`--duration ${seconds}s at the same rate`] : []),
    'more keys with the role load',
  ];
  return offers.join('; or ');
}

/** The requests of a bill. */
export const totalOf = (bill: readonly PlannedKey[]): number => sum(bill.map(({ requests }) => requests));

const grouped = (number: number) => number.toLocaleString('en');

/** The bill for a person, one line a key, and the most that all of them pay together. */
export function renderBill(bill: readonly PlannedKey[], total = totalOf(bill)): string {
  const paying = bill.filter(({ requests }) => requests > 0);
  const rows = paying.map(({ name, plan, requests, busiestMinute, perMinute, perDay }) => [
    name,
    plan,
    `${grouped(requests)} of ${grouped(perDay)} a day`,
    `${grouped(busiestMinute)} of ${grouped(perMinute)} a minute${busiestMinute > perMinute ? ', over it on purpose' : ''}`,
  ]);
  return [...textTable(rows, { indent: '  ' }), `  at most ${grouped(total)} requests`].join('\n');
}
