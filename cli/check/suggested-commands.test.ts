import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Permission } from '../../spec/permissions.ts';
import { runHere } from '../testing/in-process.ts';
import { testTarget } from '../testing/test-target.ts';

/** The commands that a text suggests, whole: a long one goes on after a backslash. */
const commandsIn = (text: string): string[] =>
  [...text.replaceAll(/ \\\n\s+/g, ' ').matchAll(/^ {2}(npx petstore-harness .*)$/gm)].map(
    ([, command = '']) => command,
  );

/** The words after the program's name, as a shell takes them. */
const wordsOf = (command: string): string[] => {
  const told = `npx() { shift; printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync('sh', ['-c', told], { encoding: 'utf8' }).split('\0').slice(0, -1);
};

interface Kind {
  readonly options?: readonly string[];
  readonly fault?: string;
  readonly permit?: readonly Permission[];
  /** Where the profile is moved to. */
  readonly profile?: string;
  readonly baseline?: string;
}

const fault = 'filter-ignored';
const FILTER = ['--only', 'list-status-filter,list-limit-range'];

const KINDS: Readonly<Record<string, Kind>> = {
  'a run that only reads': { permit: [] },
  'a permission on the command line': { permit: [], options: ['--permit', 'writes'] },
  'a profile whose name has a space': { profile: 'my target.yaml', options: FILTER },
  'a broken one of it': { fault, profile: "it's a target.yaml", options: FILTER },
  'a target on the command line': { fault, options: ['--target', 'ADDRESS', ...FILTER] },
  'a file with the keys': { fault, options: ['--env-file', 'keys.env', ...FILTER] },
  'what must not be skipped': { permit: [], options: ['--require', 'writes'] },
  'a baseline': { fault, baseline: '[]\n', options: FILTER },
  'a baseline that is stale': { baseline: '- list-status-filter\n', options: FILTER },
  'a run that is judged again': { fault, options: [...FILTER, '--rejudge', 'petstore-results/latest'] },
};

for (const [name, { options = [], permit, profile, baseline, ...broken }] of Object.entries(KINDS)) {
  t.test(`what is suggested after ${name} works as it is pasted`, async (t) => {
    const target = await testTarget(t, { permit: permit ?? ['writes'], keys: ['business-1'], ...broken });
    const { folder, env, address } = target;
    const file = profile ?? target.profile;
    if (profile !== undefined) renameSync(target.profile, join(folder, profile));
    const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}\n`);
    writeFileSync(join(folder, 'keys.env'), variables.join(''));
    writeFileSync(join(folder, 'known.yaml'), baseline ?? '');
    const known = baseline === undefined ? [] : ['--baseline', 'known.yaml'];
    const words = options.map((word) => (word === 'ADDRESS' ? address : word));
    const first = ['check', '--profile', file, '--format', 'human', ...known];
    const again = words.includes('--rejudge');
    if (again) await runHere(folder, first, env);
    const ended = await runHere(folder, [...(again ? ['check', '--format', 'human'] : first), ...words], env);
    const commands = commandsIn(ended.stdout);
    t.ok(commands.length > 0, ended.stdout + ended.stderr);
    for (const command of commands) {
      // Whatever may be spent is on the bill, which shows that the command is understood; repetitions are cheap.
      const whole = command.includes('--only') ? command : `${command} --dry-run`;
      const { code, stdout, stderr } = await runHere(folder, wordsOf(whole), env);
      t.equal(code, whole === command ? ended.code : 0, `${command}: ${stderr}`);
      t.match(`${stdout}${stderr}`, address, `${command} is about the same target`);
    }
  });
}
