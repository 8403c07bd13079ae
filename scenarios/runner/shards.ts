/** One load from several k6 processes: who sends which part, on which keys, from the same moment on. */
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { LoadPlan, PlannedStream } from '../lib/scenario.ts';
import type { K6Process } from './k6-process.ts';
import { LoadRefused } from './load-target.ts';
import { interleave, type QuotaPlan, SCHEDULE_LENGTH } from './quota.ts';

export interface Shard {
  /** What k6 runs, and with which plan. */
  readonly folder: string;
  readonly plan: LoadPlan;
  readonly k6Options: readonly string[];
  /** The keys that this process is given. */
  secrets(all: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** A part of the keys, and of the load in proportion to what they pay. */
export interface KeyPart {
  readonly keys: readonly number[];
  /** Of all the load, as a part of 1. */
  readonly share: number;
}

/**
 * Divides keys over processes so that no two share one: each key in turn, largest share first, to the process that
 * has least.
 */
export function divideKeys(shares: ReadonlyMap<number, number>, parts: number): KeyPart[] {
  const made = Array.from({ length: parts }, () => ({ keys: [] as number[], share: 0 }));
  for (const [key, share] of [...shares].toSorted(([, a], [, b]) => b - a)) {
    const least = made.reduce((a, b) => (b.share < a.share ? b : a));
    least.keys.push(key);
    least.share += share;
  }
  return made;
}

function sharesOf({ schedule }: Pick<PlannedStream, 'schedule'>): Map<number, number> {
  const shares = new Map<number, number>();
  for (const key of schedule) shares.set(key, (shares.get(key) ?? 0) + 1 / schedule.length);
  return shares;
}

/** k6's execution segments: the part of all iterations that each process makes, in proportion to its keys. */
export function segmentSequence(parts: readonly KeyPart[]): string[] {
  const points = ['0'];
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  let reached = 0;
  for (const [index, { share }] of parts.entries()) {
    reached += share;
    points.push(index === parts.length - 1 ? '1' : `${Math.round((reached / total) * 1000)}/1000`);
  }
  return points;
}

/** A port of the loopback interface on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** The same, as host and port. */
export const freeAddress = async () => `127.0.0.1:${await freePort()}`;

/**
 * Which part of a load each key pays, where it can be divided over so many processes.
 *
 * @throws LoadRefused where it cannot
 */
export function sharesOfLoad(
  scenario: string,
  { streams }: Extract<QuotaPlan, { kind: 'paid' }>,
  count: number,
): ReadonlyMap<number, number> {
  const [first] = streams;
  if (first === undefined || streams.some(({ stream }) => stream.kind !== 'rate')) {
    throw new LoadRefused(`${scenario} is about single clients; only loads that are rates can be divided`);
  }
  const shares = sharesOf(first);
  if (shares.size < count) {
    throw new LoadRefused(`${count} shards need ${count} load keys, one each; there are ${shares.size}`);
  }
  return shares;
}

/**
 * The plans of the processes.
 *
 * @throws LoadRefused where the load cannot be divided
 */
export async function shardPlans(
  plan: LoadPlan,
  quota: Extract<QuotaPlan, { kind: 'paid' }>,
  count: number,
  out: string,
): Promise<Shard[]> {
  if (count === 1) {
    const folder = join(out, 'k6');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const control = await freeAddress();
    return [
      { folder, plan: { ...plan, control }, k6Options: [`--address=${control}`], secrets: (all) => all },
    ];
  }
  const shares = sharesOfLoad(plan.scenario, quota, count);
  const parts = divideKeys(shares, count);
  const sequence = segmentSequence(parts);
  return Promise.all(
    parts.map(async (part, index): Promise<Shard> => {
      const folder = join(out, 'k6', `shard-${index + 1}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const own = part.keys.map((key) => (shares.get(key) ?? 0) / part.share);
      const schedule = interleave(own, SCHEDULE_LENGTH).map((place) => part.keys[place] ?? 0);
      const control = await freeAddress();
      const envs = new Set(part.keys.map((key) => plan.keys[key]?.env ?? ''));
      return {
        folder,
        plan: {
          ...plan,
          control,
          streams: plan.streams.map(({ constantRate, ...stream }) => ({
            ...stream,
            keys: part.keys,
            schedule,
            ...(constantRate === undefined ? {} : { constantRate: constantRate * part.share }),
          })),
        },
        k6Options: [
          '--paused',
          `--address=${control}`,
          `--execution-segment=${sequence[index]}:${sequence[index + 1]}`,
          `--execution-segment-sequence=${sequence.join(',')}`,
          // Two processes may not write to the same series.
          `--tag=instance_id=${index + 1}`,
        ],
        secrets: (all) => Object.fromEntries(Object.entries(all).filter(([env]) => envs.has(env))),
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
 * Waits until every process has set up, then lets all of them go at the same moment.
 *
 * @throws where one of them does not come so far: the others wait for a start that does not come
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
  const controls = shards.map(({ plan }) => plan.control).filter((control) => control !== undefined);
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
