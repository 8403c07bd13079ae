import { Command, Option } from '@commander-js/extra-typings';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { shellWord } from '../../checks/wire/curl.ts';
import { currentId, everyRow, requirements } from '../../spec/contract.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { PLAN_NAMES } from '../../spec/plans.ts';
import { durationSeconds, HEADER, knownName } from '../shared/option-values.ts';

/** Names with commas between them. An option that is given again adds to the list. */
export const names = (text: string, before: readonly string[] = []): readonly string[] => [
  ...new Set([...before, ...text.split(',').map((name) => name.trim())]),
];

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
  const rows = everyRow();
  const row = rows.find(({ id }) => id === name);
  if (row?.excluded !== undefined) throw new UsageError(`${name} has no check: ${row.excluded}`);
  const within = rows.filter(
    ({ section, excluded }) =>
      excluded === undefined && `${section}.`.startsWith(`${name.replace(/^§/, '')}.`),
  );
  const ids = (all: typeof rows) => all.map(({ id }) => id);
  return within.length > 0 ? ids(within) : [knownName('requirement', name, ids(rows))];
}

/**
 * The requirement ids that `--only` names, each once: ids or sections of the document.
 *
 * @throws UsageError for a name that is none of these, and for requirements that no check can verify
 */
export const selectedIds = (names: readonly string[]): string[] => [
  ...new Set(names.map(currentId).flatMap(selected)),
];

/** A stored run has its own. */
const OF_NEW_RUNS = ['target', 'profile', 'permit', 'dryRun', 'header'];

export const usage = new Command('check')
  .option('--target <url>', 'base address with the version segment; overrides the profile')
  .option('--profile <file>', 'target profile: address, keys, permissions, pinned answers')
  .addOption(HEADER)
  .option('--env-file <file>', 'file with the variables that hold the keys; the environment takes precedence')
  .option(
    '--permit <names>',
    'writes, exhaust, ban, day, comma-separated; replaces the list in the profile',
    (text: string, before?: readonly Permission[]) => permissionsNamed(names(text, before)),
  )
  .option('--only <names>', 'requirement ids, or sections such as 4.1', names)
  .option(
    '--require <names>',
    'all, or permissions, plans, ids: must not be skipped, inconclusive if not verified',
    required,
  )
  .addOption(new Option('--out <dir>', 'folder for results').conflicts('resume'))
  .addOption(new Option('--format <name>', 'human on a terminal, tap otherwise').choices(['human', 'tap']))
  .option('--baseline <file>', 'YAML list of known failures, which do not fail the run')
  .option('--write-profile <file>', 'write a profile that pins the answers to gaps that this run observed')
  .addOption(
    new Option(
      '--resume <dir>',
      'continue a run that was cut short, with the profile in its folder',
    ).conflicts(['rejudge', 'only', ...OF_NEW_RUNS]),
  )
  .addOption(
    new Option('--rejudge <dir>', 'judge a stored run again by the profile in its folder, offline').conflicts(
      OF_NEW_RUNS,
    ),
  )
  .addOption(
    new Option('--traffic <har>', 'judge a recording of other clients’ traffic; send nothing').conflicts([
      ...['resume', 'rejudge', 'only', 'writeProfile', 'timeLimit', 'list'],
      ...OF_NEW_RUNS.filter((name) => name !== 'target' && name !== 'profile'),
    ]),
  )
  .option(
    '--time-limit <time>',
    'end after this time, such as 20m, with what was measured; --dry-run prints the default',
    durationSeconds,
  )
  .option('--production', 'permissions are intended, although the address may be in production use')
  .option('--dry-run', 'print what the run would cost, and send nothing')
  .option('--list', 'print every check with its section, level, ground and permission');

export type CheckOptions = ReturnType<typeof usage.opts>;

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
