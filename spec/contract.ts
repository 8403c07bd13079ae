/** The contract as data: requirements.yaml and petstore.openapi.yaml, read once, checked, typed. */
import { readFileSync } from 'node:fs';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parse } from 'yaml';
import { exact, type Frozen, words } from './json-schema.ts';
import { packageRoot } from './package-root.ts';
import { PERMISSIONS } from './permissions.ts';
import { PLAN_NAMES, PLANS, type PlanName, planTitle } from './plans.ts';

const text = Type.String({ minLength: 1 });
const texts = Type.Array(text, { default: [] });
const row = {
  /** Stable and mnemonic; also the id of the check, where there is one. */
  id: Type.String({ pattern: '^[a-z0-9{}]+(-[a-z0-9{}]+)*$' }),
  /** Its ids in earlier versions: what names one of them names this row. */
  formerly: texts,
  section: text,
};

const RequirementRow = exact({
  ...row,
  level: words(['MUST', 'MAY']),
  title: text,
  /** What is asked of a target, in our words. */
  statement: text,
  /** The document's words, to the letter; `[…]` stands between those that lie apart. */
  clause: text,
  /** Why what is asked is our inference; absent where the clause states it. A profile may decline it. */
  reading: Type.Optional(text),
  /** Ids of readings that are broken with this one, in other answers too: they are not held against who declines it. */
  brings: Type.Optional(Type.Array(text)),
  /** The permission without which a run cannot verify it; absent where none is needed. */
  permit: Type.Optional(words(PERMISSIONS)),
  /** The plan that it is about, filled in where a row is one of each plan. */
  plan: Type.Optional(words(PLAN_NAMES)),
  /** Why no check exists; absent where one does. */
  excluded: Type.Optional(text),
});

const GapRow = exact({
  ...row,
  question: text,
  /** The document's words that leave it open. */
  clause: text,
  /** The known answers by name. */
  answers: texts,
  /** The forms of answers that have a part of their own, in angle brackets: `rejected-<status>`. */
  forms: texts,
  /** Whether answers occur that have no form either (names of fields). */
  open: Type.Boolean({ default: false }),
  /** Why no run can see the answer; absent where a run reports one. */
  unobservable: Type.Optional(text),
  /**
   * How an answer is held to a pinned one that need not come again as it is: a run sees a part of a set, depending on
   * its permissions, or another number each time. No run pins such an answer by itself.
   */
  heldTo: Type.Optional(words(['subset', 'form'])),
});

/** A statement of the document that binds a target. */
export type Requirement = Readonly<Static<typeof RequirementRow>>;

/** A question that the document leaves open. */
export type Gap = Readonly<Static<typeof GapRow>>;

/** Whether an answer is the one that a profile pins. */
export function keepsPinned({ heldTo }: Pick<Gap, 'heldTo'>, pinned: string, answer: string): boolean {
  if (heldTo === 'form') return pinned.replaceAll(/\d+/g, '#') === answer.replaceAll(/\d+/g, '#');
  if (heldTo !== 'subset') return pinned === answer;
  const promised = pinned.split(', ');
  return answer === 'none' || answer.split(', ').every((part) => promised.includes(part));
}

function load<S extends TSchema>(name: string, schema: S): Static<S> {
  const text = readFileSync(new URL(`spec/${name}`, packageRoot), 'utf8');
  return Value.Parse(['Default', 'Assert'], schema, parse(text));
}

const rows = load(
  'requirements.yaml',
  exact({ requirements: Type.Array(RequirementRow), gaps: Type.Array(GapRow) }),
);
/** A schema of the OpenAPI file: as much of JSON Schema as the file takes. */
const ContractSchema = Type.Recursive((Self) =>
  exact({
    $ref: Type.Optional(text),
    allOf: Type.Optional(Type.Array(Self)),
    type: Type.Optional(words(['object', 'array', 'string', 'integer'])),
    format: Type.Optional(Type.Literal('int64')),
    enum: Type.Optional(texts),
    items: Type.Optional(Self),
    properties: Type.Optional(Type.Record(text, Self)),
    required: Type.Optional(texts),
    description: Type.Optional(text),
  }),
);
export type ContractSchema = Frozen<Static<typeof ContractSchema>>;

const openApi = load(
  'petstore.openapi.yaml',
  Type.Object({ components: Type.Object({ schemas: Type.Record(Type.String(), ContractSchema) }) }),
);

/** The row of a plan, from a row of all plans. */
function rowOfPlan(row: Requirement, plan: PlanName): Requirement {
  const limits = PLANS[plan];
  const count = (number: number | undefined) => number?.toLocaleString('en') ?? 'custom';
  const requests = (number: number | undefined) =>
    number === undefined ? 'the custom number of requests' : `${count(number)} requests`;
  const parts: Readonly<Record<string, string>> = {
    plan,
    Plan: planTitle(plan),
    perMinute: requests(limits?.perMinute),
    perDay: requests(limits?.perDay),
    row: `${planTitle(plan)} | ${count(limits?.perMinute)} | ${count(limits?.perDay)}`,
  };
  const filled = (template: string) => template.replaceAll(/\{(\w+)\}/g, (_, name) => parts[name] ?? '');
  const { id, title, statement, clause } = row;
  return {
    ...row,
    id: filled(id),
    title: filled(title),
    statement: filled(statement),
    clause: filled(clause),
    plan,
  };
}

/** Every statement of the document that binds a target, in the document's order. */
export const requirements: readonly Requirement[] = rows.requirements.flatMap((row) =>
  row.id.includes('{plan}') ? PLAN_NAMES.map((plan) => rowOfPlan(row, plan)) : [row],
);

/** Rows of a user's own, which are not the document's. */
const own = new Map<string, Requirement>();

/** Makes a row of a user's own known. @returns what is wrong with it, undefined where nothing is */
export function declareOwn(row: Requirement): string | undefined {
  if (!Value.Check(RequirementRow, { ...row, clause: 'none' }))
    return 'has no id like ours-request-id, or no statement';
  if (requirements.some(({ id, formerly }) => id === row.id || formerly.includes(row.id)))
    return "has the id of one of the document's";
  own.set(row.id, row);
  return undefined;
}

/** The document's rows, and those of a user's own. */
export const everyRow = (): readonly Requirement[] => [...requirements, ...own.values()];

/** Every question that the document leaves open. */
export const gaps: readonly Gap[] = rows.gaps;

const formerIds = new Map(
  [...requirements, ...gaps].flatMap(({ id, formerly }) => formerly.map((former) => [former, id])),
);

/**
 * The id that a row has today by one that it had in any version; what is the id of no row stays as it is. To be asked
 * wherever a baseline, a profile or a command names one.
 */
export const currentId = (id: string): string => formerIds.get(id) ?? id;

/** The requirement with this id; throws for an unknown one, which only a mistake in the harness can cause. */
export function requirement(id: string): Requirement {
  const row = own.get(id) ?? requirements.find((candidate) => candidate.id === id);
  if (row === undefined) throw new Error(`spec/requirements.yaml has no requirement ${id}`);
  return row;
}

/** `components.schemas` of petstore.openapi.yaml. */
export const schemas: Readonly<Record<string, ContractSchema>> = openApi.components.schemas;
