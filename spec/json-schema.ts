/** Parts that this package's own schemas have in common. TypeBox makes type, JSON Schema and validator of them. */
import { Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';

/** Data that nobody changes: the type of what a schema describes. */
export type Frozen<T> = T extends object ? { readonly [Field in keyof T]: Frozen<T[Field]> } : T;

export const text = Type.String();
export const texts = Type.Array(text);
export const number = Type.Number();
/** A number that is not below 0, and a whole one. */
export const amount = Type.Number({ minimum: 0 });
export const count = Type.Integer({ minimum: 0 });

/** TypeBox has no `enum` of texts. */
TypeRegistry.Set<TSchema>('Words', (schema, value) => schema['enum'].includes(value));

/** One of some words. */
export const words = <const W extends readonly string[]>(values: W, description?: string) =>
  Type.Unsafe<W[number]>({ [Kind]: 'Words', type: 'string', enum: values, description });

/** An object that has no other fields. */
export const exact = <P extends Record<string, TSchema>>(properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, description });

/** A value, or null where there is none. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], { description });

/** An object that has a value of one kind for each of some names. */
export const forEach = <const Names extends readonly string[], S extends TSchema>(
  names: Names,
  schema: S,
  description?: string,
) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, schema])) as Record<Names[number], S>, {
    description,
  });
