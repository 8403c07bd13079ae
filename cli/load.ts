import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { readBaseAddress } from '../checks/harness/base-address.ts';
import { keyValues } from '../checks/harness/key-values.ts';
import { readProfile } from '../checks/harness/load-profile.ts';
import { looksLikeProduction } from '../checks/harness/production-address.ts';
import { UnknownNameError } from '../reference-server/named.ts';
import { renderCapacityHtml } from '../reports/capacity-html.ts';
import { renderLoadHtml } from '../reports/load-html.ts';
import { CAPACITY_STEP, CATALOGUE, scenarioNamed } from '../scenarios/lib/catalogue.ts';
import type { Mix } from '../scenarios/lib/scenario.ts';
import { measureCapacity } from '../scenarios/runner/capacity.ts';
import { K6Unavailable, provideK6 } from '../scenarios/runner/k6-binary.ts';
import { kubernetesManifests } from '../scenarios/runner/kubernetes.ts';
import type { LoadResult } from '../scenarios/runner/load-result.ts';
import { type LoadRequest, prepareLoad, runLoad } from '../scenarios/runner/load-run.ts';
import {
  LoadRefused,
  type LoadTarget,
  loadTarget,
  startEmbeddedTarget,
} from '../scenarios/runner/load-target.ts';
import { renderBill } from '../scenarios/runner/quota.ts';
import { renderCapacity, renderStep } from '../scenarios/runner/render-capacity.ts';
import { renderLoadResult } from '../scenarios/runner/render-result.ts';
import { SloError } from '../scenarios/runner/slo.ts';
import { gaps } from '../spec/contract.ts';
import { durationSeconds } from './duration-option.ts';
import { writeLoadPage } from './load-page.ts';

const USAGE_ERROR = 2;
const INCONCLUSIVE = 3;
/** k6's own code for a threshold that was crossed. */
const THRESHOLD_BROKEN = 99;
const INTERRUPTED = 130;

interface LoadOptions {
  readonly target?: string;
  readonly profile?: string;
  readonly out: string;
  readonly rate?: number;
  readonly duration?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  readonly validateEvery?: number;
  readonly shards: number;
  readonly productionHost?: string;
  readonly embeddedFault?: string;
  readonly embeddedClockSpeed?: number;
  readonly kubernetes?: true;
  readonly secret: string;
  readonly prometheusUrl?: string;
  readonly dryRun?: true;
  readonly list?: true;
}

function positive(most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`It is to be a number above 0, at most ${most}.`);
  };
}

function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It is to be a whole number from ${from} to ${to}.`);
  };
}

function httpAddress(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isHttp) return text;
  throw new InvalidArgumentError('Write it like http://127.0.0.1:9090/api/v1/write.');
}

/** Where the Prometheus operator's own server takes remote writes in a cluster. */
const CLUSTER_PROMETHEUS = 'http://prometheus-operated.monitoring.svc:9090/api/v1/write';

/** What makes k6 write its metrics to Prometheus while it runs. */
function toPrometheus(url: string): Pick<LoadRequest, 'k6Options' | 'k6Environment'> {
  return {
    k6Options: ['--out=experimental-prometheus-rw'],
    k6Environment: {
      K6_PROMETHEUS_RW_SERVER_URL: url,
      K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM: 'true',
    },
  };
}

const MIX_NAMES = { list: 'listPets', add: 'createPet', get: 'getPet' } as const;

function parseMix(text: string): Mix {
  const mix = { listPets: 0, createPet: 0, getPet: 0 };
  for (const part of text.split(',')) {
    const { name, parts } = /^(?<name>list|add|get)=(?<parts>\d{1,4})$/.exec(part.trim())?.groups ?? {};
    if (name !== 'list' && name !== 'add' && name !== 'get') {
      throw new InvalidArgumentError('Write it like list=80,add=5,get=15.');
    }
    mix[MIX_NAMES[name]] = Number(parts);
  }
  if (mix.listPets + mix.createPet + mix.getPet === 0) throw new InvalidArgumentError('All parts are 0.');
  return mix;
}

const EXAMPLES = `
Examples:
  $ petstore-harness load smoke                             against the embedded reference server
  $ petstore-harness load mixed --profile staging.yaml --rate 15 --duration 5m --mix list=80,add=5,get=15
  $ petstore-harness load capacity --profile staging.yaml --slo 'p99<200ms,errors<0.1%'
  $ petstore-harness load soak --profile staging.yaml --dry-run
  $ petstore-harness load mixed --prometheus-url http://127.0.0.1:9090/api/v1/write
  $ petstore-harness load mixed -- --out web-dashboard      further options of k6 run

Exit codes: 0 held, 99 a threshold is broken, 2 wrong usage or not permitted, 3 no verdict (the generator was the
limit), 130 interrupted; others are k6's own.`;

function listScenarios(): void {
  const width = Math.max(...[...CATALOGUE, CAPACITY_STEP].map(({ name }) => name.length));
  for (const { name, answers } of [...CATALOGUE, CAPACITY_STEP])
    process.stdout.write(`${name.padEnd(width)}  ${answers}\n`);
}

async function targetOf(
  options: LoadOptions,
  command: Command,
): Promise<LoadTarget & { close?: () => Promise<void> }> {
  const fail = (message: string): never => command.error(`error: ${message}`, { exitCode: USAGE_ERROR });
  if (options.profile === undefined) {
    if (options.target !== undefined) {
      fail('load needs a profile: it names the keys, and says that load is welcome at the target');
    }
    if (options.kubernetes === true) {
      fail('--kubernetes needs a profile: no cluster reaches the embedded server of this process');
    }
    return startEmbeddedTarget({
      ...(options.embeddedClockSpeed === undefined ? {} : { clockSpeed: options.embeddedClockSpeed }),
      ...(options.embeddedFault === undefined ? {} : { fault: options.embeddedFault }),
    });
  }
  const loaded = await readProfile(options.profile, gaps);
  if (!loaded.ok) {
    const lines = loaded.problems.map(
      ({ line, column, message, remedy }) => `${loaded.source}:${line}:${column}: ${message}; ${remedy}`,
    );
    return fail(lines.join('\n'));
  }
  const { profile } = loaded;
  const base = readBaseAddress(options.target ?? profile.target ?? '');
  if (!base.ok) return fail(`${base.message}; ${base.remedy}`);
  const url = new URL(base.address);
  if (looksLikeProduction(url) && options.productionHost !== url.hostname) {
    fail(
      `${url.hostname} may be what customers use; if load is really meant for it, add --production-host ${url.hostname}`,
    );
  }
  const values = keyValues(profile, process.env);
  if (!values.ok) {
    return fail(values.problems.map(({ message, remedy }) => `${message}; ${remedy}`).join('\nerror: '));
  }
  return loadTarget(profile, base.address, values.values);
}

function exitCodeOf({ verdict, run }: LoadResult): number {
  if (verdict === 'held') return 0;
  if (verdict === 'broken') return THRESHOLD_BROKEN;
  if (verdict === 'interrupted') return INTERRUPTED;
  if (verdict === 'generator-limited') return INCONCLUSIVE;
  return run.k6ExitCode === 0 || run.k6ExitCode === null ? INCONCLUSIVE : run.k6ExitCode;
}

/** First signal: let k6 finish what is under way, keep what was measured. Second: end at once. */
function onSignals(): { stop: AbortSignal; kill: AbortSignal; release: () => void } {
  const stop = new AbortController();
  const kill = new AbortController();
  const react = () => {
    if (stop.signal.aborted) {
      kill.abort();
      process.exit(INTERRUPTED);
    }
    process.stderr.write('\nstopping; once more ends at once\n');
    stop.abort();
  };
  process.on('SIGINT', react).on('SIGTERM', react).on('SIGHUP', react);
  const release = () => {
    process.off('SIGINT', react).off('SIGTERM', react).off('SIGHUP', react);
  };
  return { stop: stop.signal, kill: kill.signal, release };
}

async function load(
  name: string | undefined,
  further: string[],
  options: LoadOptions,
  command: Command,
): Promise<void> {
  if (options.list === true) return listScenarios();
  const facts = name === CAPACITY_STEP.name ? CAPACITY_STEP : scenarioNamed(name ?? '');
  if (facts === undefined) {
    const known = [...CATALOGUE, CAPACITY_STEP].map((scenario) => scenario.name).join(', ');
    command.error(
      `error: ${name === undefined ? 'which scenario?' : `there is no scenario ${name}`} Known: ${known}`,
      {
        exitCode: USAGE_ERROR,
      },
    );
  }
  if (
    facts === CAPACITY_STEP &&
    (options.mix ?? options.duration ?? (options.shards > 1 || undefined)) !== undefined
  ) {
    command.error('error: capacity takes neither --mix nor --duration nor --shards', {
      exitCode: USAGE_ERROR,
    });
  }
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  const signals = onSignals();
  let target: (LoadTarget & { close?: () => Promise<void> }) | undefined;
  try {
    target = await targetOf(options, command);
    const { rate, duration, slo, mix, validateEvery, prometheusUrl } = options;
    const watched =
      prometheusUrl === undefined || options.kubernetes === true ? {} : toPrometheus(prometheusUrl);
    const request: Omit<LoadRequest, 'k6'> = {
      facts,
      target,
      out: options.out,
      ...watched,
      k6Options: [...(watched.k6Options ?? []), ...further],
      shards: options.shards,
      showProgress: process.stdout.isTTY,
      note,
      stop: signals.stop,
      kill: signals.kill,
      ...(rate === undefined ? {} : { rate }),
      ...(duration === undefined ? {} : { seconds: duration }),
      ...(slo === undefined ? {} : { slo }),
      ...(mix === undefined ? {} : { mix }),
      ...(validateEvery === undefined ? {} : { validateEvery }),
    };
    if (options.kubernetes === true) {
      const folder = await mkdtemp(join(tmpdir(), 'petstore-k6-'));
      try {
        const runId = randomBytes(4).toString('hex');
        const { secret } = options;
        const manifests = await kubernetesManifests({
          ...request,
          folder,
          runId,
          secret,
          prometheusUrl: prometheusUrl ?? CLUSTER_PROMETHEUS,
        });
        process.stdout.write(manifests);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
      return;
    }
    const prepared = prepareLoad(request);
    note(`${facts.name}: ${facts.answers}\n${renderBill(prepared.quota.bill)}`);
    if (options.dryRun === true) return;
    const k6 = await provideK6(note, signals.stop);
    if (facts === CAPACITY_STEP) {
      const capacity = await measureCapacity({
        ...request,
        k6,
        slo: slo ?? facts.thresholds,
        note: () => {},
        onStep: (step) => note(renderStep(step)),
        ...(rate === undefined ? {} : { startRate: rate }),
      });
      process.stdout.write(renderCapacity(capacity));
      note(`report: ${await writeLoadPage(options.out, renderCapacityHtml(capacity))}`);
      process.exitCode =
        capacity.outcome === 'interrupted' ? INTERRUPTED : capacity.interval === null ? INCONCLUSIVE : 0;
      return;
    }
    const result = await runLoad({ ...request, k6 });
    process.stdout.write(renderLoadResult(result));
    note(`report: ${await writeLoadPage(options.out, renderLoadHtml({ result }))}`);
    process.exitCode = exitCodeOf(result);
  } catch (error) {
    if (signals.stop.aborted) process.exitCode = INTERRUPTED;
    else if (
      error instanceof LoadRefused ||
      error instanceof SloError ||
      error instanceof UnknownNameError ||
      error instanceof K6Unavailable
    ) {
      process.stderr.write(`error: ${error.message}\n`);
      process.exitCode = error instanceof K6Unavailable ? INCONCLUSIVE : USAGE_ERROR;
    } else throw error;
  } finally {
    await target?.close?.();
    signals.release();
  }
}

/** `load`: a k6 scenario against a target that welcomes load, or against the embedded reference server. */
export const loadCommand = new Command('load')
  .description('run a load scenario through k6')
  .argument('[scenario]', 'name of a scenario; --list prints them')
  .argument('[k6-options...]', 'after --: further options for k6 run')
  .option('--target <url>', 'base address, instead of the one in the profile')
  .option('--profile <file>', 'target profile; without one the embedded reference server is loaded')
  .option('--out <dir>', 'folder for results', 'petstore-results/load')
  .addOption(new Option('--rate <n>', 'requests per second').argParser(positive(1_000_000)))
  .addOption(new Option('--duration <time>', 'how long, such as 30s or 5m').argParser(durationSeconds))
  .option('--slo <objective>', 'thresholds, such as p99<200ms,errors<0.1%')
  .addOption(new Option('--mix <parts>', 'operations, such as list=80,add=5,get=15').argParser(parseMix))
  .addOption(
    new Option(
      '--validate-every <n>',
      'judge one body in N by the schema; every response has its headers judged',
    ).argParser(wholeNumber(1, 1_000_000)),
  )
  .addOption(
    new Option('--shards <n>', 'k6 processes that share the load').default(1).argParser(wholeNumber(1, 64)),
  )
  .option('--production-host <host>', 'load this host although it may be what customers use')
  .option('--embedded-fault <name>', 'the embedded server breaks something; see serve --list-faults')
  .addOption(
    new Option('--embedded-clock-speed <n>', 'seconds of the embedded server in one real second').argParser(
      positive(100_000),
    ),
  )
  .option('--kubernetes', 'print what the k6-operator needs instead of running: a ConfigMap and a TestRun')
  .option('--secret <name>', 'with --kubernetes: Secret that holds the keys', 'petstore-load-keys')
  .addOption(
    new Option(
      '--prometheus-url <url>',
      `k6 writes its metrics there while it runs (remote write, native histograms); with --kubernetes ${CLUSTER_PROMETHEUS} where it is not given`,
    ).argParser(httpAddress),
  )
  .option('--dry-run', 'print the bill and send nothing')
  .option('--list', 'print the scenarios')
  .addHelpText('after', EXAMPLES)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : USAGE_ERROR))
  .action(load);
