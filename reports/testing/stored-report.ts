/**
 * `npm run fixtures`: checks the embedded server, with a few faults and writes permitted, and stores its report.json, so
 * that every format is also tried on what a real run finds.
 */
import { writeFileSync } from 'node:fs';
import { check, serve } from '../../cli/library.ts';
import { packageRoot } from '../../spec/package-root.ts';

const faults = ['list-status-upper-case', 'limit-plus-one', 'animal-without-name', 'unauthorized-as-html'];
await using server = await serve({ faults, port: 4811 });
const keys = server.keys
  .filter(({ name }) => ['free-1', 'pro-1'].includes(name))
  .map(({ name, plan, value }) => ({ name, plan, value }));
const report = await check({ target: server.address, keys, permit: ['writes'] });
const broken = report.requirements.filter(({ verdict }) => verdict === 'fail');
const proofs = new Set(broken.flatMap(({ evidence }) => evidence.slice(0, 1)));
const exchanges = report.exchanges.filter(({ id }) => proofs.has(id));
writeFileSync(
  new URL('reports/testing/report.json', packageRoot),
  JSON.stringify({ ...report, exchanges, timeline: report.timeline.slice(0, 40) }),
);
