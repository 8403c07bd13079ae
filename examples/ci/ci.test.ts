import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { parse } from 'yaml';
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

const source = (path: string) => parse(readFileSync(new URL(path, packageRoot), 'utf8'));

// Bundled once, inside the package, where its imports and the page's assets are found.
const HARNESS = join(t.testdir(), 'main.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'stand-in.ts')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outfile: HARNESS,
});

/** What a runner would look up in an expression; anything else is a mistake in the file or here. */
type Lookup = Readonly<Record<string, string>>;

function expand(text: string, lookup: Lookup): string {
  return text.replace(/\$\{\{ *([^}]+?) *\}\}/g, (_, name: string) => {
    const value = lookup[name];
    if (value === undefined) throw new Error(`no value for the expression ${name}`);
    return value;
  });
}

/** An executable of that name, first on the PATH. */
function executable(folder: string, name: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

function bash(script: string, cwd: string, env: Record<string, string>) {
  // As GitHub starts `shell: bash`, and GitLab its scripts.
  const options = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  return spawnSync('bash', options, {
    cwd,
    // Without what the test runner has every process of Node load.
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env },
    encoding: 'utf8',
  });
}

/** The outputs that a step wrote to $GITHUB_OUTPUT. */
function outputs(file: string): [string, string][] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes('='))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
}

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
  function perform(t: { testdir: () => string }, inputs: Record<string, string>, exitCode: number) {
    const dir = t.testdir();
    mkdirSync(join(dir, 'petstore-results'));
    writeFileSync(join(dir, 'petstore-results/report.json'), '{"verdict":"conformant"}');
    const actionPath = join(dir, 'action path');
    mkdirSync(join(actionPath, 'dist/cli'), { recursive: true });
    writeFileSync(join(actionPath, 'package.json'), '{"type":"module"}');
    writeFileSync(join(actionPath, 'dist/cli/main.js'), `await import(${JSON.stringify(HARNESS)});\n`);
    const lookup: Record<string, string> = {};
    for (const [name, input] of Object.entries(action.inputs))
      lookup[`inputs.${name}`] = inputs[name] ?? input.default;
    const log: string[] = [];
    const ran: string[] = [];
    let code = 0;
    for (const [index, step] of action.runs.steps.entries()) {
      const annotates = step.if === "steps.check.outputs.verdict != ''";
      if (step.if !== undefined && !annotates) throw new Error(`this runner does not know: if ${step.if}`);
      if (annotates && lookup['steps.check.outputs.verdict'] === '') continue;
      const output = join(dir, `output-${index}`);
      const env: Record<string, string> = {
        GITHUB_ACTION_PATH: actionPath,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: join(dir, 'summary.md'),
        STAND_IN_EXIT_CODE: String(exitCode),
      };
      for (const [name, value] of Object.entries(step.env ?? {})) env[name] = expand(value, lookup);
      const result = bash(step.run ?? '', dir, env);
      log.push(result.stdout, result.stderr);
      ran.push(step.name ?? '');
      for (const [name, value] of outputs(output)) lookup[`steps.${step.id}.outputs.${name}`] = value;
      code = result.status ?? 1;
      if (code !== 0) break;
    }
    const told = Object.fromEntries(
      Object.entries(action.outputs).map(([name, { value }]) => [name, expand(value, lookup)]),
    );
    return { code, told, ran, dir, log: log.join('') };
  }

  await t.test('passes where the target conforms', async (t) => {
    const { code, told, ran, dir } = perform(t, { profile: 'petstore.yaml', permit: 'writes,exhaust' }, 0);
    t.equal(code, 0);
    t.strictSame(told, { verdict: 'conformant', 'exit-code': '0' });
    t.strictSame(ran, ['Build the harness', 'Check', 'Annotate', 'Gate']);
    t.match(readFileSync(join(dir, 'summary.md'), 'utf8'), /^## ✅ Conformant/);
    const { run } = JSON.parse(readFileSync(join(dir, 'petstore-results/report.json'), 'utf8'));
    t.same(JSON.parse(run.command), {
      out: 'petstore-results',
      profile: 'petstore.yaml',
      permit: 'writes,exhaust',
    });
  });

  await t.test('annotates and fails where it does not', async (t) => {
    const { code, told, log, dir } = perform(t, {}, 1);
    t.equal(code, 1);
    t.strictSame(told, { verdict: 'not-conformant', 'exit-code': '1' });
    t.match(log, /^::error title=error-status-matches/m);
    t.match(readFileSync(join(dir, 'summary.md'), 'utf8'), /^## ❌ Not conformant/);
  });

  await t.test('an inconclusive run is not green', async (t) => {
    const { code, told, log } = perform(t, {}, 3);
    t.equal(code, 3);
    t.strictSame(told, { verdict: 'inconclusive', 'exit-code': '3' });
    t.match(log, /^::warning title=Not verified/m);
  });

  await t.test('wrong usage fails, and what an earlier run left is not taken for a result', async (t) => {
    const { code, told, ran } = perform(t, {}, 2);
    t.equal(code, 2);
    t.strictSame(told, { verdict: '', 'exit-code': '2' });
    t.notOk(ran.includes('Annotate'));
  });

  await t.test('inputs are words, whatever they hold', async (t) => {
    const hostile = 'a b"; touch pwned; $(touch pwned) `touch pwned`';
    const { code, dir } = perform(t, { target: hostile, out: 'my results' }, 0);
    t.equal(code, 0);
    t.notOk(existsSync(join(dir, 'pwned')));
    const { run } = JSON.parse(readFileSync(join(dir, 'my results/report.json'), 'utf8'));
    t.equal(JSON.parse(run.command).target, hostile);
  });
});

/** A project with petstore-harness installed: `npm ci` has nothing to do, `npx` finds the command. */
function project(t: { testdir: () => string }) {
  const dir = t.testdir();
  const bin = join(dir, 'bin');
  executable(bin, 'npm', 'test "$1" = ci');
  executable(bin, 'gh', 'echo "gh $*"');
  executable(
    bin,
    'npx',
    `test "$1" = petstore-harness || exit 127; shift; exec "${process.execPath}" "${HARNESS}" "$@"`,
  );
  return { dir, env: { PATH: `${bin}:${process.env['PATH']}` } };
}

t.test('examples/ci/github-actions.yml', async (t) => {
  const workflow: { jobs: { conformance: { steps: Step[] } } } = source('examples/ci/github-actions.yml');
  const { steps } = workflow.jobs.conformance;
  for (const exitCode of [0, 1, 3]) {
    await t.test(`with exit code ${exitCode}`, async (t) => {
      const { dir, env } = project(t);
      const lookup = {
        'secrets.PETSTORE_FREE_KEY': 'k1',
        'secrets.PETSTORE_PRO_KEY': 'k2',
        'github.token': 't',
        'github.event.number': '7',
      };
      const log: string[] = [];
      let failed = 0;
      for (const step of steps) {
        if (step.run === undefined) continue;
        if (failed !== 0 && !step.if?.includes('!cancelled()')) continue;
        const stepEnv = Object.fromEntries(
          Object.entries(step.env ?? {}).map(([name, value]) => [name, expand(value, lookup)]),
        );
        const result = bash(step.run, dir, {
          ...env,
          ...stepEnv,
          GITHUB_STEP_SUMMARY: join(dir, 'summary.md'),
          STAND_IN_EXIT_CODE: String(exitCode),
        });
        log.push(result.stdout);
        failed ||= result.status ?? 1;
      }
      t.equal(failed, exitCode, 'the job ends as the check did');
      t.match(
        log.join(''),
        'gh pr comment 7 --edit-last --create-if-none --body-file petstore-results/summary.md',
      );
      t.ok(existsSync(join(dir, 'summary.md')), 'the step summary is written, failed or not');
      for (const name of ['summary.md', 'results.sarif'])
        t.ok(existsSync(join(dir, 'petstore-results', name)), name);
    });
  }
});

t.test('examples/ci/gitlab-ci.yml', async (t) => {
  const {
    conformance,
  }: {
    conformance: { script: string[]; after_script: string[]; artifacts: { reports: { junit: string } } };
  } = source('examples/ci/gitlab-ci.yml');
  for (const exitCode of [0, 1, 3]) {
    await t.test(`with exit code ${exitCode}`, async (t) => {
      const { dir, env } = project(t);
      const code = { ...env, STAND_IN_EXIT_CODE: String(exitCode) };
      t.equal(bash(conformance.script.join('\n'), dir, code).status, exitCode);
      const after = bash(conformance.after_script.join('\n'), dir, code);
      t.match(after.stdout, /^(✔ Conformant|✘ Not conformant|\? Inconclusive)/);
      t.ok(
        existsSync(join(dir, conformance.artifacts.reports.junit)),
        'the JUnit artifact is where the job says',
      );
    });
  }
});
