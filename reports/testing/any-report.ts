import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox';
import fc from 'fast-check';
import { REPORT_SCHEMA, type Report } from '../report.ts';
import { HOSTILE_STRINGS } from './hostile-text.ts';

const text = fc.oneof(
  { weight: 60, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 40, arbitrary: fc.constantFrom(...HOSTILE_STRINGS) },
  { weight: 1, arbitrary: fc.constant('<b>A\u202e'.repeat(20_000)) },
);

/** Any string of a schema. */
function anyText({ pattern, format, minLength = 0, enum: choices }: TSchema): fc.Arbitrary<unknown> {
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toISOString());
  if (pattern === '^/') return text.map((one) => `/${one}`);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return minLength > 0 ? text.filter((one) => one.length >= minLength) : text;
}

/** Any value of a schema, as far as report.json uses TypeBox. */
function anyOf(schema: TSchema): fc.Arbitrary<unknown> {
  const { anyOf: alternatives, type, minimum, maximum, exclusiveMinimum } = schema;
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(alternatives)) return fc.oneof(...alternatives.map(anyOf));
  switch (type) {
    case 'string':
      return anyText(schema);
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum ?? 0, max: maximum ?? 1_000_000 });
    case 'number':
      return fc.double({
        min: minimum ?? exclusiveMinimum ?? -1e6,
        max: maximum ?? 1e9,
        minExcluded: exclusiveMinimum === 0,
        noNaN: true,
      });
    case 'array': {
      const { minItems = 0, maxItems = 4 } = schema;
      return fc.array(anyOf(schema['items']), { minLength: minItems, maxLength: maxItems });
    }
    case 'object':
      return schema[Kind] === 'Record' ? fc.dictionary(text, fc.nat()) : anyObject(schema);
    default:
      throw new Error(`no arbitrary for ${JSON.stringify(schema)}`);
  }
}

function anyObject({ properties }: TSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries<TSchema>(properties);
  return fc.record(Object.fromEntries(fields.map(([name, one]) => [name, anyOf(one)])), {
    requiredKeys: fields.filter(([, one]) => !(OptionalKind in one)).map(([name]) => name),
  });
}

/** Any report that the schema of report.json allows, hostile texts included. */
export const anyReport: fc.Arbitrary<Report> = anyOf(REPORT_SCHEMA).map((report) => report as Report);
