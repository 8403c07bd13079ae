import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../checks/run/write-whole.ts';
import { createRedactor } from '../../checks/wire/redaction.ts';
import { assembleResult, type RunRemains } from './assemble-result.ts';
import { EventLog } from './k6/event-log.ts';
import type { K6Binary } from './k6/k6-binary.ts';
import { type K6Process, OWN_FIGURES, startK6 } from './k6/k6-process.ts';
import { mostMemory } from './k6/process-watch.ts';
import { type LoadRequest, type PreparedLoad, prepareLoad } from './quota/load-request.ts';
import { preflight } from './quota/preflight.ts';
import { keepSoFar } from './result/kept-so-far.ts';
import type { LoadResult } from './result/load-result.ts';
import { SampleStore } from './result/sample-store.ts';
import { stopWhenBroken } from './result/stop-when-broken.ts';
import { makeShards, type Shard, startTogether } from './shards/shards.ts';

/** A load, and how this machine runs it. */
export interface LoadRun extends LoadRequest {
  readonly k6: K6Binary;
  /** Folder for results; made if it does not exist. */
  readonly out: string;
  /** Further environment variables for k6; keys are in `target`. */
  readonly k6Environment?: Readonly<Record<string, string>>;
  /** Called twice a second with the requests made so far, and those on the bill. */
  readonly onProgress?: (made: number, most: number) => void;
  readonly note?: (line: string) => void;
  /** Lets k6 finish what is under way. */
  readonly stop?: AbortSignal;
  /** Ends k6 at once. */
  readonly kill?: AbortSignal;
}

/** The result could not be written, perhaps because the disk is full. The error carries it, so that nothing is lost. */
export class ResultUnwritten extends Error {
  override readonly name = 'ResultUnwritten';
  readonly result: LoadResult;

  constructor(result: LoadResult, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.result = result;
  }
}

/**
 * Runs a scenario: bill, preflight, script, k6, result. It leaves k6/ (what k6 ran), summary.json (k6's own figures) and
 * load-report.json in the folder.
 */
export async function runLoad(request: LoadRun): Promise<LoadResult> {
  const prepared = prepareLoad(request);
  const { facts, clauses } = prepared;
  const id = randomBytes(4).toString('hex');
  const { address, keys, secrets } = request.target;
  const { name = '', env = '' } = keys[prepared.looksFirst] ?? {};
  const payer = { name, env, value: secrets[env] ?? '' };
  const { clock, ...samples } = await preflight(address, payer, request.stop);
  await mkdir(request.out, { recursive: true, mode: 0o700 });
  const shards = await makeShards(request, prepared, { runId: id, clock, samples });
  const store = new SampleStore(
    { streams: facts.streams.map((stream) => stream.name), keys },
    prepared.blockSeconds,
  );
  const events = new EventLog(createRedactor(Object.values(secrets)));
  request.stop?.throwIfAborted();
  const vus = shards.reduce((sum, shard) => sum + shard.vus, 0);
  const remains = { request, prepared, id, startedAt: new Date(), store, events, vus };
  const file = join(request.out, 'load-report.json');
  const processes = startShards(shards, remains);
  const stopAll = () => {
    for (const process of processes) process.stop();
  };
  const killAll = () => {
    for (const process of processes) process.kill();
  };
  const over = new AbortController();
  request.stop?.addEventListener('abort', stopAll, { once: true, signal: over.signal });
  request.kill?.addEventListener('abort', killAll, { once: true, signal: over.signal });
  const endGuard = facts.stopWhenBroken ? stopWhenBroken(store, clauses, stopAll) : undefined;
  const endProgress = tellProgress(request, prepared, store);
  const endKeeping = keepSoFar(file, () =>
    assembleResult({ ...remains, exits: [], broken: undefined, soFar: true }),
  );
  if (shards.length > 1) {
    await startTogether(shards, processes, request.stop).catch((error: unknown) => {
      // If one shard is missing, the others would wait for the start for ever.
      killAll();
      if (request.stop?.aborted !== true)
        events.problem(`the shards could not be started: ${error instanceof Error ? error.message : error}`);
    });
  }
  const exits = await Promise.all(processes.map(({ ended }) => ended));
  const broken = endGuard?.();
  endProgress();
  await endKeeping();
  over.abort();
  const result = assembleResult({ ...remains, exits, broken });
  const summaries = shards.map(({ folder }) => (shards.length > 1 ? folder : request.out));
  try {
    await writeWhole(file, `${JSON.stringify(result, null, 1)}\n`);
    for (const [index, folder] of summaries.entries())
      await writeWhole(join(folder, 'summary.json'), JSON.stringify(events.figures(index), null, 2));
  } catch (error) {
    throw new ResultUnwritten(result, error);
  }
  return result;
}

const TELL_EVERY_MS = 500;

/** @returns a function that ends the calls */
function tellProgress({ onProgress }: LoadRun, { bill }: PreparedLoad, store: SampleStore): () => void {
  if (onProgress === undefined) return () => {};
  const made = () => [...store.keys().values()].reduce((sum, { sent }) => sum + sent, 0);
  const timer = setInterval(() => onProgress(made(), bill.total), TELL_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Starts a k6 process for each shard, and takes in what they report. */
function startShards(
  shards: readonly Shard[],
  {
    request,
    id,
    store,
    events,
    vus,
  }: Omit<RunRemains, 'exits' | 'broken' | 'request'> & { request: LoadRun },
): K6Process[] {
  const { target, note = () => {}, k6Options = [] } = request;
  return shards.map((shard, index) =>
    startK6({
      k6: request.k6.path,
      script: shard.script,
      // Wherever k6 writes its metrics, this tag distinguishes the runs.
      options: [OWN_FIGURES, `--tag=testid=${id}`, ...shard.k6Options, ...k6Options],
      environment: { ...request.k6Environment, ...shard.secrets(target.secrets) },
      withheld: Object.keys(target.secrets),
      mostMemory: mostMemory(vus, shards.length),
      onSamples: (line) => {
        if (!store.addLine(line)) events.problem('k6 wrote samples that cannot be read');
      },
      onEvent: (json) => events.add(json, index),
      onLog: (level, message) => events.log(level, message, note),
    }),
  );
}
