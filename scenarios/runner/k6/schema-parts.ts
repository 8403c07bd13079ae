/** Parts of the JSON Schemas of what k6 and its scripts tell the runner. */
export const text = { type: 'string' } as const;
export const number = { type: 'number' } as const;

/** An object that has all of these; others too. */
export const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});
