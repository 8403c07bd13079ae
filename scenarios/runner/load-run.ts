import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRedactor } from '../../checks/wire/redaction.ts';
import { writeWhole } from '../../reports/write-whole.ts';
import type { LoadPlan, Mix, PlannedStream, ScenarioFacts } from '../lib/scenario.ts';
import { bundleScenario } from './k6/bundle.ts';
import { EventLog } from './k6/event-log.ts';
import type { K6Binary } from './k6/k6-binary.ts';
import { OWN_FIGURES } from './k6/k6-figures.ts';
import { type K6Options, k6Options } from './k6/k6-options.ts';
import { startK6 } from './k6/k6-process.ts';
import { mostMemory } from './k6/memory-guard.ts';
import { stopWhenBroken } from './k6/stop-when-broken.ts';
import { LoadRefused, type LoadTarget } from './quota/load-target.ts';
import { otherLoad } from './quota/own-load.ts';
import { preflight } from './quota/preflight.ts';
import { type PaidStream, planQuota, type QuotaPlan, renderBill } from './quota/quota.ts';
import { assembleResult } from './result/assemble-result.ts';
import { keepSoFar } from './result/kept-so-far.ts';
import type { LoadResult } from './result/load-result.ts';
import { SampleStore } from './result/sample-store.ts';
import { parseSlo, type SloClause } from './result/slo.ts';
import { divideLoad, shardPlans, startTogether } from './shards/shards.ts';

/** What a load run is asked for; absent fields have the scenario's defaults. */
export interface LoadRequest {
  readonly facts: ScenarioFacts;
  readonly target: LoadTarget;
  readonly k6: K6Binary;
  /** Folder for results; made where it does not exist. */
  readonly out: string;
  /** Requests per second. */
  readonly rate?: number;
  readonly seconds?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  readonly validateEvery?: number;
  readonly lists?: 'varied' | 'plain';
  readonly blockSeconds?: number;
  readonly graceSeconds?: number;
  /** k6 processes that share the load, from 1 on. */
  readonly shards?: number;
  /** Further options for `k6 run`. */
  readonly k6Options?: readonly string[];
  /** Further environment variables for k6; keys are in `target`. */
  readonly k6Environment?: Readonly<Record<string, string>>;
  readonly showProgress?: boolean;
  readonly note?: (line: string) => void;
  /** First firing: let k6 finish what is under way. */
  readonly stop?: AbortSignal;
  /** Firing: end k6 at once. */
  readonly kill?: AbortSignal;
}

/** A result that could not be written, be it for want of space: nothing that was measured is lost to that. */
export class ResultUnwritten extends Error {
  override readonly name = 'ResultUnwritten';
  readonly result: LoadResult;

  constructor(result: LoadResult, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.result = result;
  }
}

/** One body in so many is validated where nothing else is asked. */
export const DEFAULT_VALIDATE_EVERY = 100;
const DEFAULT_GRACE_SECONDS = 2;
const USUAL_BLOCKS = 120;

/** A scenario that has been paid for. */
export interface PreparedLoad {
  readonly facts: ScenarioFacts;
  readonly rate: number;
  readonly seconds: number;
  readonly clauses: readonly SloClause[];
  readonly mix: Mix;
  readonly quota: Extract<QuotaPlan, { kind: 'paid' }>;
  readonly notes: readonly string[];
  /** Virtual users of a rate, where it needs a number of its own. */
  readonly users?: number;
}

/**
 * Checks permissions and pays the bill; nothing is sent.
 *
 * @throws LoadRefused with the bill and what would fit, or where it cannot be divided over so many shards
 * @throws SloError for an objective that cannot be read
 */
export function prepareLoad(request: Omit<LoadRequest, 'k6' | 'out'>): PreparedLoad {
  const { facts, target } = request;
  const other = otherLoad(request.k6Options ?? []);
  if (other !== undefined) {
    throw new LoadRefused(
      `k6's ${other} would make another load than the one that is paid for: --rate and --duration, before "--", say how much is sent`,
    );
  }
  const notes: string[] = [];
  const missing = facts.needs.filter((permission) => !target.permit.includes(permission));
  if (missing.length > 0) {
    throw new LoadRefused(
      `${facts.name} needs the permission ${missing.join(', ')}: add it to "permit" in the profile`,
    );
  }
  let mix = request.mix ?? facts.mix;
  if (mix.createPet > 0 && !target.permit.includes('writes')) {
    if (request.mix !== undefined)
      throw new LoadRefused('--mix has additions, which need the permission writes');
    mix = { ...mix, createPet: 0 };
    notes.push('no animals are added: the profile does not permit writes');
  }
  const rate = request.rate ?? facts.rate;
  const seconds = request.seconds ?? facts.seconds;
  const simulated = facts.targetSeconds === undefined ? 0 : facts.targetSeconds / target.clockSpeed;
  const length = Math.max(seconds, simulated);
  const quota = planQuota({ facts, rate, seconds: length, clockSpeed: target.clockSpeed }, target.keys);
  if (quota.kind === 'refused') {
    const bill = quota.bill.keys.length === 0 ? '' : `\n${renderBill(quota.bill)}`;
    throw new LoadRefused(`${facts.name} does not fit: ${quota.reason}.\nWould fit: ${quota.fits}.${bill}`);
  }
  const { shards = 1 } = request;
  const prepared = {
    facts,
    rate,
    seconds: length,
    clauses: parseSlo(request.slo ?? facts.thresholds),
    mix,
    quota,
    notes,
  };
  if (shards === 1) return prepared;
  const { vus } = preparedOptions(prepared, request, { graceSeconds: 0, toOutputs: false });
  const { users, bill } = divideLoad(facts.name, quota, shards, target.keys, vus);
  return { ...prepared, users, quota: { ...quota, bill } };
}

/** What k6 is told of a load that has been paid for. */
export function preparedOptions(
  { facts, quota, rate, seconds, clauses, users }: PreparedLoad,
  { target, graceSeconds }: Pick<LoadRequest, 'target' | 'graceSeconds'>,
  usual: { readonly graceSeconds: number; readonly toOutputs: boolean },
): K6Options {
  const latencyBound = clauses.find(({ metric }) => metric.kind === 'latency');
  return k6Options({
    facts,
    streams: quota.streams,
    rate,
    seconds,
    clockSpeed: target.clockSpeed,
    expectedSeconds: (latencyBound?.bound ?? 500) / 1000,
    graceSeconds: graceSeconds ?? usual.graceSeconds,
    toOutputs: usual.toOutputs,
    ...(users === undefined ? {} : { users }),
  });
}

/** How many seconds a block of the results has. */
export function blockSecondsOf({ blockSeconds }: Pick<LoadRequest, 'blockSeconds'>, seconds: number): number {
  return blockSeconds ?? Math.max(1, Math.ceil(seconds / USUAL_BLOCKS));
}

/**
 * Runs a scenario: bill, preflight, bundle, k6, report. Leaves k6/ (what k6 ran), summary.json (k6's own figures) and
 * load-report.json in the folder.
 */
export async function runLoad(request: LoadRequest): Promise<LoadResult> {
  const prepared = prepareLoad(request);
  const { facts, rate, seconds, clauses, quota } = prepared;
  const { target, note = () => {} } = request;
  const id = randomBytes(4).toString('hex');
  const { name = '', env = '' } = target.keys[quota.looksFirst] ?? {};
  const before = await preflight(
    target.address,
    { name, env, value: target.secrets[env] ?? '' },
    request.stop,
  );
  await mkdir(request.out, { recursive: true, mode: 0o700 });
  const made = preparedOptions(prepared, request, {
    graceSeconds: DEFAULT_GRACE_SECONDS,
    toOutputs: request.k6Options?.some((option) => /^(-o|--out)/.test(option)) ?? false,
  });
  const plan: LoadPlan = {
    scenario: facts.name,
    runId: id,
    target: target.address,
    keys: target.keys.map(({ name, plan, env, perMinute, perDay }) => ({
      name,
      plan,
      env,
      perMinute,
      perDay,
    })),
    streams: plannedStreams(quota.streams, rate),
    mix: prepared.mix,
    validateEvery: request.validateEvery ?? DEFAULT_VALIDATE_EVERY,
    lists: request.lists ?? 'varied',
    clock: { ...before.clock, speed: target.clockSpeed },
    seconds,
    samples: { categoryId: target.categoryId?.toString() ?? before.categoryId, ids: before.ids },
    control: undefined,
    options: made.options,
  };
  const shards = await shardPlans(plan, quota, request.shards ?? 1, made.vus, request.out);
  const blockSeconds = blockSecondsOf(request, seconds);
  const store = new SampleStore(
    { streams: plan.streams.map(({ name }) => name), keys: plan.keys },
    blockSeconds,
  );
  const events = new EventLog(createRedactor(Object.values(target.secrets)));
  const scripts: string[] = [];
  for (const shard of shards) {
    scripts.push(await bundleScenario(facts.name, shard.folder));
    await writeFile(join(shard.folder, 'plan.json'), JSON.stringify(shard.plan, null, 2), { mode: 0o600 });
  }
  request.stop?.throwIfAborted();
  const startedAt = new Date();
  const processes = shards.map((shard, index) =>
    startK6({
      k6: request.k6.path,
      script: scripts[index] ?? '',
      // Tells the series of this run from another's, wherever k6 writes them.
      options: [OWN_FIGURES, `--tag=testid=${id}`, ...shard.k6Options, ...(request.k6Options ?? [])],
      environment: { ...request.k6Environment, ...shard.secrets(target.secrets) },
      showProgress: (request.showProgress ?? false) && index === 0,
      mostMemory: mostMemory(made.vus, shards.length),
      onSamples: (line) => {
        if (!store.addLine(line)) events.problem('k6 wrote samples that cannot be read');
      },
      onEvent: (json) => events.add(json, index),
      onLog: (level, message) => events.log(level, message, note),
    }),
  );
  const stop = () => {
    for (const process of processes) process.stop();
  };
  const kill = () => {
    for (const process of processes) process.kill();
  };
  request.stop?.addEventListener('abort', stop, { once: true });
  request.kill?.addEventListener('abort', kill, { once: true });
  const guard = facts.stopWhenBroken ? stopWhenBroken(store, clauses, stop) : undefined;
  const remains = { request, prepared, id, startedAt, store, events, vus: made.vus };
  const file = join(request.out, 'load-report.json');
  const endKeeping = keepSoFar(file, () =>
    assembleResult({ ...remains, exits: [], broken: undefined, soFar: true }),
  );
  if (shards.length > 1) await startTogether(shards, processes, request.stop).catch(notStarted);
  const exits = await Promise.all(processes.map(({ ended }) => ended));
  const broken = guard?.();
  await endKeeping();
  request.stop?.removeEventListener('abort', stop);
  request.kill?.removeEventListener('abort', kill);
  const result = assembleResult({ ...remains, exits, broken });
  try {
    await writeWhole(file, `${JSON.stringify(result, null, 1)}\n`);
    for (const [index, { folder }] of shards.entries()) {
      const summary = join(shards.length > 1 ? folder : request.out, 'summary.json');
      await writeFile(summary, JSON.stringify(events.figures(index) ?? {}, null, 2), { mode: 0o600 });
    }
  } catch (error) {
    throw new ResultUnwritten(result, error);
  }
  return result;

  /** One that is not there keeps all of them from starting; the others would wait for ever. */
  function notStarted(error: unknown): void {
    kill();
    if (request.stop?.aborted !== true)
      events.problem(`the shards could not be started: ${error instanceof Error ? error.message : error}`);
  }
}

/** The streams as the scripts see them. */
export function plannedStreams(streams: readonly PaidStream[], rate: number): PlannedStream[] {
  return streams.map(({ stream, keys, schedule, requests = 0 }) => ({
    name: stream.name,
    keys,
    schedule,
    expects429: stream.kind === 'clients' && stream.overLimit === true,
    ...(stream.kind === 'rate' && stream.profile === 'constant'
      ? constantly(rate * (stream.share ?? 1), requests)
      : {}),
    ...(stream.kind === 'clients' ? { cost: stream.cost } : {}),
  }));
}

function constantly(rate: number, requests: number): Pick<PlannedStream, 'constantRate' | 'paid'> {
  return { constantRate: rate, paid: { requests, seconds: requests / rate } };
}
