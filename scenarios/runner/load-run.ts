import { lookup } from 'node:dns/promises';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redactorOf } from '../../checks/wire/redaction.ts';
import { packageRoot } from '../../spec/package-root.ts';
import type { LoadPlan } from '../lib/messages.ts';
import { TLS_CERT, TLS_KEY } from '../lib/scenario.ts';
import { firstBroken, parseSlo, round, type SloFigures } from '../lib/slo.ts';
import type { K6Binary } from './k6/k6-binary.ts';
import { mostMemory, runK6, usedTogether } from './k6/k6-process.ts';
import type { LoadTarget } from './quota/load-target.ts';
import { preflight } from './quota/preflight.ts';
import { type LoadRequest, prepareLoad } from './quota/prepare.ts';
import { looksFirst } from './quota/quota.ts';
import { conclude } from './result/conclude.ts';
import type { LoadResult } from './result/load-result.ts';
import { Recording } from './result/recording.ts';

/** A load, and how this machine runs it. */
export interface LoadRun extends LoadRequest {
  readonly k6: K6Binary;
  /** Folder for what k6 runs and writes; made if it does not exist. */
  readonly out: string;
  /** Whether k6 writes its own dashboard beside the result. */
  readonly dashboard?: boolean;
  /** Called with the seconds that it runs, and with what was measured in all and over the last few of them. */
  readonly onProgress?: (seconds: number, all: SloFigures, recent: SloFigures) => void;
  readonly note?: (line: string) => void;
  /** Lets k6 finish what is under way. */
  readonly stop?: AbortSignal;
  /** Ends k6 at once. */
  readonly kill?: AbortSignal;
}

/** The script that `npm run build` makes for k6. */
export const SCRIPT = new URL('dist/scenarios/k6/script.js', packageRoot);

/** Puts the script and its plan into a folder, readable by the user only. @returns the path of the script */
export async function placeScript(folder: string, plan: LoadPlan): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const script = join(folder, 'script.js');
  await copyFile(SCRIPT, script);
  await chmod(script, 0o600);
  await writeFile(join(folder, 'plan.json'), JSON.stringify(plan, null, 2), { mode: 0o600 });
  return script;
}

/** k6's options for one of several processes that share a load. */
export function segmentOptions(index: number, count: number): string[] {
  if (count === 1) return [];
  const bounds = Array.from({ length: count + 1 }, (_, place) => `${place}/${count}`);
  return [
    `--execution-segment=${bounds[index]}:${bounds[index + 1]}`,
    `--execution-segment-sequence=${bounds.join(',')}`,
    // It keeps two processes from writing to the same series of an output.
    `--tag=instance_id=${index + 1}`,
  ];
}

/** k6's own dashboard as a file, without a server. */
const dashboardEnvironment = (file: string) => ({
  K6_WEB_DASHBOARD: 'true',
  K6_WEB_DASHBOARD_PORT: '-1',
  K6_WEB_DASHBOARD_PERIOD: '1s',
  K6_WEB_DASHBOARD_EXPORT: file,
});

/** What k6 needs to reach the target, in its environment alone. */
function accessEnvironment({ address, access }: LoadTarget, authority: string) {
  const { headers, tls, proxy } = access;
  const all = {
    ...{ [TLS_CERT]: tls.cert, [TLS_KEY]: tls.key, SSL_CERT_FILE: tls.ca && authority },
    [`${new URL(address).protocol.slice(0, -1).toUpperCase()}_PROXY`]: proxy?.href,
    ...Object.fromEntries(headers.flatMap(({ env, value }) => (env === undefined ? [] : [[env, value]]))),
  };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** k6 takes the name that the certificate is for from the address: there it leads to the host of the target. */
async function namedByCertificate({ address, access }: LoadTarget, plan: LoadPlan): Promise<LoadPlan> {
  const { servername } = access.tls;
  if (servername === undefined) return plan;
  const { host, hostname } = new URL(address);
  const { address: ip } = await lookup(hostname.replace(/[[\]]/g, ''));
  return {
    ...plan,
    base: address.replace(hostname, servername),
    headers: [...plan.headers, { name: 'Host', value: host }],
    options: { ...plan.options, hosts: { [servername]: ip } },
  };
}

/**
 * Runs a scenario: bill, preflight, script, k6, result. It leaves k6/ (what k6 ran) and k6-dashboard.html (k6's own report)
 * in the folder.
 */
export async function runLoad(request: LoadRun): Promise<LoadResult> {
  const { target, k6, out, k6Options = [], note, stop, kill } = request;
  const paid = prepareLoad(request);
  const { name = '', env = '' } = paid.keys[looksFirst(paid)] ?? {};
  const seen = await preflight(target, { name, env }, stop);
  const plan = { ...(await namedByCertificate(target, paid)), ...seen };
  const script = await placeScript(join(out, 'k6'), plan);
  const { access } = target;
  const authority = join(out, 'k6', 'ca.pem');
  if (access.tls.ca !== undefined) await writeFile(authority, access.tls.ca, { mode: 0o600 });
  const redact = redactorOf([...Object.values(target.secrets), ...access.secrets]);
  const paying = plan.keys.filter(({ requests }) => requests > 0);
  const keys = Object.fromEntries(paying.map(({ env }) => [env, target.secrets[env] ?? '']));
  stop?.throwIfAborted();
  const processes = plan.turns.length;
  const recording = new Recording({ plan, processes, redact, note });
  // The look at the target.
  recording.samples.paid.set(name, { sent: 1, refused: 0 });
  const watch = watchLoad(request, plan, recording);
  // The user's own has its options from the same variables.
  const hasDashboard =
    request.dashboard === true && !k6Options.some((option) => option.includes('web-dashboard'));
  const dashboards = plan.turns.map((_, index) =>
    join(out, processes === 1 ? 'k6-dashboard.html' : `k6-dashboard-${index + 1}.html`),
  );
  const exits = await Promise.all(
    dashboards.map((file, index) =>
      runK6({
        k6: k6.path,
        script,
        // Wherever k6 writes its metrics, this tag distinguishes the runs.
        options: [`--tag=testid=${plan.runId}`, ...segmentOptions(index, processes), ...k6Options],
        environment: {
          ...(hasDashboard ? dashboardEnvironment(file) : {}),
          ...keys,
          ...accessEnvironment(target, authority),
        },
        mostMemory: mostMemory(plan.vus, processes),
        onLine: (line) => recording.add(line),
        onProblem: (line) => recording.problem(line),
        stop: AbortSignal.any([watch.stop, ...(stop === undefined ? [] : [stop])]),
        kill,
      }),
    ),
  );
  clearInterval(watch.timer);
  // k6 writes it for everybody to read; it exists unless the run was too short.
  for (const file of dashboards) await chmod(file, 0o600).catch(() => undefined);
  const part = recording.part({
    ...usedTogether(exits),
    k6Version: k6.version,
    k6ExitCode: exits.find(({ code }) => code !== 0)?.code ?? exits[0]?.code ?? null,
    ...(stop?.aborted === true ? { interrupted: 'by a signal' } : {}),
  });
  const isThrough = stop?.aborted !== true && !watch.stop.aborted;
  if (request.facts.profile === 'breakpoint' && isThrough)
    part.notes.push(`nothing broke up to ${round(plan.rate)} requests/s; set --rate to go further`);
  return conclude([part]);
}

const LOOK_EVERY_MS = 1_000;
/** Over so many seconds it is told how a load goes. */
export const RECENT_SECONDS = 3;
/** Fewer say nothing of an objective. */
const LEAST_REQUESTS = 20;
/** Once may be a hiccup. */
const LOOKS = 2;

/**
 * Tells how the load goes. A load that looks for its breakpoint is to stop as soon as its last seconds break the objective twice in a
 * row; what broke is one of its thresholds then.
 */
function watchLoad({ facts, onProgress }: LoadRun, plan: LoadPlan, recording: Recording) {
  const clauses = parseSlo(plan.slo);
  const began = Date.now();
  const stopping = new AbortController();
  let brokenLooks = 0;
  const timer = setInterval(() => {
    const since = Date.now() - RECENT_SECONDS * 1000;
    const { samples } = recording;
    const [all, recent] = [samples.since(0), samples.since(since)];
    const { requests } = recent;
    const seconds = (Date.now() - began) / 1000;
    onProgress?.(seconds, all, recent);
    if (facts.profile !== 'breakpoint' || stopping.signal.aborted || requests < LEAST_REQUESTS) return;
    const outcome = firstBroken(clauses, recent);
    brokenLooks = outcome === undefined ? 0 : brokenLooks + 1;
    if (outcome === undefined || brokenLooks < LOOKS) return;
    const at = (since - samples.first) / 1000;
    // The rate climbs evenly.
    const rate = round((plan.rate * at) / plan.seconds);
    const threshold = {
      kind: 'run',
      name: `${outcome.name} holds at every rate`,
      held: false,
      expected: `up to ${round(plan.rate)} requests/s`,
      actual: `broke at about ${rate} requests/s, after ${round(at)} s (${outcome.actual})`,
    } as const;
    recording.take({ threshold });
    stopping.abort();
  }, LOOK_EVERY_MS);
  timer.unref();
  return { stop: stopping.signal, timer };
}
