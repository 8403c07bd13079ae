import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { check, conformance, NothingToJudge, serve, UsageError } from './library.ts';

const keyOf = (server: Awaited<ReturnType<typeof serve>>) => {
  const [{ plan, value } = { plan: 'free' as const, value: '' }] = server.keys;
  return { plan, value };
};

t.test('check: the report of a run, from keys in hand, without a folder', async (t) => {
  await using server = await serve();
  const told: string[] = [];
  const report = await check({
    target: server.address,
    keys: [keyOf(server)],
    only: ['4.1'],
    onSettled: ({ id, verdict }) => told.push(`${id} ${verdict}`),
  });
  t.match(report, {
    formatVersion: 2,
    verdict: 'conformant',
    run: {
      target: server.address,
      permissions: [],
      keys: [{ name: 'free-1', roles: ['functional', 'exhaust'] }],
    },
  });
  t.ok(told.includes('list-limit-range pass'));
  t.notMatch(JSON.stringify(report), keyOf(server).value);
});

t.test('check: what is wrong is thrown', async (t) => {
  await using server = await serve();
  const { address: target } = server;
  const keys = [keyOf(server)];
  await t.rejects(check({ target, keys: [{ plan: 'enterprise', value: 'a-long-key' }] }), UsageError);
  await t.rejects(check({ target, keys, profile: 'x.yaml' }), UsageError);
  await t.rejects(check({ profile: 'x.yaml', gaps: { 'limit-out-of-range': 'clamped' } }), UsageError);
  await t.rejects(check({ target, keys, only: ['list-limit-rang'] }), /did you mean "list-limit-range"/);
  await t.rejects(check({ target, keys: [{ plan: 'free', value: 'not-a-key' }] }), NothingToJudge);
});

t.test('check: a signal ends it', async (t) => {
  await using server = await serve();
  const stop = new AbortController();
  const run = check({
    target: server.address,
    keys: [keyOf(server)],
    signal: stop.signal,
    onSettled: () => stop.abort(new Error('enough')),
  });
  await t.rejects(run, /enough/);
  await t.rejects(check({ signal: AbortSignal.abort(new Error('never begun')) }), /never begun/);
});

t.test('serve: several faults at once', async (t) => {
  await using server = await serve({ faults: ['filter-ignored', 'limit-ignored'], animals: 150 });
  const keys = [keyOf(server)];
  const { requirements } = await check({ target: server.address, keys, only: ['4.1'] });
  const broken = requirements.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
  for (const id of ['list-status-filter', 'list-limit-maximum']) t.ok(broken.includes(id), id);
  await t.rejects(serve({ faults: ['filter-ignord'] }), /did you mean "filter-ignored"/);
});

t.test('conformance: a test for each requirement, and one for the run', async (t) => {
  await using server = await serve({ faults: ['filter-ignored'] });
  const tests = conformance({
    target: server.address,
    keys: [keyOf(server)],
    only: ['4.1', 'add-answers-201'],
  });
  t.ok(
    tests.every(({ run }) => run.length === 0),
    'a runner that counts parameters sees none',
  );
  const run = async (id: string, context = {}) => {
    const found = tests.find((one) => one.id === id);
    if (found === undefined) throw new Error(id);
    return found.run(context);
  };
  await t.rejects(run('list-status-filter'), {
    name: 'Nonconformity',
    message: /asked for: /,
    expected: String,
    actual: String,
    curl: /^curl /,
  });
  const said: string[] = [];
  const context = {
    skip: (why: string) => said.push(`skip ${why}`),
    pass: (why: string) => said.push(`pass ${why}`),
  };
  for (const id of ['list-limit-range', 'add-answers-201', 'run']) await run(id, context);
  t.match(said, [/^pass held in/, 'skip needs the permission writes', /^pass Not conformant/]);
});

t.test('conformance: a target that cannot be judged fails each test', async (t) => {
  const tests = conformance({
    target: 'http://127.0.0.1:1/v1',
    keys: [{ plan: 'free', value: 'a-long-key' }],
    only: ['4.1'],
  });
  for (const { run } of tests) await t.rejects(run(), NothingToJudge);
});

// What follows changes with a new version of the package only: a new major one where something is taken away.
t.test('the public surface', async (t) => {
  const source = readFileSync(join(import.meta.dirname, 'library.ts'), 'utf8');
  const { outputText } = ts.transpileDeclaration(source, { compilerOptions: { removeComments: true } });
  const surface = outputText.replace(/^import .*\n/gm, '').replace(/^ {4}/gm, '  ');
  t.equal(surface, SURFACE);
});

const SURFACE = `export type { KeyRole, Permission, PlanLimits, PlanName, Report, RequirementResult };
export { UsageError };
export interface TargetKey {
  readonly value: string;
  readonly plan: PlanName;
  readonly name?: string;
  readonly roles?: readonly KeyRole[];
}
export interface CheckOptions {
  readonly target?: string;
  readonly keys?: readonly TargetKey[];
  readonly profile?: string;
  readonly permit?: readonly Permission[];
  readonly only?: readonly string[];
  readonly plans?: {
      readonly enterprise?: PlanLimits;
  };
  readonly gaps?: Readonly<Record<string, string>>;
  readonly production?: boolean;
  readonly signal?: AbortSignal;
  readonly onSettled?: (row: SettledRequirement) => void;
}
export type SettledRequirement = Pick<RequirementResult, 'id' | 'section' | 'level' | 'title' | 'statement' | 'verdict' | 'reason' | 'expected' | 'actual' | 'curl'>;
export declare class NothingToJudge extends Error {
  readonly name = "NothingToJudge";
}
export declare function check(options?: CheckOptions): Promise<Report>;
export interface ServeOptions {
  readonly port?: number;
  readonly host?: string;
  readonly variant?: string;
  readonly faults?: readonly string[];
  readonly animals?: number;
  readonly clockSpeed?: number;
  readonly ban?: {
      readonly threshold?: number;
      readonly seconds?: number;
  };
}
export interface PetStore extends AsyncDisposable {
  readonly address: string;
  readonly keys: readonly {
      readonly name: string;
      readonly plan: PlanName;
      readonly value: string;
  }[];
  close(): Promise<void>;
}
export declare function serve({ faults, ...options }?: ServeOptions): Promise<PetStore>;
export interface TestContext {
  skip?(reason: string): unknown;
  pass?(reason: string): unknown;
}
export interface ConformanceTest {
  readonly id: string;
  readonly title: string;
  readonly run: (context?: TestContext) => Promise<void>;
}
export declare class Nonconformity extends AssertionError {
  readonly name = "Nonconformity";
  readonly curl: string | undefined;
  constructor(message: string, { expected, actual, curl }?: Partial<SettledRequirement>);
}
export declare function conformance(options?: CheckOptions): readonly ConformanceTest[];
`;
