/** Divides a load over several k6 processes. Each has keys of its own, and the part of the rate that these pay. */
import { LoadRefused } from './load-target.ts';
import {
  type BudgetKey,
  billOf,
  type Demand,
  type PaidQuota,
  type PaidStream,
  planQuota,
  type QuotaBill,
} from './quota.ts';

/** A process's part of a load. */
export interface LoadPart {
  /** Requests per second. */
  readonly rate: number;
  readonly streams: readonly PaidStream[];
}

/**
 * Divides keys so that no two parts share one. Each key goes to the part that has least, the largest share first.
 *
 * @param shares the part of the whole load that each key pays, by its position
 */
export function divideKeys(shares: ReadonlyMap<number, number>, parts: number) {
  const made = Array.from({ length: parts }, () => ({ keys: [] as number[], share: 0 }));
  for (const [key, share] of [...shares].toSorted(([, a], [, b]) => b - a)) {
    const least = made.reduce((a, b) => (b.share < a.share ? b : a));
    least.keys.push(key);
    least.share += share;
  }
  return made;
}

/**
 * Divides a load, and pays for each part from its own keys.
 *
 * @param evenly whether all parts have the same rate, whatever their keys can pay
 * @throws LoadRefused if a part cannot be paid, or if there are fewer keys than parts
 */
export function divideLoad(
  demand: Demand,
  keys: readonly BudgetKey[],
  { streams, bill, looksFirst }: PaidQuota,
  { count, evenly }: { readonly count: number; readonly evenly: boolean },
): { readonly parts: readonly LoadPart[]; readonly bill: QuotaBill } {
  const { facts } = demand;
  if (count === 1 && !evenly) return { parts: [{ rate: demand.rate, streams }], bill };
  if (streams.some(({ stream }) => stream.kind !== 'rate'))
    throw new LoadRefused(`${facts.name} is about single clients; only rate-based loads can be divided`);
  const { schedule = [] } = streams[0] ?? {};
  const shares = new Map<number, number>();
  for (const key of schedule) shares.set(key, (shares.get(key) ?? 0) + 1 / schedule.length);
  if (shares.size < count)
    throw new LoadRefused(`${count} shards need ${count} load keys, one each; there are ${shares.size}`);
  const parts = divideKeys(shares, count).map(({ keys: own, share }) => {
    const rate = demand.rate * (evenly ? 1 / count : share);
    const budgets = keys.map((key, index) => (own.includes(index) ? key : { ...key, roles: [] }));
    // Only one of them looks at the target.
    const quota = planQuota({ ...demand, rate, looks: own.includes(looksFirst) }, budgets);
    if (quota.kind === 'paid') return { rate, streams: quota.streams, bill: quota.bill };
    const names = own.flatMap((index) => keys[index]?.name ?? []).join(', ');
    throw new LoadRefused(
      `${facts.name} cannot be divided over ${count} shards: ${names} cannot pay ${evenly ? 'an even part' : 'their part'}; a lower rate or fewer shards may do`,
    );
  });
  return { parts, bill: billOf(parts.flatMap((part) => part.bill.keys)) };
}
