/**
 * The contract as data: requirements.yaml and petstore.openapi.yaml, read once, checked, typed.
 * Every limit, path and schema that the checks use comes from here.
 */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { ownSchemas } from './own-schemas.ts';
import { packageRoot } from './package-root.ts';

/** A statement of the document that binds a target. */
export interface Requirement {
  /** Stable and mnemonic; also the id of the check, where there is one. */
  readonly id: string;
  readonly section: string;
  readonly level: 'MUST' | 'MAY';
  readonly title: string;
  readonly statement: string;
  /** Why no check exists; absent where one does. */
  readonly excluded?: string;
}

/** A question that the document leaves open. */
export interface Gap {
  readonly id: string;
  readonly section: string;
  readonly question: string;
  /** The known answers by name. */
  readonly answers: readonly string[];
  /** The forms of answers that have a part of their own, in angle brackets: `rejected-<status>`, `<number>-seconds`. */
  readonly forms: readonly string[];
  /** Whether answers occur that have no form either (names of fields). */
  readonly open: boolean;
  /** Why no run can see the answer; absent where a run reports one. */
  readonly unobservable?: string;
  /**
   * How an answer is held to a pinned one that need not come again as it is: a run sees a part of a set, depending on
   * its permissions, or another number each time. No run pins such an answer by itself.
   */
  readonly heldTo?: 'subset' | 'form';
}

/** Whether an answer is the one that a profile pins. */
export function keepsPinned({ heldTo }: Pick<Gap, 'heldTo'>, pinned: string, answer: string): boolean {
  if (heldTo === 'form') return pinned.replaceAll(/\d+/g, '#') === answer.replaceAll(/\d+/g, '#');
  if (heldTo !== 'subset') return pinned === answer;
  const promised = pinned.split(', ');
  return answer === 'none' || answer.split(', ').every((part) => promised.includes(part));
}

/** The numbers and names of the document that checks need. */
export interface ContractNumbers {
  /** Section 8, "Page size". */
  readonly limit: { readonly minimum: number; readonly maximum: number; readonly default: number };
  /** Section 2, PetStatus. */
  readonly statuses: readonly string[];
  /** Section 8, "Request rate by plan"; enterprise is custom. */
  readonly plans: Readonly<Record<'free' | 'pro' | 'business', { perMinute: number; perDay: number }>>;
  /** Section 4.3: the day on which GET /pets/{petId} is removed, as `YYYY-MM-DD`. */
  readonly removalDate: string;
}

const ajv = new Ajv({ ...ownSchemas, strict: true, allErrors: true, useDefaults: true });

const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', items: text };
const integer = { type: 'integer' };

const object = (properties: Record<string, object>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** Rows with these fields, and perhaps those; they have no others. */
const rowsOf = (required: Record<string, object>, perhaps: Record<string, object>) => {
  const row = object({
    id: { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' },
    section: text,
    ...required,
  });
  const properties = { ...row.properties, ...perhaps };
  return { type: 'array', items: { ...row, properties, additionalProperties: false } };
};

const isRequirementsFile = ajv.compile<{ requirements: Requirement[]; gaps: Gap[] }>({
  ...object({
    requirements: rowsOf(
      { level: { enum: ['MUST', 'MAY'] }, title: text, statement: text },
      { excluded: text },
    ),
    gaps: rowsOf(
      { question: text },
      {
        answers: { ...texts, default: [] },
        forms: { ...texts, default: [] },
        open: { type: 'boolean', default: false },
        unobservable: text,
        heldTo: { enum: ['subset', 'form'] },
      },
    ),
  }),
  additionalProperties: false,
});

interface OpenApiParts {
  readonly 'x-rate-limit-plans': ContractNumbers['plans'];
  readonly paths: { readonly '/pets/{petId}': { readonly get: { readonly 'x-removal-date': string } } };
  readonly components: {
    readonly parameters: { readonly Limit: { readonly schema: ContractNumbers['limit'] } };
    readonly schemas: { readonly PetStatus: { readonly enum: string[] } } & Readonly<Record<string, object>>;
  };
}

const planNumbers = object({ perMinute: integer, perDay: integer });

const hasOpenApiParts = ajv.compile<OpenApiParts>(
  object({
    'x-rate-limit-plans': object({ free: planNumbers, pro: planNumbers, business: planNumbers }),
    paths: object({
      '/pets/{petId}': object({ get: object({ 'x-removal-date': { type: 'string', minLength: 10 } }) }),
    }),
    components: object({
      parameters: object({
        Limit: object({ schema: object({ minimum: integer, maximum: integer, default: integer }) }),
      }),
      schemas: {
        ...object({ PetStatus: object({ enum: texts }) }),
        additionalProperties: { type: 'object' },
      },
    }),
  }),
);

function readYaml(name: string): unknown {
  return parse(readFileSync(new URL(`spec/${name}`, packageRoot), 'utf8'));
}

function load<T>(name: string, isValid: ((value: unknown) => value is T) & { errors?: unknown }): T {
  const value = readYaml(name);
  if (!isValid(value)) {
    throw new Error(`spec/${name} is not as it should be: ${JSON.stringify(isValid.errors)}`);
  }
  return value;
}

const rows = load('requirements.yaml', isRequirementsFile);
const openApi = load('petstore.openapi.yaml', hasOpenApiParts);

/** Every statement of the document that binds a target, in the document's order. */
export const requirements: readonly Requirement[] = rows.requirements;

/** Every question that the document leaves open. */
export const gaps: readonly Gap[] = rows.gaps;

/** `components.schemas` of petstore.openapi.yaml. */
export const schemas: Readonly<Record<string, object>> = openApi.components.schemas;

/** The numbers and names of the document that checks need. */
export const contract: ContractNumbers = {
  limit: openApi.components.parameters.Limit.schema,
  statuses: openApi.components.schemas.PetStatus.enum,
  plans: openApi['x-rate-limit-plans'],
  removalDate: openApi.paths['/pets/{petId}'].get['x-removal-date'],
};

/** The requirement with this id; throws for an unknown one, which only a mistake in the harness can cause. */
export function requirement(id: string): Requirement {
  const row = requirements.find((candidate) => candidate.id === id);
  if (row === undefined) throw new Error(`spec/requirements.yaml has no requirement ${id}`);
  return row;
}
