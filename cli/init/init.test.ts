import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run, shows, start, testTarget } from '../testing/command.ts';

t.test(
  'writes a profile that checks the target as it stands, and says what each permission costs',
  async (t) => {
    const { folder, address, env } = await testTarget(t, { keys: ['free-1', 'free-ban'] });
    const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
    writeFileSync(join(folder, 'keys.env'), variables.join(''));
    const keys = ['--key', 'free=PETSTORE_FREE_1_KEY', 'free=PETSTORE_FREE_BAN_KEY:ban'];
    const written = await run(folder, ['init', '--target', address, ...keys, '--env-file', 'keys.env']);
    t.equal(written.code, 0, written.stderr);
    t.match(written.stdout, /target: {2}GET \/pets with PETSTORE_FREE_1_KEY answers 200/);
    t.match(written.stdout, /reading +\d+ of \d+ requirements: \d+ requests, about \d+ s\n/);
    t.match(written.stdout, /and writes .* animals that stay\n/);
    t.match(
      written.stdout,
      /Next: npx petstore-harness check --profile petstore-profile\.yaml --env-file keys\.env\n$/,
    );
    const checked = await run(folder, [
      'check',
      '--profile',
      'petstore-profile.yaml',
      '--env-file',
      'keys.env',
    ]);
    t.equal(checked.code, 0, checked.stderr);
    const again = await run(folder, ['init', '--target', address, ...keys]);
    t.equal(again.code, 2);
    t.match(again.stderr, /^error: petstore-profile\.yaml exists;/);
    for (const value of Object.values(env))
      t.notOk(
        `${written.stdout}${readFileSync(join(folder, 'petstore-profile.yaml'), 'utf8')}`.includes(value),
      );
  },
);

t.test('says what it needs, and repeats no key that was given by mistake', async (t) => {
  const folder = t.testdir({});
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^error: there is no terminal to ask: give --target URL and --key PLAN=VARIABLE\n$/],
    [
      ['--target', 'http://127.0.0.1:9/v1', '--key', 'free=sk-123'],
      /after free= comes the name of a variable/,
    ],
    [['--target', 'http://127.0.0.1:9/v1', '--key', 'sk-123'], /write PLAN=VARIABLE/],
    [['--target', 'ftp://127.0.0.1/v1', '--key', 'free=A_KEY'], /^error: --target: /],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await run(folder, ['init', ...args]);
    t.equal(code, 2, stderr);
    t.match(stderr, message);
    t.notMatch(stderr, 'sk-123');
  }
});

t.test('where nothing answers the profile is written all the same', async (t) => {
  const folder = t.testdir({});
  const args = ['init', '--target', 'http://127.0.0.1:9/v1', '--key', 'pro=A_KEY'];
  const tried = await run(folder, args, { A_KEY: 'some-key-or-other' });
  t.equal(tried.code, 0, tried.stderr);
  t.match(tried.stdout, /target: {2}no answer: the connection was refused/);
  const notTried = await run(folder, [...args, '--out', 'other.yaml']);
  t.match(notTried.stdout, /target: {2}not tried: set A_KEY first/);
});

// script is what gives a child a terminal; the one of the BSDs takes other arguments.
const script = process.platform === 'linux' && existsSync('/usr/bin/script');

t.test('a terminal', { skip: !script && 'there is no script to give one' }, async (t) => {
  const onTerminal = (folder: string, args: readonly string[]) =>
    start(folder, ['init', ...args], {}, { through: ['sh', '-c', 'exec script -qec "$*" /dev/null', 'sh'] });

  t.test('is asked for what no option tells, and for nothing else', async (t) => {
    const folder = t.testdir({});
    const asked = onTerminal(folder, ['--target', 'http://127.0.0.1:9/v1']);
    for (const [plan, answer] of [
      ['free key', 'FREE_KEY'],
      ['pro key', ''],
      ['business key', ''],
      ['Free key that may be banned', 'BAN_KEY'],
    ] as const) {
      await shows(asked, 'stdout', new RegExp(`Variable with a ${plan} [^:]*: `));
      asked.child.stdin.write(`${answer}\r`);
    }
    t.equal(await asked.ended, 0, asked.output.stdout);
    t.notMatch(asked.output.stdout, 'Base address');
    const written = readFileSync(join(folder, 'petstore-profile.yaml'), 'utf8');
    t.match(written, /env: FREE_KEY[\s\S]*env: BAN_KEY/);
  });

  t.test('that is left with Ctrl-C writes nothing, in one line', async (t) => {
    const folder = t.testdir({});
    const left = onTerminal(folder, []);
    await shows(left, 'stdout', /Base address/);
    left.child.stdin.write('\x03');
    t.equal(await left.ended, 2);
    t.match(left.output.stdout, /error: nothing was written: not all questions were answered\s*$/);
    t.strictSame(readdirSync(folder), []);
  });
});
