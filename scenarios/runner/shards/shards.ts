/** The k6 processes of a load: what each runs and on which keys. All start at the same moment. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { LoadPlan } from '../../lib/scenario.ts';
import { k6Options } from '../k6/k6-options.ts';
import type { K6Process } from '../k6/k6-process.ts';
import { loadPlan } from '../k6/load-plan.ts';
import { placeScript } from '../k6/script.ts';
import type { LoadRequest, PreparedLoad } from '../quota/load-request.ts';

export interface Shard {
  /** The folder with the script and its plan. */
  readonly folder: string;
  readonly script: string;
  /** Virtual users. */
  readonly vus: number;
  /** Host and port of k6's API. */
  readonly control: string;
  readonly k6Options: readonly string[];
  /** Those of all keys that this process gets. */
  secrets(all: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** A free port of the loopback interface, with its host. */
export async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return `127.0.0.1:${address.port}`;
}

const GRACE_SECONDS = 2;

/** Makes a folder for each process of a load, with the script and the plan of its part. */
export function makeShards(
  load: LoadRequest & { readonly out: string },
  prepared: PreparedLoad,
  run: Pick<LoadPlan, 'runId' | 'samples'> & { readonly clock: Omit<LoadPlan['clock'], 'speed'> },
): Promise<Shard[]> {
  const { target, out, graceSeconds = GRACE_SECONDS, k6Options: further = [] } = load;
  const toOutputs =
    process.env['K6_OUT'] !== undefined || further.some((option) => /^(-o|--out)/.test(option));
  const machine = { clockSpeed: target.clockSpeed, graceSeconds, toOutputs };
  const several = prepared.parts.length > 1;
  return Promise.all(
    prepared.parts.map(async (part, index) => {
      const folder = join(out, 'k6', ...(several ? [`shard-${index + 1}`] : []));
      const script = await placeScript(prepared.facts, folder);
      const control = await freeAddress();
      const { options, vus } = k6Options(prepared, part, machine);
      const plan = loadPlan(prepared, load, part, { ...run, control, options });
      await writeFile(join(folder, 'plan.json'), JSON.stringify(plan, null, 2), { mode: 0o600 });
      const own = new Set(part.streams.flatMap(({ keys }) => keys.map((key) => target.keys[key]?.env)));
      return {
        folder,
        script,
        vus,
        control,
        // The tag keeps two processes from writing to the same series.
        k6Options: [
          `--address=${control}`,
          ...(several ? ['--paused', `--tag=instance_id=${index + 1}`] : []),
        ],
        secrets: (all) => Object.fromEntries(Object.entries(all).filter(([env]) => own.has(env))),
      };
    }),
  );
}

const READY_MS = 60_000;
const ANSWER_MS = 2_000;

async function status(control: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://${control}/v1/status`, { headersTimeout: ANSWER_MS });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}

/**
 * Waits until every process is set up, then starts all of them at the same moment.
 *
 * @throws if one of them does not get that far; the others then still wait
 */
export async function startTogether(
  shards: readonly Shard[],
  processes: readonly K6Process[],
  signal?: AbortSignal,
): Promise<void> {
  let gone = false;
  void Promise.race(processes.map(({ ended }) => ended)).then(() => {
    gone = true;
  });
  const controls = shards.map(({ control }) => control);
  const deadline = Date.now() + READY_MS;
  for (const control of controls) {
    while (!(await status(control))) {
      signal?.throwIfAborted();
      if (gone) throw new Error('one ended before its load began');
      if (Date.now() > deadline) throw new Error(`one was not ready within ${READY_MS / 1000} s`);
      await sleep(50);
    }
  }
  signal?.throwIfAborted();
  const body = JSON.stringify({ data: { type: 'status', id: 'default', attributes: { paused: false } } });
  await Promise.all(
    controls.map(async (control) => {
      const response = await request(`http://${control}/v1/status`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        headersTimeout: ANSWER_MS,
        body,
      });
      await response.body.dump();
    }),
  );
}
