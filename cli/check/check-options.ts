import { InvalidArgumentError } from 'commander';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { checksByPart } from '../../checks/sections/all-checks.ts';
import { quote } from '../../checks/wire/curl.ts';
import { currentId, everyRow, requirements } from '../../spec/contract.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { PLAN_NAMES } from '../../spec/plans.ts';
import { knownName } from '../shared/known-name.ts';

/** The options of `check` as the parser hands them over. */
export interface CheckOptions {
  readonly target?: string;
  readonly profile?: string;
  readonly envFile?: string;
  readonly permit?: readonly Permission[];
  /** `all`, or permissions, plans and requirements that must not be skipped. */
  readonly require?: readonly string[];
  readonly only?: readonly string[];
  readonly out?: string;
  readonly format?: 'human' | 'tap';
  readonly dryRun?: true;
  readonly list?: true;
  readonly baseline?: string;
  readonly writeProfile?: string;
  readonly resume?: string;
  readonly rejudge?: string;
  /** A HAR file. */
  readonly traffic?: string;
  /** Seconds. */
  readonly timeLimit?: number;
  readonly production?: true;
  /** For what stands in front of the target. */
  readonly header?: TargetProfile['headers'];
}

/** Names with commas between them. An option that is given again adds to the list. */
export function names(text: string, before: readonly string[] = []): readonly string[] {
  const found = text.split(',').map((name) => name.trim());
  if (found.some((name) => name === '')) throw new InvalidArgumentError('Separate names with commas.');
  return [...new Set([...before, ...found])];
}

/** @throws UsageError for a name that is no permission */
export const permissionsNamed = (found: readonly string[]): readonly Permission[] =>
  found.map((name) => knownName('permission', name, PERMISSIONS));

const REQUIRABLE = ['all', ...PERMISSIONS, ...PLAN_NAMES, ...requirements.map(({ id }) => id)];

/** What `--require` names: `all`, permissions, plans, requirements. */
export const required = (text: string, before: readonly string[] = []): readonly string[] =>
  names(text, before).map((name) =>
    knownName('permission, plan or requirement', currentId(name), REQUIRABLE),
  );

/** What one name selects. `4` is all of section 4, `4.1` that part of it. */
function selected(name: string): readonly string[] {
  const row = everyRow().find(({ id }) => id === name);
  if (row?.excluded !== undefined) throw new UsageError(`${name} has no check: ${row.excluded}`);
  const within = everyRow().filter(
    ({ section, excluded }) =>
      excluded === undefined && `${section}.`.startsWith(`${name.replace(/^§/, '')}.`),
  );
  if (within.length > 0) return within.map(({ id }) => id);
  const ids = everyRow().map(({ id }) => id);
  const known = knownName('requirement', name, [...ids, ...Object.keys(checksByPart)]);
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

const SHELL_SAFE = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell takes it, and as it is where that is possible. */
export const shellWord = (word: string) => (SHELL_SAFE.test(word) ? word : quote(word));

/** The command that repeats a run with these options, or does something else with them. */
export function commandOf(options: CheckOptions, command = 'check'): string {
  const { target, profile, envFile, permit, require, only, baseline, production, resume, header } = options;
  const values = { resume, target, profile, 'env-file': envFile, permit, require, only, baseline };
  return [
    // It works in a clone, and if the harness is a dependency.
    `npx petstore-harness ${command}`,
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, shellWord([value].flat().join(','))],
    ),
    ...(header ?? []).flatMap(({ name, env }) => ['--header', shellWord(`${name}=${env}`)]),
    ...(production === true ? ['--production'] : []),
  ].join(' ');
}
