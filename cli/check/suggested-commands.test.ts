import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readReport } from '../../reports/read-report.ts';
import { COMMAND, run, shows, start, type TestTarget, testTarget } from '../testing/command.ts';

/** The commands that a text suggests, whole: a long one goes on after a backslash. */
const commandsIn = (text: string): string[] =>
  [...text.replaceAll(/ \\\n\s+/g, ' ').matchAll(/^ {2}(npx petstore-harness .*)$/gm)].map(
    ([, command = '']) => command,
  );

/** Runs each as it is pasted into a shell; nothing may be missing and nothing in the way. */
async function pasted(t: Test, target: TestTarget, text: string, codes: readonly number[]): Promise<void> {
  const commands = commandsIn(text);
  t.ok(commands.length > 0, text);
  for (const command of commands) {
    // Whatever may be spent is on the bill, which shows that the command is understood; repetitions are cheap.
    const whole = /--only|--resume/.test(command) ? command : `${command} --dry-run`;
    const shell = whole.replace('npx petstore-harness', `${process.execPath} ${COMMAND}`);
    const { code, stdout, stderr } = await run(target.folder, [], target.env, {
      through: ['sh', '-c', shell],
    });
    t.ok(code !== null && [0, ...codes].includes(code), `${command}: ${code} ${stderr}`);
    t.match(`${stdout}${stderr}`, target.address, `${command} is about the same target`);
  }
}

interface Kind {
  readonly name: string;
  readonly options?: readonly string[];
  readonly fault?: string;
  readonly permit?: readonly ('writes' | 'exhaust')[];
  /** Where the profile is moved to. */
  readonly profile?: string;
  readonly baseline?: string;
}

const FILTER = ['--only', 'list-status-filter,list-limit-range'];

const KINDS: readonly Kind[] = [
  { name: 'a run that only reads', permit: [] },
  { name: 'a broken requirement', fault: 'filter-ignored', options: FILTER },
  { name: 'a permission on the command line', permit: [], options: ['--permit', 'writes'] },
  { name: 'a profile whose name has a space', profile: 'my target.yaml', options: FILTER },
  { name: 'a broken one of it', fault: 'filter-ignored', profile: "it's a target.yaml", options: FILTER },
  {
    name: 'a target on the command line',
    fault: 'filter-ignored',
    options: ['--target', 'ADDRESS', ...FILTER],
  },
  { name: 'a file with the keys', fault: 'filter-ignored', options: ['--env-file', 'keys.env', ...FILTER] },
  { name: 'what must not be skipped', permit: [], options: ['--require', 'writes'] },
  { name: 'a baseline', fault: 'filter-ignored', baseline: '[]\n', options: FILTER },
  {
    name: 'a baseline that is stale',
    baseline: '- list-status-filter\n',
    options: FILTER,
  },
  { name: 'only a section', options: ['--only', '4.1'] },
];

for (const { name, options = [], fault, permit, profile, baseline } of KINDS) {
  t.test(`what is suggested after ${name} works as it is pasted`, async (t) => {
    const target = await testTarget(t, {
      permit: permit ?? ['writes'],
      keys: ['business-1'],
      ...(fault === undefined ? {} : { fault }),
    });
    const { folder, env } = target;
    const file = profile === undefined ? target.profile : join(folder, profile);
    if (profile !== undefined) renameSync(target.profile, file);
    const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}\n`);
    writeFileSync(join(folder, 'keys.env'), variables.join(''));
    if (baseline !== undefined) writeFileSync(join(folder, 'known.yaml'), baseline);
    const known = baseline === undefined ? [] : ['--baseline', 'known.yaml'];
    const args = options.map((word) => (word === 'ADDRESS' ? target.address : word));
    const ended = await run(
      folder,
      ['check', '--profile', file, '--format', 'human', ...known, ...args],
      env,
    );
    await pasted(t, target, ended.stdout, fault === undefined && baseline === undefined ? [] : [1]);
    // A stored run is repeated with the profile in its folder, whatever it was begun with: a few are enough.
    if (KINDS.findIndex((kind) => kind.name === name) > 2) return;
    const codes = fault === undefined && baseline === undefined ? [] : [1];
    const again = await run(
      folder,
      ['check', '--rejudge', 'petstore-results/latest', '--format', 'human'],
      env,
    );
    await pasted(t, target, again.stdout, codes);
  });
}

t.test(
  'an interrupted run is gone on with by the command that it ends with, and so is that one',
  async (t) => {
    const target = await testTarget(t, { keys: ['free-1'], permit: ['writes'], clockSpeed: 8 });
    const { folder, profile, env } = target;
    const started = start(folder, ['check', '--profile', profile, '--format', 'human', '--out', 'out'], env);
    await shows(started, 'stderr', /waiting/);
    started.child.kill('SIGINT');
    t.equal(await started.ended, 130);
    t.strictSame(commandsIn(started.output.stdout), ['npx petstore-harness check --resume out']);
    await pasted(t, target, started.output.stdout, []);
    const read = readReport(join(folder, 'out'));
    t.match(read, { ok: true, report: { verdict: 'conformant' } });
  },
);
