/** What a client at its own pace may send. The bill before the run uses it, and so does the client itself. */

/** A multiple of a plan's minute, and further requests. */
export interface Part {
  readonly minutes: number;
  readonly plus: number;
}

/** The most requests that one client sends. */
export interface ClientCost extends Part {
  /** For each real second of its part of the run. */
  readonly perSecond?: number;
  /** Within one minute, if that is less than in all. */
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
