import type { Check, Scene, Spending } from '../../checks/run/check.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/outcome.ts';
import { requirements } from '../../spec/contract.ts';

/** Every check with its section, level, permission and what it spends, one a line. */
export function listChecks(only: readonly string[] | undefined): string {
  const rows = requirements.flatMap(({ id, section, level, title }) => {
    const check = allChecks.find((candidate) => candidate.id === id);
    if (check === undefined || (only !== undefined && !only.includes(id))) return [];
    return [[id, section, level, check.permit ?? '-', costOf(check), title]];
  });
  const table = [['ID', 'SECTION', 'LEVEL', 'PERMISSION', 'REQUESTS', 'REQUIREMENT'], ...rows];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n\n${count(rows.length, 'check')}. "+n" is shared with other checks, the first of them pays; "window", "day" and "ban" depend on the plan of the key: see --dry-run.\n`;
}

const sum = ({ requests = 0, anonymous = 0 }: Spending = {}) => requests + anonymous;

const LANE_COST: Readonly<Record<string, string>> = { exhaust: 'window', ban: 'ban', day: 'day' };

function costOf(check: Check): string {
  const lane = check.permit === undefined ? undefined : LANE_COST[check.permit];
  if (lane !== undefined) return lane;
  const shared = new Map<string, number>();
  const visit = (scene: Scene<unknown>) => {
    if (shared.has(scene.id)) return;
    shared.set(scene.id, sum(scene.spends));
    scene.scenes?.forEach(visit);
  };
  check.scenes?.forEach(visit);
  const together = [...shared.values()].reduce((total, cost) => total + cost, 0);
  return together === 0 ? `${sum(check.spends)}` : `${sum(check.spends)} +${together}`;
}
