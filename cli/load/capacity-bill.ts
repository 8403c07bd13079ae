import { BUDGET_SECONDS, MOST_RATE } from '../../scenarios/runner/capacity/capacity.ts';
import type { QuotaBill } from '../../scenarios/runner/result/load-result.ts';

/**
 * What a capacity search takes from its keys at most. How many steps it needs, and how fast they are, depends on the
 * target; what bounds it is its time, and that each step is paid from what is left of the keys' minutes.
 *
 * @param step the bill of the first step, which names the keys
 * @param clockSpeed seconds of the target's clock in a real one
 */
export function searchBill(step: QuotaBill, clockSpeed: number): QuotaBill {
  const minutes = Math.ceil((BUDGET_SECONDS * clockSpeed) / 60);
  const keys = step.keys.map((key) => ({
    ...key,
    requests: Math.min(key.perDay, key.perMinute * minutes, MOST_RATE * BUDGET_SECONDS),
    busiestMinute: Math.min(key.perMinute, key.perDay, Math.ceil((MOST_RATE * 60) / clockSpeed)),
  }));
  const all = keys.reduce((sum, { requests }) => sum + requests, 0);
  return { keys, total: Math.min(all, MOST_RATE * BUDGET_SECONDS) };
}
