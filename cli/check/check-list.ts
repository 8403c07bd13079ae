import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/facts.ts';
import { requirements } from '../../spec/contract.ts';
import { printTable } from '../shared/screen.ts';

/** Prints every check on a line: its section and level, whether the document states it, its permission. */
export function listChecks(only: readonly string[] | undefined): void {
  const rows = requirements.flatMap(({ id, section, level, title, reading }) => {
    const check = allChecks.find((candidate) => candidate.id === id);
    if (check === undefined || (only !== undefined && !only.includes(id))) return [];
    const ground = reading === undefined ? 'stated' : 'our reading';
    return [[id, section, level, ground, check.permit ?? check.inFullWith ?? '-', title]];
  });
  printTable([['ID', 'SECTION', 'LEVEL', 'GROUND', 'PERMIT', 'REQUIREMENT'], ...rows]);
  process.stdout.write(
    `\n${count(rows.length, 'check')}. What one of them costs: petstore-harness explain ID\n`,
  );
}
