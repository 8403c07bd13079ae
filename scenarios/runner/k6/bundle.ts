import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _, Ajv } from 'ajv';
import { build, type Plugin } from 'esbuild';
import { schemas } from '../../../spec/contract.ts';
import { packageRoot } from '../../../spec/package-root.ts';

const require = createRequire(import.meta.url);
// A CommonJS module without an ESM face; ajv documents this path.
const standaloneCode: typeof import('ajv/dist/standalone/index.js').default =
  require('ajv/dist/standalone').default;

/**
 * The format int64 on what JSON.parse made of a number: beyond 2^53 it may have been rounded, which only the text can
 * settle; the validator then lets it pass and says so.
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

/** Resolves `contract:validators`, and the harness's modules also where only their compiled form is installed. */
export const contractPlugin: Plugin = {
  name: 'contract',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^contract:validators$/ }, () => ({ path: 'validators', namespace: 'contract' }));
    onLoad({ filter: /.*/, namespace: 'contract' }, () => ({
      contents: validatorsSource(),
      resolveDir: fileURLToPath(packageRoot),
    }));
    onResolve({ filter: /\/checks\/wire\// }, ({ path }) => {
      const module = path.slice(path.indexOf('checks/wire/'));
      const source = fileURLToPath(new URL(module, packageRoot));
      if (existsSync(source)) return { path: source };
      return { path: fileURLToPath(new URL(`dist/${module.replace(/\.ts$/, '.js')}`, packageRoot)) };
    });
  },
};

/**
 * Bundles a scenario's script for k6 into `folder`, with a source map, so that k6's errors name the TypeScript line.
 *
 * @returns path of the script
 */
export async function bundleScenario(name: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const outfile = join(folder, 'script.js');
  const result = await build({
    entryPoints: [fileURLToPath(new URL(`scenarios/${name}.ts`, packageRoot))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    external: ['k6', 'k6/*'],
    sourcemap: true,
    logLevel: 'silent',
    plugins: [contractPlugin],
    write: false,
  });
  for (const file of result.outputFiles) await writeFile(file.path, file.contents, { mode: 0o600 });
  return outfile;
}
