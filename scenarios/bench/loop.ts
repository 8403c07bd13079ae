/**
 * The speed of our script, compared with a k6 loop that does nothing but `http.get` and discards bodies. The two take
 * turns against the same server, on 20 connections, as fast as they can.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIRECT } from '../../checks/wire/access.ts';
import { BOUNDLESS, startMeasured } from '../../reference-server/bench/measured-server.ts';
import { CAPACITY_STEP } from '../lib/catalogue.ts';
import type { LoadPlan } from '../lib/messages.ts';
import { median } from '../lib/statistics.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { runK6 } from '../runner/k6/k6-process.ts';
import { placeScript } from '../runner/load-run.ts';
import { prepareLoad } from '../runner/quota/prepare.ts';

const ROUNDS = 5;
const SECONDS = 5;
const CONNECTIONS = 20;
const KEY = 'a-key-for-the-bench';
const ENV = 'PETSTORE_BENCH_KEY';
const AS_FAST_AS_POSSIBLE = { executor: 'constant-vus', vus: CONNECTIONS, duration: `${SECONDS}s` };

/** Both tell in a line of their log how many requests they made. */
const bareScript = (url: string) => `import http from 'k6/http';
export const options = { vus: ${CONNECTIONS}, duration: '${SECONDS}s', discardResponseBodies: true };
const params = { headers: { Authorization: 'Bearer ${KEY}' } };
export default function () { http.get('${url}/pets', params); }
export function handleSummary({ metrics }) { console.log('made ' + metrics.http_reqs.values.count); return {}; }
`;

function ourPlan(url: string, validateEvery: number): LoadPlan {
  const target = {
    address: url,
    keys: [{ name: 'bench', plan: 'enterprise' as const, env: ENV, roles: ['load'], ...BOUNDLESS }],
    secrets: {},
    permit: [],
    clockSpeed: 1,
    access: DIRECT,
  };
  const plan = prepareLoad({ facts: CAPACITY_STEP, target, runId: 'bench', validateEvery });
  const now = Date.now();
  return {
    ...plan,
    clock: { from: now, at: now, speed: 1 },
    rate: 1e6,
    options: { ...plan.options, scenarios: { step: AS_FAST_AS_POSSIBLE } },
  };
}

/** @returns how many requests the script made; Go's settings are those of a k6 that is started by hand, or ours */
async function made(k6: string, script: string, environment: Record<string, string>): Promise<number> {
  let requests = 0;
  const problems: string[] = [];
  const { code } = await runK6({
    k6,
    script,
    options: [],
    environment,
    onLine(line) {
      requests = Number(/(?:made |dropped\\":\d+,\\"requests\\":)(\d+)/.exec(line)?.[1] ?? requests);
      if (line.includes('violation')) problems.push(line);
    },
    onProblem: (line) => problems.push(line),
  });
  if (code !== 0 || problems.length > 0) throw new Error(`k6 ended with ${code}: ${problems[0]}`);
  return requests;
}

/** Our requests per second divided by those of the bare loop: with one body in a hundred validated, and with all. */
export async function measureLoop(): Promise<{ readonly sampled: number; readonly everyBody: number }> {
  const { path } = await provideK6((line) => process.stderr.write(`${line}\n`));
  const folder = await mkdtemp(join(tmpdir(), 'bench-load-'));
  const server = await startMeasured({ key: KEY });
  try {
    const bare = join(folder, 'bare.js');
    await writeFile(bare, bareScript(server.url));
    const ours = (validateEvery: number) =>
      placeScript(join(folder, `every-${validateEvery}`), ourPlan(server.url, validateEvery));
    const [sampled, everyBody] = [await ours(100), await ours(1)];
    const ratios = { sampled: [] as number[], everyBody: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const limit = await made(path, bare, { GOGC: '100', GOMEMLIMIT: 'off' });
      ratios.sampled.push((await made(path, sampled, { [ENV]: KEY })) / limit);
      ratios.everyBody.push((await made(path, everyBody, { [ENV]: KEY })) / limit);
    }
    return { sampled: median(ratios.sampled), everyBody: median(ratios.everyBody) };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
