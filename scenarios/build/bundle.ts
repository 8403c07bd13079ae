import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { _, Ajv } from 'ajv';
import { build, type Plugin } from 'esbuild';
import { schemas } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { CAPACITY_STEP, CATALOGUE } from '../lib/catalogue.ts';
import { SCRIPTS, SHARED, scriptName } from '../runner/k6/script.ts';

const require = createRequire(import.meta.url);
// A CommonJS module without an ESM face; ajv documents this path.
const standaloneCode: typeof import('ajv/dist/standalone/index.js').default =
  require('ajv/dist/standalone').default;

/**
 * The format int64 for numbers from JSON.parse. Beyond 2^53 they may have been rounded. The validator then accepts the
 * number and says so, and the oracle looks at the text.
 */
const FORMATS = `
let rounded = false;
const contractFormats = {
  int64: (value) => {
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) rounded = true;
    return true;
  },
};
contractFormats.int64 = { type: 'number', validate: contractFormats.int64 };
export function beyondDoubles() {
  const was = rounded;
  rounded = false;
  return was;
}
`;

/** Source of an ES module that exports a validator for each body of the contract. */
function validatorsSource(): string {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    code: { source: true, esm: true, formats: _`contractFormats` },
  });
  ajv.addVocabulary(['components']);
  ajv.addFormat('int64', { type: 'number', validate: () => true });
  ajv.addSchema({ $id: 'contract', components: { schemas } }, 'contract');
  const at = (name: string) => `contract#/components/schemas/${name}`;
  const code = standaloneCode(ajv, { pets: at('Pets'), pet: at('Pet'), error: at('Error') });
  return `${FORMATS}\n${code}`;
}

/** Resolves `contract:validators`. */
export const contractPlugin: Plugin = {
  name: 'contract',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^contract:validators$/ }, () => ({ path: 'validators', namespace: 'contract' }));
    onLoad({ filter: /.*/, namespace: 'contract' }, () => ({
      contents: validatorsSource(),
      resolveDir: fileURLToPath(packageRoot),
    }));
  },
};

// `npm run build`: the scripts for k6, which have most of their code in common.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The names of shared files change with their content.
  await rm(SCRIPTS, { recursive: true, force: true });
  await build({
    entryPoints: [...new Set([...CATALOGUE, CAPACITY_STEP].map(scriptName))].map((name) =>
      fileURLToPath(new URL(`scenarios/${name}.ts`, packageRoot)),
    ),
    outdir: fileURLToPath(SCRIPTS),
    bundle: true,
    splitting: true,
    chunkNames: `${SHARED}[hash]`,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    external: ['k6', 'k6/*'],
    logLevel: 'warning',
    plugins: [contractPlugin],
  });
}
