import { UsageError } from '../../checks/profile/usage-error.ts';
import { checksByPart } from '../../checks/sections/all-checks.ts';
import { currentId, everyRow } from '../../spec/contract.ts';
import { knownName } from '../shared/known-name.ts';

const parts = Object.keys(checksByPart);

/** What one name selects. `4` is all of section 4, `4.1` that part of it. */
function selected(name: string): readonly string[] {
  const row = everyRow().find(({ id }) => id === name);
  if (row?.excluded !== undefined) throw new UsageError(`${name} has no check: ${row.excluded}`);
  const within = everyRow().filter(
    ({ section, excluded }) =>
      excluded === undefined && `${section}.`.startsWith(`${name.replace(/^§/, '')}.`),
  );
  if (within.length > 0) return within.map(({ id }) => id);
  const known = knownName('requirement', name, [...everyRow().map(({ id }) => id), ...parts]);
  return checksByPart[known]?.map(({ id }) => id) ?? [known];
}

/**
 * The requirement ids that `--only` names, each once: ids, parts (files in checks/sections) or sections of the document.
 *
 * @throws UsageError for a name that is none of these, and for requirements that no check can verify
 */
export const selectedIds = (names: readonly string[]): string[] => [
  ...new Set(names.map(currentId).flatMap(selected)),
];
