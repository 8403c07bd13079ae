import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { scenarioNamed } from '../../lib/catalogue.ts';
import type { LoadTarget } from '../quota/load-target.ts';
import { startEmbeddedTarget } from '../quota/load-target.ts';
import { k6, skip } from '../testing/brief-runs.ts';
import { type KubernetesRequest, kubernetesManifests } from './kubernetes.ts';
import { mergeResults } from './merge-results.ts';
import { readRunnerLog } from './runner-log.ts';

/** The operator's release whose CRD the manifests are held against. */
const OPERATOR = 'github.com/grafana/k6-operator@v0.0.19';

/** An address that a pod reaches; the embedded server's is its own. */
const IN_CLUSTER = 'http://pet-store.staging.svc:8080/v1';

async function manifests(
  target: LoadTarget,
  folder: string,
  shards: number,
  more: Partial<KubernetesRequest> = {},
): Promise<string> {
  const facts = scenarioNamed('mixed');
  if (facts === undefined) throw new Error('no mixed');
  return kubernetesManifests({
    facts,
    target: {
      ...target,
      address: IN_CLUSTER,
      keys: target.keys.filter(({ plan }) => plan === 'enterprise'),
    },
    rate: 40,
    seconds: 3,
    graceSeconds: 0.5,
    shards,
    folder,
    runId: 'abcd1234',
    secret: 'my-keys',
    ...more,
  });
}

/** The operator's schema, with every object closed: a field that it does not have is a mistake of ours. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([name]) => !name.startsWith('x-kubernetes') && name !== 'format',
  );
  const copy = Object.fromEntries(entries.map(([name, value]) => [name, closed(value)]));
  const isFree = 'x-kubernetes-preserve-unknown-fields' in schema || !('properties' in schema);
  return isFree ? copy : { ...copy, additionalProperties: false };
}

async function operatorSchema(): Promise<object | string> {
  let found: string;
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', OPERATOR], {
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    });
    found = JSON.parse(stdout).Dir;
  } catch (error) {
    return `the operator's module is not to be had: ${String(error).slice(0, 100)}`;
  }
  const crd = parse(await readFile(join(found, 'config/crd/bases/k6.io_testruns.yaml'), 'utf8'));
  const version = crd.spec.versions.find(({ name }: { name: string }) => name === 'v1alpha1');
  return { ...(closed(version.schema.openAPIV3Schema) as object) };
}

t.test("the TestRun is valid against the operator's own CRD, without an unknown field", async (t) => {
  const schema = await operatorSchema();
  if (typeof schema === 'string') {
    if (process.env['CI'] === 'true') t.fail(schema);
    else await t.test('the schema of the operator', { skip: schema }, async () => {});
    return;
  }
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  const [configMap, testRun] = parseAllDocuments(await manifests(target, t.testdir({}), 3)).map((each) =>
    each.toJS(),
  );
  // ObjectMeta is described elsewhere in Kubernetes.
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const { metadata, ...rest } = testRun;
  t.ok(validate({ ...rest, metadata: {} }), JSON.stringify(validate.errors?.slice(0, 3)));
  t.notOk(
    validate({ ...rest, metadata: {}, spec: { ...rest.spec, paralelism: 2 } }),
    'an unknown field is seen',
  );
  t.match(testRun, {
    apiVersion: 'k6.io/v1alpha1',
    kind: 'TestRun',
    spec: {
      parallelism: 3,
      script: { configMap: { name: configMap.metadata.name, file: 'script.js' } },
      runner: { envFrom: [{ secretRef: { name: 'my-keys' } }], image: /^grafana\/k6:\d+\.\d+\.\d+$/ },
    },
  });
  t.equal(metadata.name, configMap.metadata.name);
});

t.test('Prometheus is a choice', async (t) => {
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  const runnerOf = async (more: Partial<KubernetesRequest>) => {
    const { spec } = parseAllDocuments(await manifests(target, t.testdir({}), 1, more))[1]?.toJS() ?? {};
    return spec;
  };
  const without = await runnerOf({});
  t.notMatch(without.arguments, /--out/);
  t.notOk('env' in without.runner);
  const prometheusUrl = 'http://prometheus:9090/api/v1/write';
  const watched = await runnerOf({ prometheusUrl });
  t.match(watched.arguments, / --out=experimental-prometheus-rw$/);
  t.match(watched.runner.env[0], { name: 'K6_PROMETHEUS_RW_SERVER_URL', value: prometheusUrl });
});

t.test('an address that is the runner itself is refused', async (t) => {
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0']) {
    const loopback = { ...target, address: `http://${host}:8080/v1` };
    await t.rejects(
      manifests(target, '', 1, { target: loopback }),
      { message: /is the runner itself/ },
      host,
    );
  }
  await t.rejects(manifests(target, '', 1, { prometheusUrl: 'http://127.0.0.1:9090/' }), {
    message: /^--prometheus-url is 127\.0\.0\.1, which in a cluster is the runner itself/,
  });
});

t.test('no key is in the manifests, and runners share none', async (t) => {
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  const text = await manifests(target, t.testdir({}), 3);
  for (const value of Object.values(target.secrets)) t.notMatch(text, value);
  const plan = JSON.parse(parseAllDocuments(text)[0]?.toJS().data['plan.json']);
  const keys: number[] = plan.shards.flatMap((shard: { keys: number[] }) => shard.keys);
  t.equal(plan.shards.length, 3);
  t.equal(new Set(keys).size, keys.length);
});

t.test('what the operator would run does run, and its logs merge into one report', { skip }, async (t) => {
  const target = await startEmbeddedTarget();
  t.teardown(() => target.close());
  const folder = t.testdir({});
  const { data } = parseAllDocuments(await manifests(target, join(folder, 'bundle'), 2))[0]?.toJS() ?? {};
  await mkdir(join(folder, 'test'));
  for (const [name, content] of Object.entries(data))
    await writeFile(join(folder, 'test', name), String(content).replace(IN_CLUSTER, target.address));
  const logs = await Promise.all(
    ['0:1/2', '1/2:1'].map(async (segment, index) => {
      const log = join(folder, `runner-${index + 1}.log`);
      const sink = createWriteStream(log);
      const args = [
        `--execution-segment=${segment}`,
        '--execution-segment-sequence=0,1/2,1',
        '--log-format=json',
      ];
      const runner = spawn(k6.path, ['run', '--quiet', ...args, join(folder, 'test', 'script.js')], {
        env: { ...process.env, ...target.secrets },
      });
      runner.stdout.pipe(sink, { end: false });
      runner.stderr.pipe(sink, { end: false });
      await new Promise((resolve) => runner.once('close', resolve));
      await new Promise((resolve) => sink.end(resolve));
      return log;
    }),
  );
  const results = await Promise.all(logs.map(readRunnerLog));
  const merged = mergeResults(results);
  t.equal(merged.run.shards, 2);
  t.equal(
    merged.total.requests,
    results.reduce((sum, { total }) => sum + total.requests, 0),
  );
  // A busy machine does not get to send some.
  const { droppedIterations } = merged.generator;
  const arrivals = merged.total.requests + droppedIterations;
  t.ok(Math.abs(arrivals - 120) <= 3, `${arrivals} of 120 arrivals, ${droppedIterations} not sent`);
  t.same(merged.violations, []);
  t.same(merged.generator.errorLines, []);
  const used = results.map(({ bill }) => bill.keys.map(({ key }) => key));
  t.same(
    used[0]?.filter((key) => used[1]?.includes(key)),
    [],
    'no key is in two runners',
  );
});
