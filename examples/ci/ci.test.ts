/** The very commands of each file, run as its runner would, against a served target. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { COMMAND } from '../../cli/testing/command.ts';
import { testTarget } from '../../cli/testing/test-target.ts';
import { packageRoot } from '../../spec/package-root.ts';

/** A step of a workflow or an action, as far as it runs a script. */
interface Step {
  readonly name?: string;
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(packageRoot);
const source = (path: string) => parse(readFileSync(join(ROOT, path), 'utf8'));

/** What a runner would look up in an expression; anything else is a mistake in the file or here. */
type Lookup = Readonly<Record<string, string>>;

function expand(text: string, lookup: Lookup): string {
  return text.replace(/\$\{\{ *([^}]+?) *\}\}/g, (_, name: string) => {
    const value = lookup[name];
    if (value === undefined) throw new Error(`no value for the expression ${name}`);
    return value;
  });
}

const expanded = ({ env = {} }: Step, lookup: Lookup) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value, lookup)]));

/** As GitHub starts `shell: bash`, and GitLab its scripts. */
async function bash(script: string, cwd: string, env: Record<string, string>) {
  const { NODE_OPTIONS: _runner, TAP: _nested, ...usual } = process.env;
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { ...usual, NO_COLOR: '1', ...env },
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: Number(code), log: stdout + stderr };
}

/** The outputs that a step wrote to $GITHUB_OUTPUT. */
function outputs(file: string): Record<string, string> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Object.fromEntries([...lines.matchAll(/^([\w-]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

/** A project with the target's profile and petstore-harness: `npm ci` has nothing to do, `npx` finds the command. */
async function project(t: Test, fault?: string) {
  const { folder, profile, env } = await testTarget(t, {
    permit: [],
    ...(fault === undefined ? {} : { fault }),
  });
  // The keys are named as in the examples.
  const named = (text: string) => text.replaceAll('_1_KEY', '_KEY');
  writeFileSync(join(folder, 'petstore-profile.yaml'), named(readFileSync(profile, 'utf8')));
  const keys = Object.fromEntries(Object.entries(env).map(([name, value]) => [named(name), value]));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, script] of [
    ['npm', 'test "$1" = ci'],
    ['gh', 'echo "gh $*"'],
    ['npx', `test "$1" = petstore-harness || exit 127; shift; exec "${process.execPath}" "${COMMAND}" "$@"`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { folder, keys, path: `${bin}:${process.env['PATH']}` };
}

const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

t.test('action.yml', async (t) => {
  const action: {
    inputs: Record<string, { default: string }>;
    outputs: Record<string, { value: string }>;
    runs: { using: string; steps: Step[] };
  } = source('action.yml');
  t.equal(action.runs.using, 'composite');
  for (const step of action.runs.steps) {
    t.equal(step.shell, 'bash', `${step.name} names its shell, which a composite action must`);
    t.notMatch(step.run, /\$\{\{/, `${step.name} has no expression in its script`);
  }

  /** Runs the steps in order as a runner does, until one fails; annotations, outputs and exit code are told. */
  async function perform(t: Test, inputs: Lookup, fault?: string) {
    const { folder, keys } = await project(t, fault);
    const path = join(folder, 'action path');
    mkdirSync(join(path, 'dist', 'cli'), { recursive: true });
    symlinkSync(COMMAND, join(path, 'dist', 'cli', 'main.js'));
    const lookup: Record<string, string> = {};
    for (const [name, input] of Object.entries(action.inputs))
      lookup[`inputs.${name}`] = inputs[name] ?? input.default;
    const summary = join(folder, 'step-summary.md');
    let log = '';
    let code = 0;
    for (const [index, step] of action.runs.steps.entries()) {
      const annotates = step.if === "steps.check.outputs.verdict != ''";
      if (step.if !== undefined && !annotates) throw new Error(`this runner does not know: if ${step.if}`);
      if (annotates && lookup['steps.check.outputs.verdict'] === '') continue;
      const output = join(folder, `output-${index}`);
      const files = { GITHUB_ACTION_PATH: path, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary };
      const ran = await bash(step.run ?? '', folder, { ...keys, ...files, ...expanded(step, lookup) });
      log += ran.log;
      for (const [name, value] of Object.entries(outputs(output)))
        lookup[`steps.${step.id}.outputs.${name}`] = value;
      code = ran.code;
      if (code !== 0) break;
    }
    const told = Object.fromEntries(
      Object.entries(action.outputs).map(([name, { value }]) => [name, expand(value, lookup)]),
    );
    return { code, told, folder, log, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '' };
  }

  await t.test('passes where the target conforms', async (t) => {
    const { code, told, summary } = await perform(t, { profile: 'petstore-profile.yaml' });
    t.equal(code, 0);
    t.strictSame(told, { verdict: 'nothing-broken', complete: 'false', 'exit-code': '0' });
    t.match(summary, /^## ✅ Nothing broken/);
  });

  await t.test('annotates and fails where it does not', async (t) => {
    const { code, told, log, summary } = await perform(
      t,
      { profile: 'petstore-profile.yaml' },
      'filter-ignored',
    );
    t.equal(code, 1);
    t.strictSame(told, { verdict: 'not-conformant', complete: 'false', 'exit-code': '1' });
    t.match(log, /^::error title=list-status-filter/m);
    t.match(summary, /^## ❌ Not conformant/);
  });

  await t.test('require asks for what is not permitted', async (t) => {
    const { code } = await perform(t, { profile: 'petstore-profile.yaml', require: 'all' });
    t.equal(code, 3);
  });

  await t.test('wrong usage fails, and what an earlier run left is not taken for a result', async (t) => {
    const { code, told, log } = await perform(t, {
      profile: 'petstore-profile.yaml',
      only: 'nonsense',
      out: '.',
    });
    t.equal(code, 2);
    t.strictSame(told, { verdict: '', complete: '', 'exit-code': '2' });
    t.notMatch(log, '::error');
  });

  await t.test(
    'installs a packed file, or the version of the action, and no development packages',
    async (t) => {
      const { folder, path } = await project(t);
      writeFileSync(join(folder, 'bin', 'npm'), '#!/bin/sh\necho "$@"\n');
      writeFileSync(join(folder, 'package.json'), '{"version":"1.2.3"}');
      const [install] = action.runs.steps;
      for (const [name, installed] of [
        ['', 'petstore-harness@1.2.3'],
        ['./harness.tgz', './harness.tgz'],
      ] as const) {
        const files = {
          GITHUB_ACTION_PATH: folder,
          GITHUB_OUTPUT: join(folder, 'output'),
          RUNNER_TEMP: folder,
        };
        const ran = await bash(install?.run ?? '', folder, { PATH: path, ...files, PETSTORE_PACKAGE: name });
        t.equal(ran.log, `install --no-audit --no-fund --prefix ${folder}/petstore-harness ${installed}\n`);
        t.match(outputs(join(folder, 'output')), {
          command: `${folder}/petstore-harness/node_modules/petstore-harness/dist/cli/main.js`,
        });
      }
    },
  );

  await t.test('inputs are words, whatever they hold', async (t) => {
    const hostile = 'a b"; touch pwned; $(touch pwned) `touch pwned`';
    const { code, folder, log } = await perform(t, { profile: hostile, out: 'my results' });
    t.equal(code, 2);
    t.match(log, 'a b"; touch pwned; $(touch pwned) `touch pwned`');
    t.notOk(existsSync(join(folder, 'pwned')));
  });
});

for (const [fault, exitCode] of [
  [undefined, 0],
  ['filter-ignored', 1],
] as const) {
  const how = fault === undefined ? 'green for a conforming target' : 'red for a broken one';

  t.test(`examples/ci/github-actions.yml: ${how}`, async (t) => {
    const workflow: { jobs: { conformance: { steps: Step[] } } } = source('examples/ci/github-actions.yml');
    const { folder, keys, path } = await project(t, fault);
    const lookup: Record<string, string> = { 'github.token': 't', 'github.event.number': '7' };
    for (const [name, value] of Object.entries(keys)) lookup[`secrets.${name}`] = value;
    let log = '';
    let failed = 0;
    for (const step of workflow.jobs.conformance.steps) {
      if (step.run === undefined || (failed !== 0 && !step.if?.includes('!cancelled()'))) continue;
      const summary = { GITHUB_STEP_SUMMARY: join(folder, 'step-summary.md') };
      const ran = await bash(step.run, folder, { PATH: path, ...summary, ...expanded(step, lookup) });
      log += ran.log;
      failed ||= ran.code;
    }
    t.equal(failed, exitCode);
    t.match(log, 'gh pr comment 7 --edit-last --create-if-none --body-file petstore-results/summary.md');
    t.equal(/^::error title=list-status-filter/m.test(log), exitCode === 1);
    t.ok(existsSync(join(folder, 'step-summary.md')), 'the step summary is written, failed or not');
    for (const name of ['summary.md', 'results.sarif'])
      t.ok(existsSync(join(folder, 'petstore-results', name)), name);
    t.ok(bytesIn(join(folder, 'petstore-results')) < 5_000_000);
  });

  t.test(`examples/ci/gitlab-ci.yml: ${how}`, async (t) => {
    const {
      conformance: job,
    }: {
      conformance: { script: string[]; after_script: string[]; artifacts: { reports: { junit: string } } };
    } = source('examples/ci/gitlab-ci.yml');
    const { folder, keys, path } = await project(t, fault);
    const env = { ...keys, PATH: path };
    const ran = await bash(job.script.join('\n'), folder, env);
    t.equal(ran.code, exitCode);
    const after = await bash(job.after_script.join('\n'), folder, env);
    t.match(after.log, exitCode === 0 ? /^✔ Nothing broken/ : /^✘ Not conformant/);
    t.ok(existsSync(join(folder, job.artifacts.reports.junit)), 'the JUnit artifact is where the job says');
  });
}
