import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { accessOf, keyValues } from '../../checks/profile/environment.ts';
import { readProfile } from '../../checks/profile/parse-profile.ts';
import { looksLikeProduction } from '../../checks/profile/production-address.ts';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { DIRECT } from '../../checks/wire/access.ts';
import { stepLine } from '../../reports/load/load-report.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { CAPACITY_STEP, CATALOGUE, scenarioNamed } from '../../scenarios/lib/catalogue.ts';
import type { Mix, ScenarioFacts } from '../../scenarios/lib/scenario.ts';
import type { SloFigures } from '../../scenarios/lib/slo.ts';
import { MOST_REQUESTS, measureCapacity, searchBill } from '../../scenarios/runner/capacity/measure.ts';
import { provideK6 } from '../../scenarios/runner/k6/k6-binary.ts';
import { kubernetesManifests } from '../../scenarios/runner/kubernetes.ts';
import { type LoadRun, RECENT_SECONDS, runLoad } from '../../scenarios/runner/load-run.ts';
import {
  type LoadTarget,
  loadTarget,
  startEmbeddedTarget,
} from '../../scenarios/runner/quota/load-target.ts';
import { prepareLoad } from '../../scenarios/runner/quota/prepare.ts';
import { renderBill, totalOf } from '../../scenarios/runner/quota/quota.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { concerning, isDiskProblem } from '../shared/failure.ts';
import { untilInterrupted } from '../shared/interruption.ts';
import { liveLines } from '../shared/live-lines.ts';
import {
  durationSeconds,
  HEADER,
  knownName,
  numberFrom,
  wholeNumber,
  withHeaders,
} from '../shared/option-values.ts';
import { addressIn, environment, unsentValues } from '../shared/profile-file.ts';
import { printTable } from '../shared/screen.ts';
import { loadExitCode, prepareLoadFolder, tellLoad } from './load-folder.ts';

/** The parts of a mix, such as list=80,add=5,get=15. */
function parseMix(text: string): Mix {
  const parts = text.split(',').map((part) => /^(list|add|get)=(\d{1,4})$/.exec(part.trim()));
  const given = new Map(parts.map((part) => [part?.[1], Number(part?.[2])]));
  const [listPets = 0, createPet = 0, getPet = 0] = ['list', 'add', 'get'].map((name) => given.get(name));
  if (!parts.includes(null) && given.size === parts.length && listPets + createPet + getPet > 0)
    return { listPets, createPet, getPet };
  throw new InvalidArgumentError('Write it like list=80,add=5,get=15: each once, and not all 0.');
}

const usage = new Command('load')
  .argument('[scenario]', 'name of a scenario; --list prints them')
  .argument('[k6-options...]', 'after --: further options for k6 run')
  .option('--target <url>', 'base address; overrides the profile')
  .option('--profile <file>', 'target profile; without one the embedded reference server is loaded')
  .addOption(HEADER)
  .option('--env-file <file>', 'file with the variables that hold the keys; the environment takes precedence')
  .option('--out <dir>', 'folder for results', 'petstore-results/load')
  .option('--rate <n>', 'requests per second', numberFrom(0.01, 1_000_000))
  .option('--duration <time>', 'how long, such as 30s or 5m; not for capacity', durationSeconds)
  .option('--slo <objective>', 'thresholds, such as p99<200ms,errors<0.1%')
  .option('--mix <parts>', 'operations, such as list=80,add=5,get=15', parseMix)
  .option(
    '--validate-every <n>',
    'judge one body in N by the schema; every response has its headers judged',
    wholeNumber(1, 1_000_000),
  )
  .option('--shards <n>', 'k6 processes that share the load', wholeNumber(1, 64), 1)
  .option('--production-host <host>', 'load this host, although it may be in production use')
  .option('--kubernetes', 'print what the k6-operator needs instead of running: a ConfigMap and a TestRun')
  .option('--secret <name>', 'with --kubernetes: Secret that holds the keys', 'petstore-load-keys')
  .option('--dry-run', 'print the bill and send nothing')
  .option('--list', 'print the scenarios');

type LoadOptions = ReturnType<typeof usage.opts>;

/** k6's exit codes for options that are unknown or contradict each other. */
const K6_USAGE = new Set([104, 255]);

const EXAMPLES = `
Examples:
  $ petstore-harness load smoke      against the embedded reference server
  $ petstore-harness load mixed --profile staging.yaml --rate 15 --duration 5m
  $ petstore-harness load capacity --profile staging.yaml --slo 'p99<200ms'
  $ petstore-harness load soak --profile staging.yaml --dry-run
  $ petstore-harness load mixed -- --out web-dashboard

Exit codes: 0 held, 99 a threshold is broken, 2 wrong usage or not permitted,
3 no verdict (the generator was the limit), 130 interrupted;
others are k6's own.`;

const note = (line: string) => void process.stderr.write(`${line}\n`);

const SCENARIOS = [...CATALOGUE, CAPACITY_STEP];

/** @throws UsageError for all that is wrong with options, profile and keys */
async function targetOf(
  options: LoadOptions,
  { profile: rate, personas }: ScenarioFacts,
): Promise<LoadTarget & { close?: () => Promise<void> }> {
  const env = environment(options.envFile);
  if (options.profile === undefined) {
    if (options.target !== undefined || options.kubernetes === true)
      throw new UsageError(
        'load needs a profile that names the keys and allows load on the target: add --profile FILE',
      );
    return startEmbeddedTarget();
  }
  const uses: readonly (string | undefined)[] = [rate && 'load', personas?.role];
  const isUsed = (roles: readonly string[]) => roles.some((role) => uses.includes(role));
  const needs = options.dryRun === true ? undefined : { env, isUsed };
  const profile = withHeaders(readProfile(options.profile, needs), options.header);
  const address = addressIn(profile, options.target);
  const url = new URL(address);
  if (looksLikeProduction(url) && options.productionHost !== url.hostname) {
    throw new UsageError(
      `${url.hostname} may be in production use; if load is really intended there, add --production-host ${url.hostname}`,
    );
  }
  const values = options.dryRun === true ? unsentValues(profile) : keyValues(profile, env);
  const access = options.dryRun === true ? DIRECT : accessOf(profile, address, env);
  return loadTarget(profile, address, values, access);
}

function scenarioOf(name: string | undefined, { duration, shards }: LoadOptions): ScenarioFacts {
  const names = SCENARIOS.map((one) => one.name);
  if (name === undefined) throw new UsageError(`which scenario? Known: ${names.join(', ')}`);
  const known = knownName('scenario', name, names);
  const facts = scenarioNamed(known);
  if (facts === CAPACITY_STEP && (duration !== undefined || shards > 1))
    throw new UsageError('capacity takes neither --duration nor --shards');
  return facts;
}

/** @returns the exit code */
async function searchForCapacity(request: LoadRun): Promise<number> {
  const capacity = await measureCapacity({
    ...request,
    onStep: (step) => note(stepLine(step)),
    onWait: (seconds) => note(`  waiting ${Math.ceil(seconds)} s for the keys' next minute`),
  });
  const { verdict } = await tellLoad(request.out, capacity);
  if (request.stop?.aborted === true) return EXIT.interrupted;
  return verdict === 'pass' ? 0 : EXIT.inconclusive;
}

/** How far a load came, in its latest seconds and in all. */
export const progressLine = (most: number, seconds: number, all: SloFigures, recent: SloFigures) => {
  const { requests, latency } = recent;
  return [
    `  ${Math.round(seconds)} s: ${all.requests.toLocaleString('en')} of at most ${most.toLocaleString('en')} requests`,
    `${(requests / Math.min(seconds, RECENT_SECONDS)).toFixed(1)}/s`,
    `p95 ${requests === 0 ? '–' : `${latency(95).toFixed(1)} ms`}`,
    `${all.errors.toLocaleString('en')} errors`,
  ].join(', ');
};

/** @returns the exit code */
async function runScenario(request: LoadRun, most: number): Promise<number> {
  let latest: string[] = [];
  const live = liveLines(process.stderr, () => latest);
  const result = await runLoad({
    ...request,
    onProgress: (...progress) => {
      latest = [progressLine(most, ...progress)];
    },
    note: (line) => live.note(shownLine(line, 500)),
    dashboard: true,
  }).finally(live.end);
  await tellLoad(request.out, result);
  return loadExitCode(result);
}

async function load(name: string | undefined, further: string[], options: LoadOptions): Promise<void> {
  if (options.list === true) return printTable(SCENARIOS.map((one) => [one.name, one.answers]));
  const kill = new AbortController();
  // At the first signal k6 finishes what is under way, and results are kept. At the second it ends at once.
  const { signal: stop, release } = untilInterrupted(
    () => note('\nstopping; repeat the signal to end at once'),
    () => kill.abort(),
  );
  let target: (LoadTarget & { close?: () => Promise<void> }) | undefined;
  try {
    const facts = scenarioOf(name, options);
    target = await targetOf(options, facts);
    const { rate, duration, slo, mix, validateEvery, shards, secret, out } = options;
    const runId = randomBytes(4).toString('hex');
    const asked = {
      ...{ facts, target, runId, shards, k6Options: further },
      ...{ rate, seconds: duration, slo, mix, validateEvery },
    };
    if (options.kubernetes === true)
      return void process.stdout.write(await kubernetesManifests({ ...asked, secret }));
    const plan = prepareLoad(asked);
    if (options.dryRun !== true) prepareLoadFolder(out);
    const bill = facts === CAPACITY_STEP ? searchBill(plan.keys, target.clockSpeed) : plan.keys;
    const most = facts === CAPACITY_STEP ? Math.min(totalOf(bill), MOST_REQUESTS) : totalOf(bill);
    const told = [
      `${facts.name}: ${facts.answers}\n${renderBill(bill, most)}`,
      ...plan.notes.map((line) => `  note: ${line}`),
    ];
    // It is what a dry run was asked for.
    if (options.dryRun === true) return void process.stdout.write(`${told.join('\n')}\n`);
    told.map(note);
    concerning({
      directory: out,
      secrets: [...Object.values(target.secrets), ...target.access.secrets],
    });
    const k6 = await provideK6(note, stop);
    const run: LoadRun = { ...asked, k6, out, stop, kill: kill.signal };
    process.exitCode = facts === CAPACITY_STEP ? await searchForCapacity(run) : await runScenario(run, most);
    if (further.length > 0 && K6_USAGE.has(process.exitCode))
      throw new UsageError('k6 rejects the options after "--"; see its message above, and k6 run --help');
  } catch (error) {
    if (!stop.aborted || isDiskProblem(error)) throw error;
    process.exitCode = EXIT.interrupted;
  } finally {
    await target?.close?.();
    release();
  }
}

/** `load`: a k6 scenario against a target that allows load, or against the embedded reference server. */
export const command = usage.addHelpText('after', EXAMPLES).action(load);
