/** Validates by JSON Schemas of this package's own: TypeBox compiles them, once it is told what kind of type each is. */
import { Kind, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** Data that nobody changes: the type of what a schema describes. */
export type Frozen<T> = T extends object ? { readonly [Field in keyof T]: Frozen<T[Field]> } : T;

/** What a schema says, keyword by keyword. */
export type Keywords = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, string>> = {
  object: 'Object',
  array: 'Array',
  string: 'String',
  number: 'Number',
  integer: 'Integer',
  boolean: 'Boolean',
  null: 'Null',
};

function keywordsOf(schema: unknown): Keywords {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new Error('a schema is an object');
  return { ...schema };
}

/**
 * TypeBox's type of a schema.
 *
 * @param own what stands for a schema that is read in a way of its own; undefined for any other
 */
export function typeOf(schema: unknown, own: (keywords: Keywords) => TSchema | undefined): TSchema {
  const keywords = keywordsOf(schema);
  const inner = (schema: unknown) => typeOf(schema, own);
  const all = (schemas: unknown) => (Array.isArray(schemas) ? schemas.map(inner) : []);
  const each = (schemas: unknown) =>
    Object.fromEntries(Object.entries(keywordsOf(schemas)).map(([name, one]) => [name, inner(one)]));
  const replaced = own(keywords);
  if (replaced !== undefined) return replaced;
  const { type, enum: choices, anyOf, allOf, properties, patternProperties, items, ...plain } = keywords;
  const { additionalProperties: others } = plain;
  if (Array.isArray(choices))
    return Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      plain,
    );
  if (Array.isArray(type)) return Type.Union(type.map((one) => inner({ ...keywords, type: one })));
  if (anyOf !== undefined) return Type.Union(all(anyOf), plain);
  if (allOf !== undefined) return Type.Intersect(all(allOf), plain);
  if ('const' in plain) return Type.Unsafe({ ...plain, [Kind]: 'Literal' });
  const kind = KINDS[String(type)];
  if (kind === undefined)
    throw new Error(`no schema of this package has ${Object.keys(keywords).join(', ')}`);
  return Type.Unsafe({
    ...plain,
    type,
    [Kind]: patternProperties === undefined ? kind : 'Record',
    ...(kind === 'Object' ? { properties: each(properties ?? {}) } : {}),
    ...(patternProperties === undefined ? {} : { patternProperties: each(patternProperties) }),
    ...(typeof others === 'object' ? { additionalProperties: inner(others) } : {}),
    ...(kind === 'Array' ? { items: items === undefined ? Type.Unknown() : inner(items) } : {}),
  });
}

/** The validator of a schema. */
export function compiled<T>(schema: unknown, own: Parameters<typeof typeOf>[1] = () => undefined) {
  return TypeCompiler.Compile(Type.Unsafe<T>(typeOf(schema, own)));
}
