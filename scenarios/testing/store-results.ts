/**
 * `npm run store:load`: runs a load and a search for a capacity, and stores their results beside this file, for the tests
 * of what renders and compares them. The load has something of everything: errors, a broken contract, refusals.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIRECT } from '../../checks/wire/access.ts';
import { startMeasured } from '../../reference-server/bench/measured-server.ts';
import { scenarioNamed } from '../lib/catalogue.ts';
import { measureCapacity } from '../runner/capacity/measure.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { runLoad } from '../runner/load-run.ts';
import { BOUNDLESS, startEmbeddedTarget } from '../runner/quota/load-target.ts';

const facts = scenarioNamed('abusive-client');
const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
const out = await mkdtemp(join(tmpdir(), 'store-results-'));
const store = (name: string, result: object) =>
  writeFile(new URL(name, import.meta.url), `${JSON.stringify(result)}\n`);
try {
  const target = await startEmbeddedTarget({ clockSpeed: 20, fault: 'ban-of-the-plan' });
  const loaded = await runLoad({
    facts,
    target,
    k6,
    out,
    runId: '7f3a91c2',
    rate: 40,
    slo: 'errors<0.1%,violations==0,p99<500ms',
  });
  await target.close();
  await store('load-report.json', loaded);
  const key = 'a-key-for-the-store';
  const known = await startMeasured({ serviceMs: 1000 / 200 });
  const slo = 'p99<200ms,errors<0.1%';
  const env = 'PETSTORE_STORE_KEY';
  const searched = {
    address: known.url,
    access: DIRECT,
    keys: [{ name: 'load', plan: 'enterprise' as const, env, roles: ['load'], ...BOUNDLESS }],
    secrets: { [env]: key },
    permit: [],
    clockSpeed: 1,
  };
  const found = await measureCapacity({ target: searched, runId: '7f3a91c2', slo, out, k6 });
  known.close();
  await store('capacity.json', found);
} finally {
  await rm(out, { recursive: true, force: true });
}
