import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { parseProfile } from '../../checks/profile/parse-profile.ts';
import { assertAnsweredAsStored } from '../../checks/testing/answered-as-stored.ts';
import { DIRECT } from '../../checks/wire/access.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { scenarioNamed } from '../lib/catalogue.ts';
import { kubernetesManifests } from './kubernetes.ts';
import { startEmbeddedTarget } from './quota/load-target.ts';

/** The operator's release whose CRD the manifests are held against. */
const OPERATOR = 'github.com/grafana/k6-operator@v0.0.19';
/** It holds the schemas that Kubernetes publishes. */
const KUBERNETES = 'sigs.k8s.io/kubectl-validate@v0.0.4';

const facts = scenarioNamed('mixed');
const embedded = await startEmbeddedTarget();
t.teardown(() => embedded.close());
const target = {
  ...embedded,
  // An address that a pod reaches; the embedded server's is its own.
  address: 'http://pet-store.staging.svc:8080/v1',
  keys: embedded.keys.filter(({ plan }) => plan === 'enterprise'),
};

const manifests = (shards: number, more: Partial<Parameters<typeof kubernetesManifests>[0]> = {}) =>
  kubernetesManifests({
    facts,
    target,
    rate: 40,
    seconds: 3,
    shards,
    runId: 'abcd1234',
    secret: 'my-keys',
    ...more,
  });

const documents = async (...given: Parameters<typeof manifests>) =>
  parseAllDocuments(await manifests(...given)).map((each) => each.toJS());

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

/** A file of a Go module, read as YAML; where it is not to be had, the test is skipped, though not in CI. */
async function published(t: Test, module: string, file: string) {
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    });
    return parse(await readFile(join(JSON.parse(stdout).Dir, file), 'utf8'));
  } catch (error) {
    const why = `${module} is not to be had: ${String(error).slice(0, 100)}`;
    if (process.env['CI'] === 'true') t.fail(why);
    else await t.test('the published schema', { skip: why }, async () => {});
    return undefined;
  }
}

t.test('the examples are valid against the schemas of Kubernetes', async (t) => {
  const text = await readFile(new URL('examples/kubernetes/check.yml', packageRoot), 'utf8');
  const [config, ...jobs] = parseAllDocuments(text).map((each) => each.toJS());
  t.equal(parseProfile(config.data['petstore-profile.yaml'], 'p').keys.length, 1);
  const file = 'pkg/openapiclient/builtins/1.30/apis/batch/v1.json';
  const batch = await published(t, KUBERNETES, file);
  if (batch === undefined) return;
  const schemas = Object(closed(batch.components));
  for (const job of jobs) {
    const $ref = `#/components/schemas/io.k8s.api.batch.v1.${job.kind}`;
    const validate = new Ajv({ strict: false, allErrors: true }).compile({ $ref, components: schemas });
    t.ok(validate(job), JSON.stringify(validate.errors?.slice(0, 3)));
    t.notOk(validate({ ...job, spec: { ...job.spec, schedul: '@daily' } }), 'it sees an unknown field');
    const { spec } = job.spec.jobTemplate?.spec.template ?? job.spec.template;
    t.match(spec, { containers: [{ args: ['check'], envFrom: [{ secretRef: { name: /keys/ } }] }] });
  }
});

t.test("the TestRun is valid against the operator's own CRD, without an unknown field", async (t) => {
  const crd = await published(t, OPERATOR, 'config/crd/bases/k6.io_testruns.yaml');
  if (crd === undefined) return;
  const version = crd.spec.versions.find(({ name }: { name: string }) => name === 'v1alpha1');
  const schema = Object(closed(version.schema.openAPIV3Schema));
  const [, testRun] = await documents(3);
  // ObjectMeta is described elsewhere in Kubernetes.
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const { metadata, ...rest } = testRun;
  t.ok(validate({ ...rest, metadata: {} }), JSON.stringify(validate.errors?.slice(0, 3)));
  t.notOk(
    validate({ ...rest, metadata: {}, spec: { ...rest.spec, paralelism: 2 } }),
    'it sees an unknown field',
  );
});

/** A load as the name of a stored text has it. */
interface Asked extends Partial<Omit<Parameters<typeof manifests>[1], 'facts' | 'target'>> {
  readonly scenario?: string;
  readonly shards?: number;
  readonly address?: string;
  readonly access?: typeof target.access;
}

t.test('manifests are as stored, without a key', async (t) => {
  const file = join(import.meta.dirname, 'testing', 'manifests.txt');
  await assertAnsweredAsStored(t, file, async (asked) => {
    const given: Asked = JSON.parse(asked);
    const { scenario = 'mixed', shards = 1, address = target.address, access = DIRECT, ...more } = given;
    const chosen = { facts: scenarioNamed(scenario), target: { ...target, address, access } };
    const text = await manifests(shards, { ...more, ...chosen });
    for (const value of Object.values(target.secrets)) t.notMatch(text, value);
    return text.replace(/(script\.js: \|.*\n)(?: {4}.*\n|\n)+/, '$1');
  });
});
