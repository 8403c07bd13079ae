import type { Check } from '../../checks/run/check.ts';
import { keyScenes } from '../../checks/run/play.ts';
import { type Need, permitOf, type Spending } from '../../checks/run/scene.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/outcome.ts';
import { requirements } from '../../spec/contract.ts';
import { textTable } from '../shared/text-table.ts';

/** Every check with its section, level, permission and what it spends, one a line. */
export function listChecks(only: readonly string[] | undefined): string {
  const rows = requirements.flatMap(({ id, section, level, title }) => {
    const check = allChecks.find((candidate) => candidate.id === id);
    if (check === undefined || (only !== undefined && !only.includes(id))) return [];
    return [[id, section, level, permitOf(check) ?? '-', costOf(check), title]];
  });
  const lines = textTable([['ID', 'SECTION', 'LEVEL', 'PERMISSION', 'REQUESTS', 'REQUIREMENT'], ...rows]);
  return `${lines.join('\n')}\n\n${count(rows.length, 'check')}. Scenes are shared: the first check that needs one pays; "window", "day" and "ban" depend on the plan of the key: see --dry-run.\n`;
}

const sum = ({ requests = 0, anonymous = 0, onEveryKey = 0 }: Spending) => requests + anonymous + onEveryKey;

const LIMIT_COST: Readonly<Record<string, string>> = { exhaust: 'window', ban: 'ban', day: 'day' };

/** What the scenes cost that a check needs. */
export function costOf(check: Check): string {
  const [limit] = keyScenes([check]).toReversed();
  if (limit !== undefined) return LIMIT_COST[limit.permit] ?? limit.permit;
  return `${[...scenesOf(check).values()].reduce((total, cost) => total + cost, 0)}`;
}

/** The scenes that a check needs, and those that they need, with the requests of each. */
export function scenesOf(check: Check): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  const visit = (need: Need) => {
    const scene = need.kind === 'optional' ? need.scene : need;
    if (costs.has(scene.id)) return;
    if (scene.kind === 'scene') costs.set(scene.id, sum(scene));
    Object.values(scene.needs).forEach(visit);
  };
  Object.values(check.needs).forEach(visit);
  return costs;
}
