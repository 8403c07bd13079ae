/**
 * For ajv, of schemas that are this package's own: compiling the schema of schemas to look them over takes a fifth of a
 * command's start. An unknown keyword, or a value of the wrong type for one, is refused all the same.
 */
export const ownSchemas = { validateSchema: false } as const;
