import { suggestion } from '../../checks/profile/suggestion.ts';
import { checksByPart } from '../../checks/sections/all-checks.ts';
import { currentId, type Requirement, requirements } from '../../spec/contract.ts';
import { UsageError } from '../shared/exit-codes.ts';

/** `4` is all of section 4, `4.1` that part of it. */
const inSection = (name: string) => (row: Requirement) =>
  row.section === name || row.section.startsWith(`${name}.`);

/**
 * The requirement ids that `--only` names, each once: ids, parts (files in checks/sections) or sections of the document.
 *
 * @throws UsageError for a name that is none of these, and for requirements that no check can verify
 */
export function selectedIds(names: readonly string[]): string[] {
  const problems: string[] = [];
  const ids = names.map(currentId).flatMap((name) => {
    const row = requirements.find(({ id }) => id === name);
    if (row?.excluded !== undefined) problems.push(`${name} has no check: ${row.excluded}`);
    else if (row !== undefined) return [row.id];
    else {
      const part = Object.hasOwn(checksByPart, name) ? checksByPart[name]?.map(({ id }) => id) : undefined;
      const section = requirements.filter(inSection(name.replace(/^§/, '')));
      const checked = section.filter(({ excluded }) => excluded === undefined).map(({ id }) => id);
      if (part !== undefined) return part;
      if (checked.length > 0) return checked;
      const known = [...requirements.map(({ id }) => id), ...Object.keys(checksByPart)];
      problems.push(
        section.length > 0
          ? `section ${name} has nothing that a check can verify`
          : unknownRow('requirement', name, known),
      );
    }
    return [];
  });
  if (problems.length > 0) throw new UsageError(...problems.map((problem) => `--only: ${problem}`));
  return [...new Set(ids)];
}

/** One line on an unknown name. */
export function unknownRow(what: string, name: string, known: readonly string[]): string {
  const remedy = suggestion(name, known);
  // A list of all that is known would fill the screen.
  return `there is no ${what} "${name.slice(0, 60)}"; ${remedy.startsWith('did') ? remedy : 'see petstore-harness check --list'}`;
}
