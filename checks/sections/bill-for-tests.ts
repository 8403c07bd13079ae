/** What a check or an observer spends, what it declares that it does, and what is on the bill for it. */
import type { Check, GapObserver, Scene } from '../harness/check.ts';
import { quotaBill } from '../harness/quota-planner.ts';
import type { Run } from '../harness/run.ts';
import { testKey } from '../harness/run-for-tests.ts';
import type { Permission } from '../harness/verdict.ts';

type Spender = Check | GapObserver | Scene<unknown>;

/** How many requests this one sent. */
export const spentBy = (run: Run, sender: string): number =>
  run.exchanges.filter(({ sentBy }) => sentBy === sender).length;

/** Requests by who sends them: the one itself, and the scenes that it plays. */
function declared({ id, spends, scenes = [] }: Spender, sender = id): ReadonlyMap<string, number> {
  return new Map([[sender, spends?.requests ?? 0], ...scenes.flatMap((scene) => [...declared(scene)])]);
}

/** Who sent more than is declared, and how many of how many: `a-check: 4 of 3`. */
export function overspent(run: Run, part: Spender, sender: string = part.id): string[] {
  const bill = declared(part, sender);
  return [...new Set(run.exchanges.map(({ sentBy }) => sentBy))].flatMap((one) => {
    const [spent, allowed] = [spentBy(run, one), bill.get(one) ?? 0];
    return spent > allowed ? [`${one}: ${spent} of ${allowed}`] : [];
  });
}

/** What a run of nothing else has on its bill, without the request by which every run begins. */
export interface Billed {
  readonly requests: number;
  readonly animals: number;
}

function billed(
  row: { readonly checks: readonly Check[] } | { readonly gapObservers: readonly GapObserver[] },
  permissions: readonly Permission[],
): Billed {
  const { keys, animals } = quotaBill({
    keys: [testKey()],
    permissions: new Set(permissions),
    checks: [],
    gapObservers: [],
    lanes: [],
    ...row,
  });
  return { requests: (keys[0]?.requests ?? 0) - 1, animals };
}

/** What is billed for a check to a run on one key, with these permissions. */
export const billOfCheck = (check: Check, ...permissions: readonly Permission[]): Billed =>
  billed({ checks: [check] }, permissions);

/** The same for an observer. */
export const billOfGap = (observer: GapObserver, ...permissions: readonly Permission[]): Billed =>
  billed({ gapObservers: [observer] }, permissions);
