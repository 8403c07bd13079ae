/** What a client that goes at its own pace may send: the bill before the run, and what the client keeps to. */

/** Times of a plan's minute, and requests on top. */
export interface Part {
  readonly minutes: number;
  readonly plus: number;
}

/** Requests that one client sends at most. */
export interface ClientCost extends Part {
  /** For each real second of its part of the run. */
  readonly perSecond?: number;
  /** Within a minute, where that is less than in all. */
  readonly busiestMinute?: Part;
}

const times = ({ minutes, plus }: Part, perMinute: number) => minutes * perMinute + plus;

/**
 * Requests in all.
 *
 * @param perMinute of the key's plan
 * @param seconds real ones that the client has
 */
export function mostOf(cost: ClientCost, perMinute: number, seconds: number): number {
  return Math.ceil(times(cost, perMinute) + (cost.perSecond ?? 0) * seconds);
}

/**
 * Requests in a minute.
 *
 * @param seconds real ones that the client has in a minute of the target's clock
 */
export function mostOfAMinute(cost: ClientCost, perMinute: number, seconds: number): number {
  return mostOf({ ...cost, ...cost.busiestMinute }, perMinute, seconds);
}
