/** Plans which keys pay for a scenario's requests before k6 starts, or says what would fit. */
import { UsageError } from '../../../checks/profile/usage-error.ts';
import type { KeyBill, PlannedKey } from '../../lib/load-plan.ts';
import { arrivedBy, wholeRequests } from '../../lib/load-profiles.ts';
import { arrivalsOf, type ClientStream, rateStreams, slopesOf, type Timing } from '../../lib/scenario.ts';
import { sum } from '../../lib/statistics.ts';

/** A key that the scenario may use, with its roles. */
export interface BudgetKey extends PlannedKey {
  readonly roles: readonly string[];
  /** What earlier runs left of the minute and of the day; absent if they spent nothing. */
  readonly minuteLeft?: number;
  readonly dayLeft?: number;
}

/** A load that its keys can pay. Keys are named by their positions. */
export interface PaidLoad {
  readonly bill: readonly KeyBill[];
  /** The keys that pay for the clients of each stream, one for each client. */
  readonly clients: readonly (readonly number[])[];
  /** For each process: of its requests at a rate, the n-th is paid by the n-th of these. */
  readonly turns: readonly (readonly number[])[];
  /** The key that pays for the look at the target before the load. */
  readonly looksFirst: number;
}

/** What a run asks for. */
export interface Demand extends Timing {
  /** Seconds of the target's clock in one real second. */
  readonly clockSpeed: number;
  /** k6 processes that share the load, each with keys of its own. */
  readonly processes?: number;
}

/** Requests that each key keeps in reserve, for what the runner itself sends before and after, and for rounding. */
const RESERVE = 4;
const SCHEDULE_LENGTH = 1000;

type Need = Pick<KeyBill, 'requests' | 'busiestMinute'>;

/** The keys cannot pay for a load. The message also says what would fit. */
export class Unpayable extends UsageError {
  readonly reason: string;

  constructor(what: string, reason: string, fits: string, paid: ReadonlyMap<BudgetKey, Need> = new Map()) {
    super(
      `${what} does not fit: ${reason}.\nWould fit: ${fits}.${paid.size === 0 ? '' : `\n${renderBill(rowsOf(paid))}`}`,
    );
    this.reason = reason;
  }
}

const rowsOf = (paid: ReadonlyMap<BudgetKey, Need>): KeyBill[] =>
  [...paid].map(([{ name: key, plan, perMinute, perDay }, need]) => ({
    ...{ key, plan, perMinute, perDay },
    ...need,
  }));

/** What all rates together need, in all and in the busiest minute of the target's clock. */
function rateNeed(demand: Demand): Need {
  const { facts, seconds, clockSpeed } = demand;
  const streams = rateStreams(facts);
  const arrived = (time: number) =>
    sum(streams.map((stream) => arrivedBy(slopesOf(stream, demand), time - (stream.from ?? 0) * seconds)));
  const minute = 60 / clockSpeed;
  const starts = Array.from({ length: 2001 }, (_, place) => (Math.max(0, seconds - minute) * place) / 2000);
  const busiest = Math.max(...starts.map((start) => arrived(start + minute) - arrived(start)));
  const requests = sum(streams.map((stream) => arrivalsOf(stream, demand)));
  return { requests, busiestMinute: Math.min(requests, wholeRequests(busiest)) };
}

/** The part of the need that a key can pay, at most all of it. */
function affordable(key: BudgetKey, { requests, busiestMinute }: Need): number {
  if (requests === 0) return 1;
  const byMinute = ((key.minuteLeft ?? key.perMinute) - RESERVE) / busiestMinute;
  const byDay = ((key.dayLeft ?? key.perDay) - RESERVE) / requests;
  return Math.max(0, Math.min(1, byMinute, byDay));
}

/** The part of the need that keys can pay together; from 1 on that is all of it. */
const affordableBy = (keys: readonly BudgetKey[], need: Need) =>
  sum(keys.map((key) => affordable(key, need)));

/** Whose turn it is. The turns of one key lie as far apart as possible, and in number they match its share. */
export function interleave(shares: readonly number[], length: number): number[] {
  let owed = shares.map(() => 0);
  return Array.from({ length }, () => {
    owed = owed.map((own, index) => own + (shares[index] ?? 0));
    const next = owed.indexOf(Math.max(...owed));
    owed[next] = (owed[next] ?? 0) - 1;
    return next;
  });
}

/** What a key pays when the requests of streams take turns on several keys. */
function turnsNeed(schedule: readonly number[], key: number, streams: readonly number[], minute: number) {
  const own = schedule.map((payer) => Number(payer === key));
  const before = own.map((_, turn) => sum(own.slice(0, turn)));
  /** How many of the first turns are the key's. The schedule repeats. */
  const upTo = (turns: number) =>
    Math.floor(turns / own.length) * sum(own) + (before[turns % own.length] ?? 0);
  const requests = sum(streams.map(upTo));
  const most = Math.max(...own.map((_, from) => upTo(from + minute) - upTo(from)));
  // When one stream follows another, the schedule starts again.
  const inMinute = most + 2 * (streams.length - 1);
  return { requests, busiestMinute: Math.min(requests, minute, inMinute) };
}

/** The most that the clients of a stream need of one key. */
function clientNeed(stream: ClientStream, { perMinute }: BudgetKey, { seconds, clockSpeed }: Demand): Need {
  const { from = 0, count = 1, most, mostInMinute } = stream;
  const own = seconds * (1 - from);
  const requests = Math.ceil(most(perMinute, own)) * count;
  const inMinute = mostInMinute?.(perMinute) ?? Math.ceil(most(perMinute, Math.min(own, 60 / clockSpeed)));
  return { requests, busiestMinute: Math.min(requests, inMinute * count) };
}

/** Pays for the clients of a stream that go at their own pace, from keys with its role and plans. */
function payClients(
  stream: ClientStream,
  demand: Demand,
  keys: readonly BudgetKey[],
  paid: Map<BudgetKey, Need>,
): number[] {
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
  const own = count === undefined ? fitting : [fitting.find(fits) ?? fitting.slice(0, 1)].flat();
  if (own.length === 0) {
    const onPlans = plans === undefined ? '' : ` on plan ${plans.join(', ')}`;
    const remedy = `give a key the role ${role} in the profile`;
    throw new Unpayable(what, `no key has the role ${role}${onPlans}`, remedy);
  }
  for (const key of own) {
    const need = clientNeed(stream, key, demand);
    paid.set(key, need);
    if (fits(key)) continue;
    const reason = `${key.name} (${key.plan}) would pay up to ${grouped(need.requests)} requests of ${grouped(key.perDay)} a day`;
    throw new Unpayable(what, reason, 'use a key of a larger plan', paid);
  }
  return own.flatMap((key) => new Array<number>(count ?? 1).fill(keys.indexOf(key)));
}

/** Pays for all rates together. The keys of a process take turns, each as often as it can pay. */
function payRates(demand: Demand, keys: readonly BudgetKey[], paid: Map<BudgetKey, Need>): number[][] {
  const { facts, processes = 1 } = demand;
  const streams = rateStreams(facts);
  if (streams.length === 0) return [];
  const need = rateNeed(demand);
  const payers = keys.filter((key) => key.roles.includes('load') && !paid.has(key));
  if (payers.length === 0)
    throw new Unpayable(facts.name, 'no key has the role load', 'give a key the role load in the profile');
  if (affordableBy(payers, need) < 1) {
    for (const key of payers) {
      const of = (whole: number) => Math.ceil(whole * affordable(key, need));
      paid.set(key, { requests: of(need.requests), busiestMinute: of(need.busiestMinute) });
    }
    const reason = shortfall(need, demand, payers.length);
    throw new Unpayable(facts.name, reason, whatFits(demand, payers, need), paid);
  }
  if (payers.length < processes)
    throw new UsageError(
      `${processes} shards need ${processes} load keys, one each; there are ${payers.length}`,
    );
  // k6 gives each process the same part of the rate.
  const part = { ...demand, rate: demand.rate / processes };
  const partNeed = rateNeed(part);
  // Whoever can pay least is dealt the next key, the one that can pay most first.
  const hands = Array.from({ length: processes }, (): BudgetKey[] => []);
  for (const key of payers.toSorted((a, b) => affordable(b, partNeed) - affordable(a, partNeed)))
    hands.reduce((a, b) => (affordableBy(b, partNeed) < affordableBy(a, partNeed) ? b : a)).push(key);
  return hands.map((own) => {
    const all = affordableBy(own, partNeed);
    if (all < 1)
      throw new UsageError(
        `${facts.name} cannot be divided over ${processes} shards: ${own.map(({ name }) => name).join(', ')} ` +
          'cannot pay an even part; a lower rate or fewer shards may do',
      );
    const shares = own.map((key) => affordable(key, partNeed) / all);
    const turns = interleave(shares, own.length === 1 ? 1 : SCHEDULE_LENGTH);
    const requests = streams.map((stream) => arrivalsOf(stream, part));
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
  if (processes > 1 && facts.streams.some(({ kind }) => kind === 'clients'))
    throw new UsageError(`${facts.name} is about single clients; only rate-based loads can be divided`);
  const paid = new Map<BudgetKey, Need>();
  const clients = facts.streams.map((stream) =>
    stream.kind === 'clients' ? payClients(stream, demand, keys, paid) : [],
  );
  const turns = payRates(demand, keys, paid);
  // Of keys that take turns the first has the largest share; of clients, plans are usually given from the smallest up.
  const looksFirst = turns[0]?.[0] ?? clients.flat().at(-1) ?? -1;
  const first = keys[looksFirst];
  const own = first && paid.get(first);
  if (first !== undefined && own !== undefined)
    paid.set(first, { requests: own.requests + 1, busiestMinute: own.busiestMinute + 1 });
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
export const totalOf = (bill: readonly KeyBill[]): number => sum(bill.map(({ requests }) => requests));

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
