/** Plans which keys pay for a scenario's requests before k6 starts, or says what would fit. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import type { KeyBill, PlannedKey } from '../../lib/load-plan.ts';
import { arrivedBy, mostRequests, slopes, wholeRequests } from '../../lib/load-profiles.ts';
import { type ClientStream, mostOf, type RateStream, type ScenarioFacts } from '../../lib/scenario.ts';

/** A key that the scenario may use, with its roles. */
export interface BudgetKey extends PlannedKey {
  readonly roles: readonly string[];
  /** What earlier runs left of the minute and of the day; absent if they spent nothing. */
  readonly minuteLeft?: number;
  readonly dayLeft?: number;
}

/** A load that its keys can pay. */
export interface PaidLoad {
  readonly bill: readonly KeyBill[];
  /** Positions of the keys that pay for the clients of a stream, by its name: one for each client. */
  readonly clients: ReadonlyMap<string, readonly number[]>;
  /** For each process: the positions of keys, of which the n-th pays for its n-th request at a rate. */
  readonly turns: readonly (readonly number[])[];
  /** Position of the key that pays for the look at the target before the load. */
  readonly looksFirst: number;
}

/** What a run asks for. */
export interface Demand {
  readonly facts: ScenarioFacts;
  /** Requests per second. */
  readonly rate: number;
  /** Real seconds of the rate streams. */
  readonly seconds: number;
  /** Seconds of the target's clock in one real second. */
  readonly clockSpeed: number;
  /** k6 processes that share the load, each with keys of its own. */
  readonly processes?: number;
}

/** Requests that each key keeps in reserve, for what the runner itself sends before and after, and for rounding. */
const RESERVE = 4;
const PLACES = 2000;
const SCHEDULE_LENGTH = 1000;

type Need = Pick<KeyBill, 'requests' | 'busiestMinute'>;

type Payments = Map<BudgetKey, Need>;

/** The keys cannot pay for a load. The message says why; `fits` says what they could pay. */
export class Unpayable extends UsageError {
  readonly reason: string;
  readonly fits: string;

  constructor(what: string, reason: string, fits: string, bill: readonly KeyBill[] = []) {
    super(
      `${what} does not fit: ${reason}.\nWould fit: ${fits}.${bill.length === 0 ? '' : `\n${renderBill(bill)}`}`,
    );
    this.reason = reason;
    this.fits = fits;
  }
}

function rowsOf(paid: Payments): KeyBill[] {
  return [...paid].map(([{ name: key, plan, perMinute, perDay }, need]) => ({
    ...{ key, plan, perMinute, perDay },
    ...need,
  }));
}

const isRate = (stream: RateStream | ClientStream): stream is RateStream => stream.kind === 'rate';

const slopesOf = ({ profile, from = 0, to = 1 }: RateStream, { rate, seconds }: Demand) =>
  slopes(profile, rate, (to - from) * seconds);

/** What all rate streams together need, in all and in the busiest minute of the target's clock. */
function rateNeed(demand: Demand): Need {
  const { facts, seconds, clockSpeed } = demand;
  const parts = facts.streams
    .filter(isRate)
    .map((stream) => ({ start: (stream.from ?? 0) * seconds, profile: slopesOf(stream, demand) }));
  const arrived = (time: number) =>
    parts.reduce((sum, { start, profile }) => sum + arrivedBy(profile, time - start), 0);
  const minute = 60 / clockSpeed;
  let busiestMinute = 0;
  for (let place = 0; place <= PLACES; place += 1) {
    const start = (Math.max(0, seconds - minute) * place) / PLACES;
    busiestMinute = Math.max(busiestMinute, arrived(start + minute) - arrived(start));
  }
  const requests = parts.reduce((sum, { profile }) => sum + mostRequests(profile), 0);
  return { requests, busiestMinute: Math.min(requests, wholeRequests(busiestMinute)) };
}

/** The part of the need that a key can pay, at most all of it. */
function affordable(key: BudgetKey, need: Need): number {
  if (need.requests === 0) return 1;
  const byMinute = ((key.minuteLeft ?? key.perMinute) - RESERVE) / need.busiestMinute;
  const byDay = ((key.dayLeft ?? key.perDay) - RESERVE) / need.requests;
  return Math.max(0, Math.min(1, byMinute, byDay));
}

/** The part of the need that keys can pay together; from 1 on that is all of it. */
const affordableBy = (keys: readonly BudgetKey[], need: Need) =>
  keys.reduce((sum, key) => sum + affordable(key, need), 0);

/** Whose turn it is. The turns of one key lie as far apart as possible, and in number they match its share. */
export function interleave(shares: readonly number[], length: number): number[] {
  const owed = shares.map(() => 0);
  return Array.from({ length }, () => {
    shares.forEach((share, index) => {
      owed[index] = (owed[index] ?? 0) + share;
    });
    const next = owed.indexOf(Math.max(...owed));
    owed[next] = (owed[next] ?? 0) - 1;
    return next;
  });
}

/** What a key pays when the requests of streams take turns on several keys. */
function turnsNeed(
  schedule: readonly number[],
  key: number,
  ofStreams: readonly number[],
  busiestMinute: number,
): Need {
  const before = [0];
  for (const payer of schedule) before.push((before.at(-1) ?? 0) + (payer === key ? 1 : 0));
  const inAll = before.at(-1) ?? 0;
  /** How many of the first turns are the key's. The schedule repeats. */
  const upTo = (turns: number) =>
    Math.floor(turns / schedule.length) * inAll + (before[turns % schedule.length] ?? 0);
  const requests = ofStreams.reduce((sum, turns) => sum + upTo(turns), 0);
  const most = Math.max(...schedule.map((_, from) => upTo(from + busiestMinute) - upTo(from)));
  // When one stream follows another, the schedule starts again.
  const inMinute = most + 2 * (ofStreams.length - 1);
  return { requests, busiestMinute: Math.min(requests, busiestMinute, inMinute) };
}

/** The most that the clients of a stream need of one key. */
function clientNeed(
  { cost, from = 0, count = 1 }: ClientStream,
  { perMinute }: BudgetKey,
  { seconds, clockSpeed }: Demand,
): Need {
  const own = seconds * (1 - from);
  const requests = mostOf(cost, perMinute, own) * count;
  const inMinute = mostOf({ ...cost, ...cost.busiest }, perMinute, Math.min(own, 60 / clockSpeed)) * count;
  return { requests, busiestMinute: Math.min(requests, inMinute) };
}

/** Pays for the clients of a stream that go at their own pace, from keys with its role and plans. */
function payClients(
  stream: ClientStream,
  demand: Demand,
  keys: readonly BudgetKey[],
  paid: Payments,
): readonly number[] {
  const { role, plans, count, overLimit } = stream;
  const what = demand.facts.name;
  const fits = (key: BudgetKey) => {
    const { requests, busiestMinute } = clientNeed(stream, key, demand);
    return (
      requests <= key.perDay - RESERVE && (overLimit === true || busiestMinute <= key.perMinute - RESERVE)
    );
  };
  const fitting = keys.filter((key) => key.roles.includes(role) && (plans?.includes(key.plan) ?? true));
  // If clients share a key, it must be able to pay for all of them.
  const shared = fitting.find(fits) ?? fitting[0];
  const own = count === undefined || shared === undefined ? fitting : [shared];
  if (own.length === 0) {
    const onPlans = plans === undefined ? '' : ` on plan ${plans.join(', ')}`;
    throw new Unpayable(
      what,
      `no key has the role ${role}${onPlans}`,
      `give a key the role ${role} in the profile`,
    );
  }
  for (const key of own) {
    const need = clientNeed(stream, key, demand);
    paid.set(key, need);
    if (fits(key)) continue;
    const reason = `${key.name} (${key.plan}) would pay up to ${grouped(need.requests)} requests of ${grouped(key.perDay)} a day`;
    throw new Unpayable(what, reason, 'use a key of a larger plan', rowsOf(paid));
  }
  return own.flatMap((key) => new Array<number>(count ?? 1).fill(keys.indexOf(key)));
}

/** Deals keys out so that each goes to the process that can pay least, the one that can pay most first. */
function dealt(keys: readonly BudgetKey[], need: Need, processes: number): BudgetKey[][] {
  const hands = Array.from({ length: processes }, (): BudgetKey[] => []);
  for (const key of keys.toSorted((a, b) => affordable(b, need) - affordable(a, need)))
    hands.reduce((a, b) => (affordableBy(b, need) < affordableBy(a, need) ? b : a)).push(key);
  return hands;
}

/** Pays for all rates together. The keys of a process take turns, each as often as it can pay. */
function payRates(demand: Demand, keys: readonly BudgetKey[], paid: Payments): number[][] {
  const { facts, processes = 1 } = demand;
  const streams = facts.streams.filter(isRate);
  if (streams.length === 0) return [];
  const need = rateNeed(demand);
  const payers = keys.filter((key) => key.roles.includes('load') && !paid.has(key));
  if (payers.length === 0)
    throw new Unpayable(facts.name, 'no key has the role load', 'give a key the role load in the profile');
  if (affordableBy(payers, need) < 1) {
    for (const key of payers) {
      const part = affordable(key, need);
      paid.set(key, {
        requests: Math.ceil(need.requests * part),
        busiestMinute: Math.ceil(need.busiestMinute * part),
      });
    }
    throw new Unpayable(
      facts.name,
      shortfall(need, demand, payers.length),
      whatFits(demand, payers, need),
      rowsOf(paid),
    );
  }
  if (payers.length < processes)
    throw new UsageError(
      `${processes} shards need ${processes} load keys, one each; there are ${payers.length}`,
    );
  // k6 gives each process the same part of the rate.
  const part = { ...demand, rate: demand.rate / processes };
  const partNeed = rateNeed(part);
  return dealt(payers, partNeed, processes).map((own) => {
    const all = affordableBy(own, partNeed);
    if (all < 1)
      throw new UsageError(
        `${facts.name} cannot be divided over ${processes} shards: ${own.map(({ name }) => name).join(', ')} ` +
          'cannot pay an even part; a lower rate or fewer shards may do',
      );
    const shares = own.map((key) => affordable(key, partNeed) / all);
    const turns = interleave(shares, own.length === 1 ? 1 : SCHEDULE_LENGTH);
    const requests = streams.map((stream) => mostRequests(slopesOf(stream, part)));
    for (const [place, key] of own.entries())
      paid.set(key, turnsNeed(turns, place, requests, partNeed.busiestMinute));
    return turns.flatMap((place) => own[place] ?? []).map((key) => keys.indexOf(key));
  });
}

/**
 * Plans who pays for a scenario. A key exceeds its plan only in a stream that measures just that.
 *
 * @throws UsageError with the bill and what would fit
 */
export function payFor(demand: Demand, keys: readonly BudgetKey[]): PaidLoad {
  const { facts, rate, seconds, processes = 1 } = demand;
  if (![rate, seconds].every((value) => value >= 0 && Number.isFinite(value)))
    throw new UsageError('rate and duration must be finite: give --rate and --duration');
  const ofClients = facts.streams.filter((stream) => stream.kind === 'clients');
  if (processes > 1 && ofClients.length > 0)
    throw new UsageError(`${facts.name} is about single clients; only rate-based loads can be divided`);
  const paid: Payments = new Map();
  const clients = new Map(ofClients.map((stream) => [stream.name, payClients(stream, demand, keys, paid)]));
  const turns = payRates(demand, keys, paid);
  // Of keys that take turns the first has the largest share; of clients, plans are usually given from the smallest up.
  const looksFirst = turns[0]?.[0] ?? [...clients.values()].flat().at(-1) ?? -1;
  const first = keys[looksFirst];
  if (first !== undefined) {
    const { requests, busiestMinute } = paid.get(first) ?? { requests: 0, busiestMinute: 0 };
    paid.set(first, { requests: requests + 1, busiestMinute: busiestMinute + 1 });
  }
  return { bill: rowsOf(paid), clients, turns, looksFirst };
}

function shortfall(need: Need, { seconds, clockSpeed }: Demand, keyCount: number): string {
  const minute = clockSpeed === 1 ? 'the busiest minute' : `the busiest minute of the target's clock`;
  return (
    `${grouped(need.requests)} requests in ${grouped(Math.round(seconds * 10) / 10)} s, ${grouped(need.busiestMinute)} in ${minute}, are more than ` +
    `${keyCount === 1 ? 'the load key has' : `the ${keyCount} load keys have`}`
  );
}

function whatFits(demand: Demand, payers: readonly BudgetKey[], need: Need): string {
  const largest = (of: 'rate' | 'seconds') => {
    let [fits, not] = [0, demand[of]];
    for (let step = 0; step < 30; step += 1) {
      const middle = (fits + not) / 2;
      if (affordableBy(payers, rateNeed({ ...demand, [of]: middle })) >= 1) fits = middle;
      else not = middle;
    }
    return fits;
  };
  const rate = Math.floor(largest('rate') * 100) / 100;
  const seconds = Math.floor(largest('seconds'));
  const offers = [
    ...(rate > 0 ? [`--rate ${rate} for the same time`] : []),
    ...(seconds > 0 ? [`--duration ${seconds}s at the same rate`] : []),
  ];
  return offers.length === 0
    ? `no run of ${grouped(need.requests)} requests; add keys with the role load`
    : `${offers.join(', or ')}; or more keys with the role load`;
}

/** The requests of a bill. */
export const totalOf = (bill: readonly KeyBill[]): number =>
  bill.reduce((sum, { requests }) => sum + requests, 0);

const grouped = (number: number) => number.toLocaleString('en');

/** The bill for a person, one line a key, and the most that all of them pay together. */
export function renderBill(bill: readonly KeyBill[], total = totalOf(bill)): string {
  const width = Math.max(...bill.map(({ key }) => key.length));
  const digits = grouped(total).length;
  const rows = bill.map(
    ({ key, plan, requests, busiestMinute, perMinute, perDay }) =>
      `  ${key.padEnd(width)} ${plan.padEnd(10)} ${grouped(requests).padStart(digits)} of ${grouped(perDay)} a day, ` +
      `${grouped(busiestMinute)} of ${grouped(perMinute)} a minute${busiestMinute > perMinute ? ', over it on purpose' : ''}`,
  );
  return [...rows, `  ${'at most'.padEnd(width + 11)} ${grouped(total)} requests`].join('\n');
}
