/**
 * The package as its users have it: packed, installed into an empty project, run. `npx tap cli/package.test.ts` prints
 * sizes and start times.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { findK6 } from '../scenarios/runner/k6/k6-binary.ts';
import { packageRoot } from '../spec/package-root.ts';

const ROOT = fileURLToPath(packageRoot);
const MEGABYTE = 2 ** 20;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, without what the test runner has every process of Node load. */
async function run(cwd: string, program: string, args: readonly string[], env = {}): Promise<Outcome> {
  const { TAP: _nested, ...usual } = process.env;
  // The runner gives each process that it sees NODE_OPTIONS, with which TypeScript's compiler does not start.
  const words = ['-u', 'NODE_OPTIONS', program, ...args];
  const run = promisify(execFile)('env', words, { cwd, env: { ...usual, ...env } });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Outcome) => ({ code, stdout, stderr }),
  );
}

const folder = t.testdir({ project: { 'package.json': '{ "private": true, "type": "module" }' } });
const project = join(folder, 'project');
const command = join(project, 'node_modules', '.bin', 'petstore-harness');
// What is in dist/ is packed: building it anew would take it away from the tests beside this one. A clone that was never
// built has only what every test needs.
if (!existsSync(join(ROOT, 'dist', 'cli', 'main.js'))) await run(ROOT, 'npm', ['run', '--silent', 'build']);
const packing = await run(ROOT, 'npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]);
const [packed]: { filename: string; size: number; files: { path: string }[] }[] = JSON.parse(packing.stdout);
const files = packed?.files.map(({ path }) => path) ?? [];

t.test('packed, it is small and whole', async (t) => {
  const { size = Number.POSITIVE_INFINITY } = packed ?? {};
  t.comment(`${Math.round(size / 1000)} kB packed, ${files.length} files`);
  // Of these the bundle that draws the charts takes 120 kB.
  t.ok(size <= 700_000);
  const unwanted = /\.test\.|\.map$|buildinfo|(^|\/)(testing|bench|accuracy|attacks|build)\//;
  t.strictSame(
    files.filter((path) => unwanted.test(path)),
    [],
  );
  const dead = files.flatMap((path) => {
    const links = linksIn(path, readFileSync(join(ROOT, path), 'utf8'));
    return links
      .filter((link) => !isPacked(posix.join(posix.dirname(path), link)))
      .map((link) => `${path}: ${link}`);
  });
  t.strictSame(dead, [], 'every link and every import leads somewhere');
});

function linksIn(path: string, text: string): string[] {
  const links = {
    md: /\]\((?!https?:)([^)#]+)/g,
    js: /(?:from|import\(|import) ?['"](\.[^'"]+)['"]|# sourceMappingURL=(.*)/g,
    ts: /(?:from|import\() ?['"](\.[^'"]+)['"]/g,
  }[path.split('.').at(-1) ?? ''];
  return links === undefined ? [] : [...text.matchAll(links)].map(([, link, map]) => link ?? map ?? '');
}

/** A declaration names the source that it was made from. */
function isPacked(path: string): boolean {
  const folder = `${path.replace(/\/$/, '')}/`;
  const declaration = path.replace(/\.ts$/, '.d.ts');
  return files.some((file) => file === path || file === declaration || file.startsWith(folder));
}

/** A program whose types are those of the package. */
const TYPED = `import { check, conformance, serve, type Report } from 'petstore-harness';
import { test } from 'node:test';
await using server = await serve();
const [key] = server.keys;
const report: Report = await check({ target: server.address, keys: key ? [key] : [], only: ['list-limit-range'] });
const verdict: 'pass' | 'fail' | 'inconclusive' | 'skipped' | 'not-applicable' | undefined = report.requirements[0]?.verdict;
for (const { title, run } of conformance({ permit: ['writes'] })) test(title, run);
process.stdout.write(verdict ?? '');
`;
const TYPE_CHECK =
  '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --target es2023 --lib es2023,esnext.disposable --module nodenext --types node';

t.test('installed, it is light, and it runs', async (t) => {
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
  const installed = await run(project, 'npm', [...install, join(folder, packed?.filename ?? '')]);
  if (/E(NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NETUNREACH)/.test(installed.stderr)) {
    t.plan(0, `no registry to install the dependencies from: ${installed.stderr.split('\n', 1)[0]}`);
    return;
  }
  t.equal(installed.code, 0);
  t.notMatch(installed.stderr, /EBADENGINE|deprecated/);
  const lock: { packages: Record<string, { hasInstallScript?: true }> } = JSON.parse(
    readFileSync(join(project, 'package-lock.json'), 'utf8'),
  );
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  const bytes = readdirSync(join(project, 'node_modules'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  t.comment(`${(bytes / MEGABYTE).toFixed(1)} MB installed, ${packages.length} packages`);
  t.ok(packages.length <= 36 && bytes <= 16 * MEGABYTE);
  t.notOk(
    packages.some(([, { hasInstallScript }]) => hasInstallScript),
    'no install script',
  );
  await tryCommands(t);
  writeFileSync(join(project, 'typed.ts'), TYPED);
  const modules = join(ROOT, 'node_modules');
  const types = ['--typeRoots', join(modules, '@types'), 'typed.ts'];
  const tsgo = await run(project, join(modules, '.bin', 'tsgo'), [...TYPE_CHECK.split(' '), ...types]);
  t.match(tsgo, { code: 0, stdout: '' }, 'its declarations are whole');
});

for (const major of ['20', '22', '24']) {
  if (process.versions.node.startsWith(`${major}.`)) continue;
  t.test(`installed, it runs on Node ${major}`, async (t) => {
    // Another Node is a download that only a gate is asked to pay for.
    if (process.env['CI'] === undefined) return t.plan(0, 'CI is not set');
    const npx = ['--yes', '--package', `node@${major}`, '--call', 'node --print process.execPath'];
    const { stdout } = await run(folder, 'npx', npx);
    const node = `${major}.`;
    const call = await tryOptions(t, dirname(stdout.trim()), node);
    const only = ['--only', '4.1', '--format', 'tap', '--out', `out${node}`];
    t.match(await call(['check', ...only]), { code: 0, stdout: /^TAP version 14/ });
    t.match(await call(['load', 'smoke', '--dry-run']), { code: 0, stdout: /at most +\d/ });
  });
}

const NODE_TEST = ['--test', '--test-reporter=tap'];
/** Each example, and what it prints where the target conforms; where it ignores the filter, if that is another thing. */
const EXAMPLES = [
  [[...NODE_TEST, 'client.mjs'], /^# pass 3$/m],
  [
    [...NODE_TEST, 'node-test.mjs'],
    /^ *ok \d+ - add-answers-201 .* # SKIP needs[\s\S]*^ *ok \d+ - the run as a whole/m,
    /^ *not ok \d+ - list-status-filter /m,
  ],
  [['tap.mjs'], /^ *ok \d+ - add-answers-201 .* # SKIP needs the permission writes/m, /asked for: /],
  [['gate.mjs'], /^nothing-broken, /, /^list-status-filter: /m],
] as const;

/** The installed command, run by the Node in a folder; what it says without a target is looked at first. */
async function tryOptions(t: Test, nodeFolder: string, version: string) {
  const path = `${nodeFolder}${delimiter}${process.env['PATH']}`;
  const call = (args: readonly string[], env = {}) => run(project, command, args, { PATH: path, ...env });
  const node = await run(project, 'node', ['--print', 'process.versions.node'], { PATH: path });
  t.ok(node.stdout.startsWith(version));
  for (const option of ['--version', '--help']) {
    const begun = performance.now();
    t.equal((await call([option])).code, 0);
    t.comment(`${option} in ${((performance.now() - begun) / 1000).toFixed(2)} s`);
  }
  // Node would take the option for its own, and end with a code of its own.
  const none = ['check', '--target', 'http://127.0.0.1:9/v1', '--env-file', 'none'];
  t.match(await call(none), {
    code: 2,
    stderr: /^error: none: no such file or directory; .*\n$/,
  });
  const few = await run(project, 'sh', ['-c', `ulimit -n 20; exec ${command} --version`], { PATH: path });
  t.match(few, { code: 3, stderr: /^error: too many open files: .*\n$/ });
  return call;
}

const PROFILE = 'petstore-profile.yaml';

/** Runs each command and example once, as a project that installed the package has it. */
async function tryCommands(t: Test) {
  const call = await tryOptions(t, dirname(process.execPath), '');
  const conforming = await served(t);
  const check = ['check', '--profile', 'served.yaml', '--only', '4.1', '--permit', 'writes', '--out', 'out'];
  t.match(await call(check, conforming.env), { code: 0, stdout: /^TAP version 14/ });
  const report = await call(['report', 'out', '--format', 'terminal']);
  t.match(report, { code: 0, stdout: /^✔ Nothing broken/ });
  const init = await call(['init', '--target', conforming.target, '--out', PROFILE], conforming.env);
  t.match(init, { code: 0, stdout: /answers 200/ });
  const profile = readFileSync(join(project, PROFILE), 'utf8');
  t.match(profile, 'schema=./node_modules/petstore-harness/checks/profile/');
  for (const [words, good] of EXAMPLES) await tryExample(t, words, conforming.env, { code: 0, stdout: good });
  conforming.stop();
  const broken = await served(t, '--fault', 'filter-ignored');
  writeFileSync(join(project, PROFILE), profile.replace(conforming.target, broken.target));
  for (const [words, , bad] of EXAMPLES)
    if (bad !== undefined) await tryExample(t, words, broken.env, { code: 1, stdout: bad });
  broken.stop();
  const briefly = (await findK6()) === undefined ? ['--dry-run'] : ['--duration', '1s'];
  const load = await call(['load', 'smoke', ...briefly]);
  // 3: a machine too busy to generate even this.
  t.ok(load.code === 0 || load.code === 3, load.stderr);
}

/** The installed command's own server, and the variables that the examples want. */
async function served(t: Test, ...fault: readonly string[]) {
  const options = { cwd: project, env: { ...process.env, NODE_OPTIONS: '' } };
  const server = spawn(command, ['serve', '--profile-out', 'served.yaml', ...fault], options);
  const stop = () => server.kill();
  t.teardown(stop);
  const [target = ''] = (await once(createInterface(server.stdout), 'line')).map(String);
  const secrets = readFileSync(join(project, 'served.yaml.env'), 'utf8').matchAll(/^export (\w+)='(.*)'$/gm);
  const env: Record<string, string> = { PETSTORE_TARGET: target };
  for (const [, name = '', value = ''] of secrets) env[name] = value;
  env['PETSTORE_FREE_KEY'] = env['PETSTORE_FREE_1_KEY'] ?? '';
  // Its minute is long enough for one example right after the other.
  env['PETSTORE_PRO_KEY'] = env['PETSTORE_PRO_1_KEY'] ?? '';
  return { target, env, stop };
}

async function tryExample(
  t: Test,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  outcome: Pick<Outcome, 'code'> & { readonly stdout: RegExp },
) {
  const [name = ''] = words.slice(-1);
  copyFileSync(join(ROOT, 'examples', 'library', name), join(project, name));
  const modules = { NODE_PATH: join(ROOT, 'node_modules') };
  t.match(await run(project, 'node', words, { ...env, ...modules }), outcome, name);
}
