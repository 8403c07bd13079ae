import { suggestion } from '../../checks/profile/suggestion.ts';
import type { Check } from '../../checks/run/check.ts';
import { addAnimalChecks } from '../../checks/sections/add/checks.ts';
import { banChecks } from '../../checks/sections/ban/checks.ts';
import { dailyQuotaChecks } from '../../checks/sections/day/checks.ts';
import { errorBodyChecks } from '../../checks/sections/errors/checks.ts';
import { getAnimalChecks } from '../../checks/sections/get/checks.ts';
import { deprecationChecks } from '../../checks/sections/get/deprecation.ts';
import { rateHeaderChecks } from '../../checks/sections/headers/checks.ts';
import { authenticationChecks } from '../../checks/sections/keys/checks.ts';
import { listAnimalChecks } from '../../checks/sections/list/checks.ts';
import { rateLimitChecks } from '../../checks/sections/minute/checks.ts';
import { serviceChecks } from '../../checks/sections/service/checks.ts';
import { type Requirement, requirements } from '../../spec/contract.ts';
import { UsageError } from '../shared/exit-codes.ts';

/** The checks by the name of their file in checks/sections, as `--only` takes them. */
export const CHECKS_BY_PART: Readonly<Record<string, readonly Check[]>> = {
  service: serviceChecks,
  'add-animal': addAnimalChecks,
  'list-animals': listAnimalChecks,
  'get-animal': getAnimalChecks,
  deprecation: deprecationChecks,
  authentication: authenticationChecks,
  'error-bodies': errorBodyChecks,
  'rate-headers': rateHeaderChecks,
  'rate-limits': rateLimitChecks,
  bans: banChecks,
  'daily-quota': dailyQuotaChecks,
};

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
  const ids = names.flatMap((name) => {
    const row = requirements.find(({ id }) => id === name);
    if (row?.excluded !== undefined) problems.push(`${name} has no check: ${row.excluded}`);
    else if (row !== undefined) return [row.id];
    else {
      const part = Object.hasOwn(CHECKS_BY_PART, name)
        ? CHECKS_BY_PART[name]?.map(({ id }) => id)
        : undefined;
      const section = requirements.filter(inSection(name.replace(/^§/, '')));
      const checked = section.filter(({ excluded }) => excluded === undefined).map(({ id }) => id);
      if (part !== undefined) return part;
      if (checked.length > 0) return checked;
      problems.push(
        section.length > 0 ? `section ${name} has nothing that a check can verify` : unknown(name),
      );
    }
    return [];
  });
  if (problems.length > 0) throw new UsageError(...problems.map((problem) => `--only: ${problem}`));
  return [...new Set(ids)];
}

function unknown(name: string): string {
  const known = [...requirements.map(({ id }) => id), ...Object.keys(CHECKS_BY_PART)];
  const remedy = suggestion(name, known);
  // A list of all that is known would fill the screen.
  return `there is no requirement "${name.slice(0, 60)}"; ${remedy.startsWith('did') ? remedy : 'see petstore-harness check --list'}`;
}
