/** A load for the k6-operator: script and plan in a ConfigMap, a TestRun, keys from a Secret. */

import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { isLoopback } from '../../checks/wire/base-address.ts';
import { TLS_CERT, TLS_KEY } from '../lib/scenario.ts';
import { PINNED_K6 } from './k6/k6-binary.ts';
import { SCRIPT } from './load-run.ts';
import { type LoadRequest, prepareLoad } from './quota/prepare.ts';
import { totalOf } from './quota/quota.ts';

const GRACE_SECONDS = 5;

/**
 * The manifests. Each runner has an equal part of the load, and keys of its own that can pay for it.
 *
 * @param request with the Secret that holds each key under the name of its environment variable
 * @throws UsageError if the load cannot be paid or divided, or if no runner can reach the target
 */
export async function kubernetesManifests(
  request: LoadRequest & { readonly secret: string },
): Promise<string> {
  const { facts, target, runId, secret, shards: count = 1, k6Options = [] } = request;
  // Pods have a proxy of their own, or none.
  const access = { ...target.access, proxy: undefined };
  const { headers, tls } = access;
  const { hostname } = new URL(target.address);
  if (tls.servername !== undefined)
    throw new UsageError(`pods take ${tls.servername} from the address: make it the host of the target`);
  if (isLoopback(hostname))
    throw new UsageError(
      `the target is ${hostname}, which in a cluster is the runner itself: name an address that its pods reach`,
    );
  const plan = prepareLoad({
    graceSeconds: GRACE_SECONDS,
    ...request,
    // The plan has only the keys that are in the Secret.
    target: { ...target, access, keys: target.keys.filter(({ roles }) => roles.includes('load')) },
  });
  const fromSecret = [
    ...[...plan.keys, ...headers].flatMap(({ env }) => env ?? []),
    ...(tls.key === undefined ? [] : [TLS_CERT, TLS_KEY]),
  ];
  const data = {
    ...(tls.ca === undefined ? {} : { 'ca.pem': tls.ca }),
    'plan.json': JSON.stringify(plan),
    'script.js': await readFile(SCRIPT, 'utf8'),
  };
  const labels = { 'app.kubernetes.io/name': 'petstore-harness', 'petstore-harness/run': runId };
  const metadata = { name: `petstore-${facts.name}-${runId}`, labels };
  const image = `grafana/k6:${PINNED_K6}`;
  const options = ['--log-format=json', '--no-usage-report', `--tag testid=${runId}`, ...k6Options];
  const runner = {
    image,
    metadata: { labels },
    envFrom: [{ secretRef: { name: secret } }],
    // The operator mounts the ConfigMap there.
    ...(tls.ca === undefined ? {} : { env: [{ name: 'SSL_CERT_FILE', value: '/test/ca.pem' }] }),
  };
  const spec = {
    parallelism: count,
    script: { configMap: { name: metadata.name, file: 'script.js' } },
    arguments: options.join(' '),
    runner,
    initializer: { image, metadata: { labels } },
  };
  const manifests = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
    { apiVersion: 'k6.io/v1alpha1', kind: 'TestRun', metadata, spec },
  ];
  const runners = `${count} runner${count === 1 ? '' : 's'}`;
  const head = [
    `# ${facts.name} at ${request.rate ?? facts.rate} requests/s for ${plan.seconds} s on ${runners}, ${totalOf(plan.keys)} requests at most.`,
    `# Secret: it is named ${secret}, with ${fromSecret.join(', ')}:`,
    `#   kubectl create secret generic ${secret} --from-env-file=keys.env`,
    '# Afterwards, one report from all runners:',
    `#   for pod in $(kubectl get pods -l petstore-harness/run=${runId},runner=true -o name); do`,
    '#     kubectl logs "$pod" > "$(basename "$pod").log"; done; petstore-harness merge *.log',
  ];
  return `${head.join('\n')}\n${manifests.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')}`;
}
