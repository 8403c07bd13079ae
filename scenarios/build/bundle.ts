import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { schemas } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { SCRIPT } from '../runner/load-run.ts';

/** The contract as k6 gets it: its schemas as data, since k6 reads no YAML. */
const contractPlugin: Plugin = {
  name: 'contract',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]spec[\\/]contract\.ts$/ }, () => ({
      contents: `export const schemas = ${JSON.stringify(schemas)}`,
    }));
  },
};

/** How `npm run build` bundles the script for k6. */
export const FOR_K6 = {
  entryPoints: [fileURLToPath(new URL('scenarios/script.ts', packageRoot))],
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  external: ['k6', 'k6/*'],
  plugins: [contractPlugin],
} satisfies BuildOptions;

if (process.argv[1] === fileURLToPath(import.meta.url))
  await build({ ...FOR_K6, outfile: fileURLToPath(SCRIPT) });
