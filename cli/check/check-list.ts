import type { Check } from '../../checks/run/check.ts';
import { keyScenesOf, permitOf, type Spending, scenesOf } from '../../checks/run/scene.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/outcome.ts';
import { requirements } from '../../spec/contract.ts';
import { textTable } from '../../spec/text-table.ts';

/** Every check on a line, with its section, level, permission and cost. */
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

/** The cost of the scenes that a check needs. */
export function costOf(check: Check): string {
  const limit = keyScenesOf([check]).at(-1);
  if (limit !== undefined) return LIMIT_COST[limit.permit] ?? limit.permit;
  return `${requestsByScene(check).reduce((total, { requests }) => total + requests, 0)}`;
}

/** The scenes that a check needs, directly or not, with the requests of each. */
export const requestsByScene = (check: Check) =>
  scenesOf([check]).flatMap((scene) =>
    scene.kind === 'scene' ? [{ id: scene.id, requests: sum(scene) }] : [],
  );
