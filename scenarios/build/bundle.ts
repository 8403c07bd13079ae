import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { _, Ajv } from 'ajv';
import { build, type Plugin } from 'esbuild';
import { schemas } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { SCRIPT } from '../runner/load-run.ts';

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
const validate = (value) => {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) rounded = true;
  return true;
};
const contractFormats = { int64: { type: 'number', validate } };
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

// `npm run build`: the script for k6.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({
    entryPoints: [fileURLToPath(new URL('scenarios/script.ts', packageRoot))],
    outfile: fileURLToPath(SCRIPT),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    external: ['k6', 'k6/*'],
    logLevel: 'warning',
    plugins: [contractPlugin],
  });
}
