import { existsSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { fileText } from '../../checks/profile/file-text.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { LARGEST_YAML, YamlFile } from '../../checks/profile/yaml-file.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { count } from '../../reports/facts.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { everyRow, requirements } from '../../spec/contract.ts';
import { exact, words } from '../../spec/json-schema.ts';
import { ADDED_ANIMALS } from '../../spec/operations.ts';
import { concerning } from '../shared/failure.ts';
import { USUAL_VARIABLES } from '../shared/profile-file.ts';
import { printTable } from '../shared/screen.ts';
import { resultsFolder, takeFolder } from './check-folder.ts';
import { type CheckOptions, selectedIds, usage } from './check-options.ts';
import { limitsOf, planCheck, refuseUnpayable, renderBill } from './check-plan.ts';
import { type CheckSubject, checkSubject } from './check-subject.ts';

const EXAMPLES = `
Permissions, all opt-in, in the profile or, instead of its list, here:
  writes    add animals; ${ADDED_ANIMALS}
  exhaust   drive keys with the role exhaust to 429; one minute window each
  ban       keep sending after a 429 on the key with the role ban
  day       spend whole daily quotas, as fast as the plans allow

Without a target the embedded reference server is checked, with every
permission, or with those of --permit. Without --profile the keys come from
these variables, as far as they are set:
${USUAL_VARIABLES}.

Examples:
  $ petstore-harness check          the reference server, everything permitted
  $ petstore-harness check --profile staging.yaml --dry-run
  $ petstore-harness check --profile staging.yaml --permit writes
  $ petstore-harness check --profile staging.yaml --only list-limit-fills,4.2
  $ petstore-harness check --resume petstore-results/latest

Exit codes: 0 everything tested passed, 1 not conformant, 2 wrong usage,
3 inconclusive, 4 nothing to judge, 70 the harness itself failed,
130 interrupted.`;

async function check(options: CheckOptions): Promise<void> {
  if (options.list === true) return listChecks(options.only && selectedIds(options.only));
  refuseOverwriting(options);
  const { traffic } = options;
  if (traffic === undefined) return checkThis(await checkSubject(options), options);
  const { readHar } = await import('../../checks/run/har.ts');
  const subject = await checkSubject(options, {
    traffic: async (judge, { profile: { target } }) => readHar(traffic, target).forEach(judge),
  });
  await checkThis(subject, options);
}

export async function checkThis(subject: CheckSubject, options: CheckOptions): Promise<void> {
  const baseline = options.baseline === undefined ? [] : readBaseline(options.baseline);
  const { offline, stored } = subject;
  concerning({ secrets: [...subject.values.values(), ...(subject.access?.secrets ?? [])] });
  try {
    const asked = options.timeLimit === undefined ? undefined : options.timeLimit * 1000;
    if (options.dryRun === true) {
      const plan = await planCheck(subject);
      process.stdout.write(renderBill(plan, subject, asked));
      return refuseUnpayable(plan);
    }
    const { longest, mostRequests } = await limitsOf(subject);
    const timeLimit = { longest: asked ?? longest, taken: performance.now() };
    const directory = offline === false && stored !== undefined ? stored : resultsFolder(options.out);
    concerning({ directory });
    if (offline !== true) takeFolder(directory);
    const { runCheck } = await import('./check-run.ts');
    process.exitCode = await runCheck({ ...subject, timeLimit, mostRequests, directory }, options, baseline);
  } finally {
    await subject.close?.();
  }
}

function refuseOverwriting({ writeProfile, profile, only }: CheckOptions): void {
  if (writeProfile === undefined) return;
  if (only !== undefined)
    throw new UsageError('--write-profile needs a complete run: with --only the gaps are not observed');
  if (writeProfile !== profile && existsSync(writeProfile)) {
    throw new UsageError(
      `${writeProfile} exists; choose another file for --write-profile, or the profile itself`,
    );
  }
}

/**
 * Reads a baseline: a YAML list of requirement ids, each alone or as `{ id: …, reason: … }`.
 *
 * @throws UsageError with file and line of everything that is wrong
 */
function readBaseline(file: string): BaselineEntry[] {
  const checked = everyRow().filter(({ excluded }) => excluded === undefined);
  const Baseline = Type.Array(
    exact({ id: words(checked.map(({ id }) => id)), reason: Type.Optional(Type.String()) }),
    { description: 'write one "- id" a line' },
  );
  const yaml = new YamlFile(fileText(file, undefined, LARGEST_YAML), file);
  const { value = [] } = yaml;
  const entries: unknown = Array.isArray(value)
    ? value.map((item) => (typeof item === 'object' ? item : { id: item }))
    : value;
  return yaml
    .validated(Baseline, entries, 'the baseline')
    .map(({ id }, index) => ({ id, place: `${file}:${yaml.lineOf(`/${index}`)}` }));
}

/** Prints every check on a line: its section and level, whether the document states it, its permission. */
function listChecks(only: readonly string[] | undefined): void {
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

/** `check`: verifies every requirement against a target, or against the embedded reference server. */
export const command = usage.addHelpText('after', EXAMPLES).action(check);
