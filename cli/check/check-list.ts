import type { Check } from '../../checks/run/check.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/facts.ts';
import { requirements } from '../../spec/contract.ts';
import { textTable } from '../../spec/text-table.ts';
import { columnsOf } from '../shared/screen.ts';

/** Every check on a line: its section and level, whether the document states it, its permission. */
export function listChecks(only: readonly string[] | undefined): string {
  const rows = requirements.flatMap(({ id, section, level, title, reading }) => {
    const check = allChecks.find((candidate) => candidate.id === id);
    if (check === undefined || (only !== undefined && !only.includes(id))) return [];
    const ground = reading === undefined ? 'stated' : 'our reading';
    return [[id, section, level, ground, permitOf(check) ?? '-', title]];
  });
  const lines = textTable([['ID', 'SECTION', 'LEVEL', 'GROUND', 'PERMIT', 'REQUIREMENT'], ...rows], {
    columns: columnsOf(process.stdout),
  });
  return `${lines.join('\n')}\n\n${count(rows.length, 'check')}. What one of them costs: petstore-harness explain ID\n`;
}

/** The permission without which a check is skipped. */
export const permitOf = ({ permit, scenes, inFullWith }: Check) =>
  permit ?? scenes.find((scene) => scene.permit !== undefined)?.permit ?? inFullWith;
