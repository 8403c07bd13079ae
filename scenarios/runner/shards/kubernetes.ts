/** A load as the k6-operator runs it: script and plan in a ConfigMap, a TestRun, keys from a Secret. */
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { LoadPlan } from '../../lib/scenario.ts';
import { bundleScenario } from '../k6/bundle.ts';
import { PINNED_K6 } from '../k6/k6-binary.ts';
import {
  blockSecondsOf,
  DEFAULT_VALIDATE_EVERY,
  type LoadRequest,
  plannedStreams,
  preparedOptions,
  prepareLoad,
} from '../load-run.ts';
import { LoadRefused } from '../quota/load-target.ts';
import { interleave, SCHEDULE_LENGTH } from '../quota/quota.ts';
import { divideKeys } from './shards.ts';

export interface KubernetesRequest extends Omit<LoadRequest, 'k6' | 'out'> {
  /** A folder to bundle in. */
  readonly folder: string;
  readonly runId: string;
  /** Secret that has each key under the name of its environment variable. */
  readonly secret: string;
  /** Where Prometheus takes remote writes. */
  readonly prometheusUrl: string;
}

const GRACE_SECONDS = 5;
/** What etcd takes, with room for the rest of the object. */
const LARGEST_CONFIG_BYTES = 900_000;

/**
 * The manifests. Runners have equal parts of the load and keys of their own, each of which can pay for its part.
 *
 * @throws LoadRefused where the load cannot be paid or divided
 */
export async function kubernetesManifests(request: KubernetesRequest): Promise<string> {
  const { facts, target, runId, shards: count = 1 } = request;
  const prepared = prepareLoad({ ...request, shards: 1 });
  const { rate, seconds, mix, quota } = prepared;
  if (quota.streams.some(({ stream }) => stream.kind !== 'rate')) {
    throw new LoadRefused(`${facts.name} is about single clients; only loads that are rates can be divided`);
  }
  const [first] = quota.streams;
  const shares = new Map<number, number>();
  for (const key of first?.schedule ?? []) {
    shares.set(key, (shares.get(key) ?? 0) + 1 / (first?.schedule.length ?? 1));
  }
  if (shares.size < count)
    throw new LoadRefused(`${count} runners need ${count} load keys, one each; there are ${shares.size}`);
  const parts = divideKeys(shares, count);
  // Every runner makes the same part of the load, whatever its keys.
  const equal = 1 / count;
  for (const { keys, share } of parts) {
    const bill = quota.bill.keys.filter((row) => keys.some((key) => target.keys[key]?.name === row.key));
    const affordable = Math.min(
      ...bill.map(({ requests, busiestMinute, perMinute, perDay }) =>
        Math.min((perDay - 4) / Math.max(1, requests), (perMinute - 4) / Math.max(1, busiestMinute)),
      ),
    );
    if (share * affordable < equal) {
      const names = bill.map(({ key }) => key).join(', ');
      throw new LoadRefused(`runners share the load evenly, and ${names} cannot pay one part of ${count}`);
    }
  }
  const usual = { graceSeconds: GRACE_SECONDS, toOutputs: true };
  const { vus } = preparedOptions(prepared, request, usual);
  // k6 rounds execution segments to whole users.
  const users = Math.ceil(vus / count) * count;
  const made = preparedOptions({ ...prepared, users }, request, usual);
  const used = [...shares.keys()].toSorted((a, b) => a - b);
  const position = (key: number) => used.indexOf(key);
  const plan: LoadPlan = {
    scenario: facts.name,
    runId,
    target: target.address,
    keys: used.flatMap((index) => {
      const key = target.keys[index];
      if (key === undefined) return [];
      const { name, plan, env, perMinute, perDay } = key;
      return [{ name, plan, env, perMinute, perDay }];
    }),
    streams: plannedStreams(quota.streams, rate).map((stream) => ({ ...stream, keys: [], schedule: [] })),
    shards: parts.map(({ keys, share }) => ({
      keys: keys.map(position),
      schedule: interleave(
        keys.map((key) => (shares.get(key) ?? 0) / share),
        keys.length === 1 ? 1 : SCHEDULE_LENGTH,
      ).map((place) => position(keys[place] ?? 0)),
    })),
    mix,
    validateEvery: request.validateEvery ?? DEFAULT_VALIDATE_EVERY,
    lists: request.lists ?? 'varied',
    // The runners' clocks and the target's are taken to agree; the oracle allows three seconds.
    clock: { from: 0, at: 0, speed: target.clockSpeed },
    seconds,
    samples: { categoryId: target.categoryId?.toString() ?? '1', ids: [] },
    control: undefined,
    report: {
      answers: facts.answers,
      slo: request.slo ?? facts.thresholds,
      blockSeconds: blockSecondsOf(request, seconds),
    },
    options: made.options,
  };
  const script = await readFile(await bundleScenario(facts.name, request.folder), 'utf8');
  const data = {
    'script.js': script.replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'),
    'plan.json': JSON.stringify(plan),
  };
  const bytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > LARGEST_CONFIG_BYTES)
    throw new LoadRefused(`the script and its plan have ${bytes} bytes; a ConfigMap takes a megabyte`);
  const name = `petstore-${facts.name}-${runId}`;
  const labels = { 'app.kubernetes.io/name': 'petstore-harness', 'petstore-harness/run': runId };
  const documents = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data },
    {
      apiVersion: 'k6.io/v1alpha1',
      kind: 'TestRun',
      metadata: { name, labels },
      spec: {
        parallelism: count,
        script: { configMap: { name, file: 'script.js' } },
        arguments: `--log-format=json --no-usage-report --tag testid=${runId} --out experimental-prometheus-rw`,
        runner: {
          image: `grafana/k6:${PINNED_K6}`,
          metadata: { labels },
          envFrom: [{ secretRef: { name: request.secret } }],
          env: [
            { name: 'K6_PROMETHEUS_RW_SERVER_URL', value: request.prometheusUrl },
            { name: 'K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM', value: 'true' },
          ],
        },
        initializer: { image: `grafana/k6:${PINNED_K6}`, metadata: { labels } },
      },
    },
  ];
  const literals = plan.keys.map(({ env }) => env).join(', ');
  const head = [
    `# ${facts.name} at ${rate} requests/s for ${seconds} s on ${count} runner${count === 1 ? '' : 's'}, ${quota.bill.total} requests at most.`,
    `# Keys: a Secret named ${request.secret} with ${literals}:`,
    `#   kubectl create secret generic ${request.secret} --from-env-file=keys.env`,
    '# Afterwards, one report from all runners:',
    `#   for pod in $(kubectl get pods -l petstore-harness/run=${runId},runner=true -o name); do`,
    '#     kubectl logs "$pod" > "$(basename "$pod").log"; done; petstore-harness merge *.log',
  ];
  return `${head.join('\n')}\n${documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')}`;
}
