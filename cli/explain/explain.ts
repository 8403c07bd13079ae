import { Command } from '@commander-js/extra-typings';
import type { TSchema } from '@sinclair/typebox';
import { profileSchema } from '../../checks/profile/target-profile.ts';
import type { Check } from '../../checks/run/check.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { currentId, type Gap, gaps, type Requirement, requirements } from '../../spec/contract.ts';
import { groupBy } from '../../spec/group-by.ts';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { wrap } from '../../spec/text-table.ts';
import { planCheck } from '../check/check-plan.ts';
import { startEmbeddedTarget } from '../check/embedded-target.ts';
import { knownName } from '../shared/known-name.ts';
import { columnsOf } from '../shared/screen.ts';

const EXAMPLES = `
Examples:
  $ petstore-harness explain list-limit-fills     a requirement
  $ petstore-harness explain limit-out-of-range   a gap, and its known answers
  $ petstore-harness explain tls                  a field of the profile
  $ petstore-harness check --list                 every id`;

/** Explains a row of a report: what the document says, what is sent, what it costs, what breaks it. */
export async function explain(id: string): Promise<string> {
  const requirement = requirements.find((row) => row.id === id);
  const gap = gaps.find((row) => row.id === id);
  if (requirement !== undefined) return requirementText(requirement);
  if (gap !== undefined) return gapText(gap);
  const field = Object.entries<TSchema>(profileSchema.properties).find(([name]) => name === id);
  if (field !== undefined) return fieldText(...field);
  const ids = [...requirements, ...gaps].map((row) => row.id);
  return knownName('requirement, gap or field of a profile', id, [
    ...ids,
    ...Object.keys(profileSchema.properties),
  ]);
}

async function requirementText({
  id,
  section,
  level,
  title,
  statement,
  clause,
  reading,
  excluded,
}: Requirement): Promise<string> {
  const check = allChecks.find((candidate) => candidate.id === id);
  const about = check === undefined ? [`Not checked: ${excluded}`] : await costLines(check);
  const faults = FAULTS.filter(({ breaks }) => currentId(breaks) === id);
  return lines(
    `${id} (section ${section}, ${level}): ${title}`,
    '',
    `The document: “${clause}”`,
    `Asked for:    ${statement}`,
    ...(reading === undefined
      ? []
      : [`Our reading:  ${reading}`, `To decline it, write in the profile: readings: { ${id}: declined }`]),
    ...about,
    ...(faults.length === 0 ? [] : ['', 'What breaks it, to try with petstore-harness serve --fault NAME:']),
    ...faults.map(({ name }) => `  ${name}`),
  );
}

/** What a run of this check alone sends, as a play of it shows. */
async function costLines(check: Check): Promise<string[]> {
  const { profile, values, close } = await startEmbeddedTarget();
  await close();
  const { bill, exchanges } = await planCheck({
    ...{ profile, values },
    permissions: PERMISSIONS,
    only: [check.id],
  });
  const scenes = [...groupBy(exchanges, ({ sentBy }) => sentBy.split(':')[0] ?? sentBy)].map(
    ([scene, sent]) => `${scene} (${sent.length})`,
  );
  return [
    `Permission:   ${check.permit ?? check.inFullWith ?? 'none is needed'}`,
    `Sent:         ${scenes.join(', ')}`,
    `Costs:        ${bill.requests.toLocaleString('en')} requests when it is asked for alone, with a key of each plan`,
  ];
}

function gapText({ id, section, question, answers, forms, open, unobservable }: Gap): string {
  const known = [...answers, ...forms, ...(open ? ['others, such as names of fields'] : [])];
  return lines(
    `${id} (section ${section}), which the document leaves open: ${question}`,
    '',
    unobservable === undefined ? `Answers:      ${known.join(', ')}` : `Not observed: ${unobservable}`,
    ...(unobservable === undefined
      ? [`To pin one, write in the profile: gaps: { ${id}: ${known[0] ?? '…'} }`]
      : []),
  );
}

function fieldText(id: string, { description, properties, items }: TSchema): string {
  const parts: readonly (readonly [string, TSchema])[] = Object.entries(
    properties ?? items?.properties ?? {},
  );
  const told = parts.map(([name, { description: what }]) => `  ${name.padEnd(14)} ${what ?? ''}`);
  return lines(`${id}, a field of a profile: ${description}`, ...told);
}

/** A label, or the name of a field: what follows it stands beside it in every line. */
const LABEL = /^(?:[A-Z][a-z ]+: +| {2}\S+ +)/;

function lines(...all: readonly string[]): string {
  const columns = columnsOf(process.stdout);
  const wrapped = all.flatMap((line) => {
    const [label = ''] = LABEL.exec(line) ?? [];
    return wrap(line.slice(label.length), { columns }, label);
  });
  return `${wrapped.join('\n')}\n`;
}

/** `explain`: one requirement or one gap, for the reader of a report. */
export const command = new Command('explain')
  .argument('<id>', 'a requirement, a gap or a field of the profile')
  .addHelpText('after', EXAMPLES)
  .action(async (id) => void process.stdout.write(await explain(id)));
