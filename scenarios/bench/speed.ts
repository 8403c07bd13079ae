/**
 * The speed of our scenarios' requests, compared with a k6 loop that does nothing but `http.get` and discards bodies.
 * The two take turns against the same server, on 20 connections, as fast as they can.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from 'simple-statistics';
import { createRedactor } from '../../checks/wire/redaction.ts';
import { startMeasured } from '../../reference-server/bench/start-measured.ts';
import { CAPACITY_STEP } from '../lib/catalogue.ts';
import type { LoadPlan } from '../lib/scenario.ts';
import { ANIMALS } from '../proofs/known-capacity-server.ts';
import { EventLog } from '../runner/k6/event-log.ts';
import { provideK6 } from '../runner/k6/k6-binary.ts';
import { OWN_FIGURES, startK6 } from '../runner/k6/k6-process.ts';
import { placeScript } from '../runner/k6/script.ts';
import { SampleStore } from '../runner/result/sample-store.ts';
import { freeAddress } from '../runner/shards/shards.ts';

const ROUNDS = 5;
const SECONDS = 5;
const CONNECTIONS = 20;
const PLAN = { perMinute: 100_000_000, perDay: 1_000_000_000 };

interface Contender {
  readonly name: string;
  readonly script: string;
  readonly options: readonly string[];
  /** The file with k6's own summary; undefined if k6 reports to a runner that takes in its samples, as in a real run. */
  readonly summaryFile: string | undefined;
}

function bareScript(url: string, summaryFile: string): string {
  return `import http from 'k6/http';
export const options = { vus: ${CONNECTIONS}, duration: '${SECONDS}s', discardResponseBodies: true };
const params = { headers: { Authorization: 'Bearer a-key-for-the-bench' } };
export default function () { http.get('${url}/pets', params); }
export function handleSummary(data) { return { ${JSON.stringify(summaryFile)}: JSON.stringify(data) }; }
`;
}

function ourPlan(url: string, control: string, validateEvery: number): LoadPlan {
  const now = Date.now();
  return {
    scenario: 'capacity',
    runId: 'bench',
    target: url,
    keys: [{ name: 'bench', plan: 'enterprise', env: 'PETSTORE_BENCH_KEY', ...PLAN }],
    streams: [{ name: 'step', keys: [0], schedule: [0], expects429: false }],
    mix: { listPets: 100, createPet: 0, getPet: 0 },
    validateEvery,
    lists: 'plain',
    clock: { from: now, at: now, speed: 1 },
    seconds: SECONDS,
    samples: { categoryId: '1', ids: ['1'] },
    control,
    options: {
      scenarios: { step: { executor: 'constant-vus', vus: CONNECTIONS, duration: `${SECONDS}s` } },
      systemTags: [],
    },
  };
}

async function contenders(url: string, folder: string): Promise<Contender[]> {
  const bare = join(folder, 'bare.js');
  const bareSummary = join(folder, 'bare.json');
  await writeFile(bare, bareScript(url, bareSummary));
  const made: Contender[] = [{ name: 'bare k6', script: bare, options: [], summaryFile: bareSummary }];
  for (const [name, validateEvery] of [
    ['ours, 1 body in 100', 100],
    ['ours, every body', 1],
  ] as const) {
    const own = join(folder, `every-${validateEvery}`);
    const script = await placeScript(CAPACITY_STEP, own);
    const control = await freeAddress();
    await writeFile(join(own, 'plan.json'), JSON.stringify(ourPlan(url, control, validateEvery)));
    const options = [OWN_FIGURES, `--address=${control}`];
    made.push({ name, script, options, summaryFile: undefined });
  }
  return made;
}

/** @returns requests per second */
async function round(contender: Contender, k6: string): Promise<number> {
  const store = new SampleStore({ streams: ['step'], keys: [{ name: 'bench', plan: 'enterprise' }] }, 1);
  const events = new EventLog(createRedactor([]));
  const process = startK6({
    k6,
    script: contender.script,
    options: contender.options,
    // The bare loop has Go's default settings, as a k6 that is started by hand.
    environment:
      contender.summaryFile === undefined
        ? { PETSTORE_BENCH_KEY: 'a-key-for-the-bench' }
        : { GOGC: '100', GOMEMLIMIT: 'off' },
    onSamples: (line) => void store.addLine(line),
    onEvent: (json) => events.add(json),
    onLog: (level, message) => events.log(level, message, () => {}),
  });
  const { code } = await process.ended;
  const [problem = events.violations()[0]?.requirement] = events.errorLines;
  if (code !== 0 || problem !== undefined)
    throw new Error(`${contender.name}: k6 ended with ${code}: ${problem}`);
  const figures =
    contender.summaryFile === undefined
      ? events.figures(0)
      : JSON.parse(await readFile(contender.summaryFile, 'utf8'));
  const { count, rate } = figures?.metrics['http_reqs'].values ?? {};
  // Nothing drains the VUs here, so that the last half second of each is missing. More would be a loss.
  if (contender.summaryFile === undefined && (store.keys().get('bench')?.sent ?? 0) < Number(count) * 0.8)
    throw new Error('samples were lost');
  return Number(rate);
}

/** Our requests per second divided by those of the bare loop: with one body in a hundred validated, and with all. */
export async function measureLoop(): Promise<{ readonly sampled: number; readonly everyBody: number }> {
  const k6 = await provideK6((line) => process.stderr.write(`${line}\n`));
  const folder = await mkdtemp(join(tmpdir(), 'bench-load-'));
  const task = { body: JSON.stringify(ANIMALS), key: 'a-key-for-the-bench', animals: 20 };
  const server = await startMeasured('bare-with-rate-headers', task);
  try {
    const [bare, ...ours] = await contenders(server.url, folder);
    if (bare === undefined) throw new Error('nothing to compare with');
    const ratios = ours.map((): number[] => []);
    for (let done = 0; done < ROUNDS; done += 1) {
      const limit = await round(bare, k6.path);
      for (const [index, own] of ours.entries()) ratios[index]?.push((await round(own, k6.path)) / limit);
    }
    const [sampled = Number.NaN, everyBody = Number.NaN] = ratios.map((all) => median(all));
    return { sampled, everyBody };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
