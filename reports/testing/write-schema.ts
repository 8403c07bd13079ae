/** `npm run schemas`: writes the JSON Schema of report.json from its definition. */
import { writeFileSync } from 'node:fs';
import { packageRoot } from '../../spec/package-root.ts';
import { REPORT_SCHEMA } from '../report.ts';

writeFileSync(new URL('reports/report.schema.json', packageRoot), JSON.stringify(REPORT_SCHEMA, null, 2));
