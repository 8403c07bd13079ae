/** One load from several k6 processes: who sends which part, on which keys, from the same moment on. */
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { LoadPlan, PlannedStream } from '../../lib/scenario.ts';
import type { K6Process } from '../k6/k6-process.ts';
import { LoadRefused } from '../quota/load-target.ts';
import { type BudgetKey, interleave, type QuotaPlan, SCHEDULE_LENGTH, turnsNeed } from '../quota/quota.ts';
import type { QuotaBill } from '../result/load-result.ts';

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

/**
 * How many of k6's virtual users each process has, at least one: k6 rounds execution segments to whole users, so that a
 * process gets as large a part of all iterations as it has of them.
 */
export function divideUsers(parts: readonly KeyPart[], users: number): number[] {
  const owed = parts.map(({ share }) => share * users);
  const given = owed.map((part) => Math.max(1, Math.floor(part)));
  const total = () => given.reduce((sum, count) => sum + count, 0);
  const most = (of: (place: number) => number) =>
    given.map((_, place) => place).reduce((a, b) => (of(b) > of(a) ? b : a));
  while (total() < users) {
    const next = most((place) => (owed[place] ?? 0) - (given[place] ?? 0));
    given[next] = (given[next] ?? 0) + 1;
  }
  while (total() > users) {
    const next = most((place) => ((given[place] ?? 0) > 1 ? (given[place] ?? 0) - (owed[place] ?? 0) : -1));
    given[next] = (given[next] ?? 0) - 1;
  }
  return given;
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
  { streams }: PaidQuota,
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

/** A process's part of a load, and who of its keys pays for its n-th request. */
interface DividedPart extends KeyPart {
  readonly schedule: readonly number[];
  /** Of k6's virtual users: those of the processes before it, and its own. */
  readonly usersBefore: number;
  readonly users: number;
}

type PaidQuota = Extract<QuotaPlan, { kind: 'paid' }>;

function dividedLoad(scenario: string, quota: PaidQuota, count: number, users: number): DividedPart[] {
  const shares = sharesOfLoad(scenario, quota, count);
  const parts = divideKeys(shares, count);
  const given = divideUsers(parts, users);
  return parts.map((part, index) => ({
    ...part,
    schedule: interleave(
      part.keys.map((key) => (shares.get(key) ?? 0) / part.share),
      SCHEDULE_LENGTH,
    ).map((place) => part.keys[place] ?? 0),
    usersBefore: given.slice(0, index).reduce((sum, own) => sum + own, 0),
    users: given[index] ?? 0,
  }));
}

/** The bill of a load that several processes share, each of which takes the turns of its own keys. */
function dividedBill(
  scenario: string,
  quota: PaidQuota,
  count: number,
  keys: readonly BudgetKey[],
  users: number,
): QuotaBill {
  const { streams, looksFirst } = quota;
  const needs = new Map(
    dividedLoad(scenario, quota, count, users).flatMap((part) => {
      // k6 deals whole requests to segments.
      const own = (all: number) => Math.min(all, Math.ceil((all * part.users) / users) + 1);
      const ownTurns = {
        requests: streams.map(({ requests = 0 }) => own(requests)),
        busiestMinute: own(quota.busiestMinute),
      };
      return part.keys.map((key) => [keys[key]?.name, turnsNeed(part.schedule, key, ownTurns)] as const);
    }),
  );
  const rows = quota.bill.keys.map((row) => {
    const { total = 0, busiestMinute = 0 } = needs.get(row.key) ?? {};
    const look = row.key === keys[looksFirst]?.name ? 1 : 0;
    return { ...row, requests: total + look, busiestMinute: busiestMinute + look };
  });
  return { keys: rows, total: quota.bill.total };
}

/**
 * With how many virtual users a load can be divided so that no key pays more than it has: the more there are, the closer
 * the processes' parts come to what their keys can pay.
 *
 * @param least users that the load needs
 * @throws LoadRefused where it cannot be divided
 */
export function divideLoad(
  scenario: string,
  quota: PaidQuota,
  count: number,
  keys: readonly BudgetKey[],
  least: number,
): { readonly users: number; readonly bill: QuotaBill } {
  for (
    let users = Math.max(least, count);
    users <= Math.max(least, count) * 2 + MOST_MORE_USERS;
    users += 1
  ) {
    const bill = dividedBill(scenario, quota, count, keys, users);
    const fits = bill.keys.every(
      ({ requests, busiestMinute, perDay, perMinute }) => requests <= perDay && busiestMinute <= perMinute,
    );
    if (fits) return { users, bill };
  }
  throw new LoadRefused(
    `${scenario} cannot be divided over ${count} shards so that each key pays its own part only; a lower rate or fewer shards may do`,
  );
}

/**
 * The plans of the processes.
 *
 * @throws LoadRefused where the load cannot be divided
 */
export async function shardPlans(
  plan: LoadPlan,
  quota: PaidQuota,
  count: number,
  users: number,
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
  const parts = dividedLoad(plan.scenario, quota, count, users);
  const point = (reached: number) => (reached === 0 ? '0' : reached === users ? '1' : `${reached}/${users}`);
  const sequence = ['0', ...parts.map((part) => point(part.usersBefore + part.users))];
  return Promise.all(
    parts.map(async (part, index): Promise<Shard> => {
      const folder = join(out, 'k6', `shard-${index + 1}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
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
            schedule: part.schedule,
            ...(constantRate === undefined ? {} : { constantRate: (constantRate * part.users) / users }),
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

/** Beyond twice as many as the load needs: each takes memory. */
const MOST_MORE_USERS = 40;
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
