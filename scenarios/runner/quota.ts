/** Pays a scenario's requests from the budgets of its keys before k6 starts, or says what would fit. */
import { arrivedBy, slopes } from '../lib/load-profiles.ts';
import { MOST_KEYS } from '../lib/sample.ts';
import type { ClientStream, PlannedKey, RateStream, ScenarioFacts } from '../lib/scenario.ts';
import type { KeyBill, QuotaBill } from './load-result.ts';

/** A key that the scenario may use, with its roles. */
export interface BudgetKey extends PlannedKey {
  readonly roles: readonly string[];
  /** What runs just before have left of the minute and the day, where they took some. */
  readonly minuteLeft?: number;
  readonly dayLeft?: number;
}

/** The key that feels one more request the least; undefined where there is none. */
export function keyWithMostLeft(keys: readonly BudgetKey[]): BudgetKey | undefined {
  const left = ({ perMinute, minuteLeft = perMinute }: BudgetKey) => minuteLeft;
  return keys.toSorted((a, b) => left(b) - left(a))[0];
}

/** A stream with the keys that pay for it. */
export interface PaidStream {
  readonly stream: RateStream | ClientStream;
  /** Positions in the list of keys. */
  readonly keys: readonly number[];
  /** Which position pays for the n-th request; empty where each client has its own key. */
  readonly schedule: readonly number[];
}

export type QuotaPlan =
  | { readonly kind: 'paid'; readonly bill: QuotaBill; readonly streams: readonly PaidStream[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly fits: string; readonly bill: QuotaBill };

/** What a run asks for. */
export interface Demand {
  readonly facts: ScenarioFacts;
  /** Requests per second. */
  readonly rate: number;
  /** Real seconds of the rate streams. */
  readonly seconds: number;
  /** Seconds of the target's clock in a real one. */
  readonly clockSpeed: number;
}

/** Requests that each key is kept short of its limits: what the runner itself sends before and after, and rounding. */
const RESERVE = 4;
const PLACES = 2000;
export const SCHEDULE_LENGTH = 1000;

interface Need {
  readonly total: number;
  readonly busiestMinute: number;
}

function isRate(stream: RateStream | ClientStream): stream is RateStream {
  return stream.kind === 'rate';
}

/** What all rate streams together need, in all and in the busiest minute of the target's clock. */
function rateNeed({ facts, rate, seconds, clockSpeed }: Demand): Need {
  const parts = facts.streams.filter(isRate).map(({ profile, share = 1, from = 0, to = 1 }) => ({
    from: from * seconds,
    profile: slopes(profile, rate * share, (to - from) * seconds),
  }));
  const arrived = (time: number) =>
    parts.reduce((sum, part) => sum + arrivedBy(part.profile, time - part.from), 0);
  const minute = 60 / clockSpeed;
  let busiestMinute = 0;
  for (let place = 0; place <= PLACES; place += 1) {
    const start = (Math.max(0, seconds - minute) * place) / PLACES;
    busiestMinute = Math.max(busiestMinute, arrived(start + minute) - arrived(start));
  }
  // Sums of floating point numbers may end a hair above a whole one.
  const whole = (requests: number) => Math.ceil(requests - 1e-6);
  return { total: whole(arrived(seconds)), busiestMinute: whole(busiestMinute) };
}

/** The part of the need that a key can pay, at most all of it. */
function affordable(key: BudgetKey, need: Need): number {
  if (need.total === 0) return 1;
  const byMinute = ((key.minuteLeft ?? key.perMinute) - RESERVE) / need.busiestMinute;
  const byDay = ((key.dayLeft ?? key.perDay) - RESERVE) / need.total;
  return Math.max(0, Math.min(1, byMinute, byDay));
}

function bill(keys: readonly BudgetKey[], paid: ReadonlyMap<number, Need>): QuotaBill {
  const rows = [...paid].map(([index, need]): KeyBill | undefined => {
    const key = keys[index];
    return (
      key && {
        key: key.name,
        plan: key.plan,
        requests: need.total,
        busiestMinute: need.busiestMinute,
        perMinute: key.perMinute,
        perDay: key.perDay,
      }
    );
  });
  const present = rows.filter((row) => row !== undefined);
  return { keys: present, total: present.reduce((sum, { requests }) => sum + requests, 0) };
}

/** Whose turn it is, so that equal turns lie as far apart as they can and the shares come out. */
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

/** Requests that the clients of a stream send at most with one key. */
function clientNeed({ cost, from = 0, count = 1 }: ClientStream, key: BudgetKey, seconds: number): number {
  const each = cost.minutes * key.perMinute + cost.plus + (cost.perSecond ?? 0) * seconds * (1 - from);
  return Math.ceil(each * count);
}

function clientsFit(stream: ClientStream, key: BudgetKey, seconds: number): boolean {
  const most = clientNeed(stream, key, seconds);
  return most <= key.perDay - RESERVE && (stream.overLimit === true || most <= key.perMinute - RESERVE);
}

/** Which keys the clients of a stream have: those with its role and plans; where all share one, one that can pay. */
function clientKeys(stream: ClientStream, keys: readonly BudgetKey[], seconds: number): number[] {
  const fitting = keys.flatMap((key, index) =>
    key.roles.includes(stream.role) && (stream.plans?.includes(key.plan) ?? true) ? [index] : [],
  );
  if (stream.count === undefined) return fitting;
  const [first] = fitting;
  const able = fitting.find((index) => {
    const key = keys[index];
    return key !== undefined && clientsFit(stream, key, seconds);
  });
  const shared = able ?? first;
  return shared === undefined ? [] : [shared];
}

/** Pays for a scenario. Never lets a key exceed its plan in a stream that is not about that. */
export function planQuota(demand: Demand, keys: readonly BudgetKey[]): QuotaPlan {
  const { facts, rate, seconds } = demand;
  const paid = new Map<number, Need>();
  const streams: PaidStream[] = [];
  const refuse = (reason: string, fits: string): QuotaPlan => ({
    kind: 'refused',
    reason,
    fits,
    bill: bill(keys, paid),
  });
  if (keys.length > MOST_KEYS)
    return refuse(`${keys.length} keys are more than ${MOST_KEYS}`, 'list fewer keys');

  for (const stream of facts.streams) {
    if (isRate(stream)) continue;
    const own = clientKeys(stream, keys, seconds);
    if (own.length === 0) {
      const plans = stream.plans === undefined ? '' : ` on plan ${stream.plans.join(', ')}`;
      return refuse(
        `no key has the role ${stream.role}${plans}`,
        `give a key the role ${stream.role} in the profile`,
      );
    }
    for (const index of own) {
      const key = keys[index];
      if (key === undefined) continue;
      const most = clientNeed(stream, key, seconds);
      paid.set(index, { total: most, busiestMinute: most });
      if (!clientsFit(stream, key, seconds)) {
        return refuse(
          `${key.name} (${key.plan}) would pay up to ${most} requests of ${key.perDay} a day`,
          'use a key of a larger plan',
        );
      }
    }
    streams.push({ stream, keys: own, schedule: [] });
  }

  const rateStreams = facts.streams.filter(isRate);
  if (rateStreams.length > 0) {
    const need = rateNeed(demand);
    const payers = keys.flatMap((key, index) =>
      key.roles.includes('load') && !paid.has(index) ? [index] : [],
    );
    const parts = payers.map((index) => {
      const key = keys[index];
      return key === undefined ? 0 : affordable(key, need);
    });
    const sum = parts.reduce((a, b) => a + b, 0);
    const shares = parts.map((part) => (sum === 0 ? 0 : part / Math.max(sum, 1)));
    for (const [place, index] of payers.entries()) {
      const share = sum >= 1 ? (shares[place] ?? 0) : (parts[place] ?? 0);
      paid.set(index, {
        total: Math.ceil(need.total * share),
        busiestMinute: Math.ceil(need.busiestMinute * share),
      });
    }
    if (payers.length === 0) {
      return refuse('no key has the role load', 'give a key the role load in the profile');
    }
    if (sum < 1) return refuse(shortfall(need, demand, payers.length), whatFits(demand, keys, payers, need));
    const schedule =
      payers.length === 1 ? payers : interleave(shares, SCHEDULE_LENGTH).map((at) => payers[at] ?? 0);
    for (const stream of rateStreams) streams.push({ stream, keys: payers, schedule });
  }
  const ordered = facts.streams.flatMap((stream) => streams.filter((each) => each.stream === stream));
  const over = [...paid.values()].some(({ total }) => !Number.isFinite(total));
  if (over || !(rate >= 0 && seconds >= 0))
    return refuse('rate and duration must be finite', 'give --rate and --duration');
  return { kind: 'paid', bill: bill(keys, paid), streams: ordered };
}

function shortfall(need: Need, { seconds, clockSpeed }: Demand, keyCount: number): string {
  const minute = clockSpeed === 1 ? 'the busiest minute' : `the busiest minute of the target's clock`;
  return (
    `${need.total} requests in ${round(seconds)} s, ${need.busiestMinute} in ${minute}, are more than ` +
    `${keyCount === 1 ? 'the load key has' : `the ${keyCount} load keys have`}`
  );
}

function whatFits(demand: Demand, keys: readonly BudgetKey[], payers: readonly number[], need: Need): string {
  const payable = (factor: { rate: number; seconds: number }) => {
    const scaled = rateNeed({ ...demand, ...factor });
    return payers.reduce((sum, index) => sum + (keys[index] ? affordable(keys[index], scaled) : 0), 0) >= 1;
  };
  const largest = (makes: (part: number) => { rate: number; seconds: number }) => {
    let [fits, not] = [0, 1];
    for (let step = 0; step < 30; step += 1) {
      const middle = (fits + not) / 2;
      if (payable(makes(middle))) fits = middle;
      else not = middle;
    }
    return fits;
  };
  const { rate, seconds } = demand;
  const rateThatFits = Math.floor(rate * largest((part) => ({ rate: rate * part, seconds })) * 100) / 100;
  const secondsThatFit = Math.floor(seconds * largest((part) => ({ rate, seconds: seconds * part })));
  const offers: string[] = [];
  if (rateThatFits > 0) offers.push(`--rate ${rateThatFits} for the same time`);
  if (secondsThatFit > 0) offers.push(`--duration ${secondsThatFit}s at the same rate`);
  return offers.length === 0
    ? `no run of ${need.total} requests; add keys with the role load`
    : `${offers.join(', or ')}; or more keys with the role load`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The bill for a person, one line a key. */
export function renderBill({ keys, total }: QuotaBill): string {
  const rows = keys.map(
    ({ key, plan, requests, busiestMinute, perMinute, perDay }) =>
      `  ${key.padEnd(20)} ${plan.padEnd(10)} ${String(requests).padStart(8)} of ${perDay} a day, ` +
      `${busiestMinute} of ${perMinute} in the busiest minute`,
  );
  return [...rows, `  ${'at most'.padEnd(31)} ${String(total).padStart(8)} requests`].join('\n');
}
