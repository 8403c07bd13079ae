import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createGenerator } from 'ts-json-schema-generator';
import { packageRoot } from '../spec/package-root.ts';

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows `$ref` within its own document. */
function resolve(document: Schema, schema: Schema): Schema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  let found: unknown = document;
  for (const part of ref.slice(2).split('/'))
    found = isSchema(found) ? found[decodeURIComponent(part)] : undefined;
  if (!isSchema(found)) throw new Error(`${ref} leads nowhere`);
  return resolve(document, found);
}

/**
 * What both dialects say of a type, without what only the hand-written schema bounds (lengths, ranges, patterns):
 * fields, which of them are required, types, constants, element types, alternatives.
 */
function shape(document: Schema, schema: Schema): unknown {
  const facts = resolve(document, schema);
  const alternatives = facts['anyOf'] ?? facts['oneOf'];
  if (Array.isArray(alternatives)) {
    return alternatives.map((one) => JSON.stringify(shape(document, isSchema(one) ? one : {}))).sort();
  }
  if ('const' in facts) return [facts['const']];
  const values = facts['enum'];
  if (Array.isArray(values)) return [...values].sort();
  const type = facts['type'] === 'integer' ? 'number' : facts['type'];
  if (type === 'array') {
    const { prefixItems, items, minItems, maxItems } = facts;
    // A tuple of one type throughout is also written as so many items of it.
    const alike = typeof maxItems === 'number' && maxItems === minItems && isSchema(items) ? maxItems : 0;
    const tuple =
      prefixItems ?? (Array.isArray(items) ? items : alike > 0 ? Array(alike).fill(items) : undefined);
    if (Array.isArray(tuple)) return tuple.map((one) => shape(document, isSchema(one) ? one : {}));
    return { everyItem: shape(document, isSchema(items) ? items : {}) };
  }
  if (type !== 'object') return Array.isArray(type) ? [...type].sort() : type;
  const properties = isSchema(facts['properties']) ? facts['properties'] : {};
  const others = facts['additionalProperties'];
  return {
    required: Array.isArray(facts['required']) ? [...facts['required']].sort() : [],
    fields: Object.fromEntries(
      Object.entries(properties)
        .map(([name, property]) => [name, shape(document, isSchema(property) ? property : {})] as const)
        .sort(([a], [b]) => a.localeCompare(b)),
    ),
    others: isSchema(others) ? shape(document, others) : others,
  };
}

/** The types that other tools read, and where the schema of each is. */
const DESCRIBED = [
  { type: 'Report', source: 'reports/report.ts', schema: 'reports/report.schema.json' },
  {
    type: 'CapacityResult',
    source: 'scenarios/runner/capacity/capacity.ts',
    schema: 'reports/capacity.schema.json',
  },
];

for (const { type, source, schema } of DESCRIBED) {
  t.test(`${schema} and the type ${type} describe the same`, async (t) => {
    const fromType: unknown = createGenerator({
      path: fileURLToPath(new URL(source, packageRoot)),
      tsconfig: fileURLToPath(new URL('tsconfig.json', packageRoot)),
      type,
      skipTypeCheck: true,
      additionalProperties: false,
    }).createSchema(type);
    const written: unknown = JSON.parse(readFileSync(new URL(schema, packageRoot), 'utf8'));
    if (!isSchema(fromType) || !isSchema(written)) throw new Error('no schema');
    t.same(shape(written, written), shape(fromType, fromType));
  });
}
