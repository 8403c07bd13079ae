/**
 * The folder of package.json, with a trailing slash: data files are found from it, from source and from dist/ alike.
 */
export const packageRoot = new URL('.', import.meta.resolve('petstore-harness/package.json'));
