/** `npm run schemas`: writes the schemas of the results that the package publishes, each from its one definition. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../spec/package-root.ts';
import { CapacityShape } from '../runner/capacity/result.ts';
import { LoadResultShape } from '../runner/result/load-result.ts';

/** The files, and what is to be in them. */
export const PUBLISHED = new Map([
  [
    new URL('scenarios/load-result.schema.json', packageRoot),
    `${JSON.stringify(LoadResultShape, null, 2)}\n`,
  ],
  [new URL('scenarios/capacity.schema.json', packageRoot), `${JSON.stringify(CapacityShape, null, 2)}\n`],
]);

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [file, text] of PUBLISHED) writeFileSync(file, text);
