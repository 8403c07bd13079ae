/**
 * `npm run store:load`: runs a load and a search for a capacity, and stores their results beside this file, for the tests
 * of what renders and compares them. The load has something of everything: errors, a broken contract, refusals.
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scenarioNamed } from '../lib/catalogue.ts';
import { startKnownServer } from '../proofs/known-capacity-server.ts';
import { measureCapacity } from '../runner/capacity/measure-capacity.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { runLoad } from '../runner/load-run.ts';
import { startEmbeddedTarget } from '../runner/quota/load-target.ts';

const facts = scenarioNamed('abusive-client');
if (facts === undefined) throw new Error('no abusive-client');
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
const out = await mkdtemp(join(tmpdir(), 'store-results-'));
const store = (name: string) => copyFile(join(out, name), fileURLToPath(new URL(name, import.meta.url)));
try {
  const target = await startEmbeddedTarget({ clockSpeed: 20, fault: 'ban-of-the-plan' });
  await runLoad({
    facts,
    target,
    k6,
    out,
    runId: '7f3a91c2',
    rate: 40,
    slo: 'errors<0.1%,violations==0,p99<500ms',
  });
  await target.close();
  await store('load-report.json');
  const known = await startKnownServer(1000 / 200);
  const slo = 'p99<200ms,errors<0.1%';
  const run = { target: known, runId: '7f3a91c2', slo, out, k6Version: k6.version };
  await measureCapacity({ ...run, run: (step) => runLoad({ ...step, k6 }) });
  known.close();
  await store('capacity.json');
} finally {
  await rm(out, { recursive: true, force: true });
}
