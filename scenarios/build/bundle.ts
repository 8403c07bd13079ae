import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { build, type Plugin } from 'esbuild';
import { schemas } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { SCRIPT } from '../runner/load-run.ts';

const require = createRequire(import.meta.url);
// A CommonJS module without an ESM face; ajv documents this path.
const standaloneCode: typeof import('ajv/dist/standalone/index.js').default =
  require('ajv/dist/standalone').default;

/** Source of an ES module that exports a validator for each body of the contract. */
function validatorsSource(): string {
  const ajv = new Ajv({ strict: true, strictTypes: false, code: { source: true, esm: true } });
  ajv.addVocabulary(['components']);
  // What it is after JSON.parse says nothing of its digits: the oracle looks at the text.
  ajv.addFormat('int64', true);
  ajv.addSchema({ $id: 'contract', components: { schemas } }, 'contract');
  const at = (name: string) => `contract#/components/schemas/${name}`;
  return standaloneCode(ajv, { pets: at('Pets'), pet: at('Pet'), error: at('Error') });
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
