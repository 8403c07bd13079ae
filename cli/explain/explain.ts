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
import { startEmbeddedTarget } from '../check/check-subject.ts';
import { knownName } from '../shared/option-values.ts';
import { columnsOf, printTable } from '../shared/screen.ts';

const EXAMPLES = `
Examples:
  $ petstore-harness explain list-limit-fills     a requirement
  $ petstore-harness explain limit-out-of-range   a gap, and its known answers
  $ petstore-harness explain tls                  a field of the profile
  $ petstore-harness check --list                 every id`;

/** A line, and facts below it. */
type Explained = readonly [head: string, facts: readonly (readonly string[])[]];

/** What the document says of a row, what is sent, what it costs, what breaks it; what a field of a profile holds. */
async function explained(id: string): Promise<Explained> {
  const requirement = requirements.find((row) => row.id === id);
  const gap = gaps.find((row) => row.id === id);
  const fields = Object.entries<TSchema>(profileSchema.properties);
  const field = fields.find(([name]) => name === id);
  if (requirement !== undefined) return ofRequirement(requirement);
  if (gap !== undefined) return ofGap(gap);
  if (field !== undefined) return ofField(...field);
  const ids = [...requirements, ...gaps].map((row) => row.id);
  const known = [...ids, ...fields.map(([name]) => name)];
  return [knownName('requirement, gap or field of a profile', id, known), []];
}

async function ofRequirement(row: Requirement): Promise<Explained> {
  const { id, section, level, title, statement, clause, reading, excluded = '' } = row;
  const check = allChecks.find((candidate) => candidate.id === id);
  const faults = FAULTS.filter(({ breaks }) => currentId(breaks) === id).map(({ name }) => name);
  return [
    `${id} (section ${section}, ${level}): ${title}`,
    [
      ['The document:', `“${clause}”`],
      ['Asked for:', statement],
      ...(reading === undefined
        ? []
        : [
            ['Our reading:', reading],
            ['To decline it:', `write in the profile: readings: { ${id}: declined }`],
          ]),
      ...(check === undefined ? [['Not checked:', excluded]] : await costsOf(check)),
      ...faults.map((name) => ['To break it:', `petstore-harness serve --fault ${name}`]),
    ],
  ];
}

/** What a run of this check alone sends, as a play of it shows. */
async function costsOf({ id, permit, inFullWith }: Check): Promise<Explained[1]> {
  const { profile, close } = await startEmbeddedTarget();
  await close();
  const { bill, exchanges } = await planCheck({ profile, permissions: PERMISSIONS, only: [id] });
  const scenes = [...groupBy(exchanges, ({ sentBy }) => sentBy.split(':')[0] ?? sentBy)].map(
    ([scene, sent]) => `${scene} (${sent.length})`,
  );
  const requests = bill.requests.toLocaleString('en');
  return [
    ['Permission:', permit ?? inFullWith ?? 'none is needed'],
    ['Sent:', scenes.join(', ')],
    ['Costs:', `${requests} requests when it is asked for alone, with a key of each plan`],
  ];
}

function ofGap({ id, section, question, answers, forms, open, unobservable }: Gap): Explained {
  const known = [...answers, ...forms, ...(open ? ['others, such as names of fields'] : [])];
  return [
    `${id} (section ${section}), which the document leaves open: ${question}`,
    unobservable === undefined
      ? [
          ['Answers:', known.join(', ')],
          ['To pin one:', `write in the profile: gaps: { ${id}: ${known[0] ?? '…'} }`],
        ]
      : [['Not observed:', unobservable]],
  ];
}

function ofField(id: string, { description, properties, items }: TSchema): Explained {
  const parts = Object.entries<TSchema>(properties ?? items?.properties ?? {});
  return [
    `${id}, a field of a profile: ${description}`,
    parts.map(([name, part]) => [name, part.description ?? '']),
  ];
}

/** `explain`: one requirement or one gap, for the reader of a report. */
export const command = new Command('explain')
  .argument('<id>', 'a requirement, a gap or a field of the profile')
  .addHelpText('after', EXAMPLES)
  .action(async (id) => {
    const [head, facts] = await explained(currentId(id));
    process.stdout.write(`${wrap(head, { columns: columnsOf(process.stdout) }, '').join('\n')}\n\n`);
    printTable(facts);
  });
