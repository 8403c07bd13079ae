import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { allChecks, checksByPart } from '../../checks/sections/all-checks.ts';
import { answered } from '../../checks/wire/testing/answered.ts';
import { conformantReport } from '../../reports/testing/sample-reports.ts';
import { run } from '../testing/command.ts';
import { readBaseline } from './check-baseline.ts';
import { resultsFolder } from './check-folder.ts';
import { checkSubject } from './check-subject.ts';

const PROFILE = `target: http://127.0.0.1:9/v1
keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]
`;
const KEY = { PETSTORE_FREE_KEY: 'not-a-key-of-anybody' };

t.test('wrong usage is one line for each problem, on standard error, and exit code 2', async (t) => {
  const folder = t.testdir({ 'p.yaml': PROFILE });
  for (const [args, message] of [
    [['--unknown'], /^error: unknown option '--unknown'\n$/],
    [['--permit', 'writes,exaust'], /"exaust" is not a permission; did you mean "exhaust"\?/],
    [['--only', 'list-limt-range'], /no requirement "list-limt-range"; did you mean "list-limit-range"\?/],
    [['--only', ''], /Separate names with commas/],
    [['--format', 'xml'], /Allowed choices are human, tap/],
    [['--profile', 'p.yaml'], /PETSTORE_FREE_KEY, which holds the key free-1, is not set; set it/],
    [['--resume', 'x', '--rejudge', 'y'], /cannot be used with option/],
    [['--resume', 'x', '--out', 'y'], /cannot be used with option/],
  ] as const) {
    const { code, stdout, stderr } = await run(folder, ['check', ...args]);
    t.equal(code, 2, args.join(' '));
    t.equal(stdout, '', 'nothing that could be taken for a result');
    t.match(stderr, message);
    t.match(stderr, /^(error: .+\n)+$/);
  }
});

t.test('an address without the version segment is warned of, and no error', async (t) => {
  const folder = t.testdir({ 'p.yaml': PROFILE });
  const plan = (target: string) =>
    run(folder, ['check', '--profile', 'p.yaml', '--target', target, '--dry-run'], KEY);
  t.match(await plan('http://localhost:9/'), {
    code: 0,
    stderr:
      /^warning: the base address http:\/\/localhost:9 has no version segment; is \/v1 missing from the address\?\n$/,
    stdout: /^ {2}Requests /m,
  });
  t.match(await plan('http://localhost:9/shop/v1'), { code: 0, stderr: /^$/ });
});

t.test('--help says what --permit does to the permissions of a profile', async (t) => {
  const { stdout } = await run(t.testdir({}), ['check', '--help']);
  const words = stdout.replace(/\s+/g, ' ');
  t.match(
    words,
    '--permit <names> writes, exhaust, ban, day, comma-separated; replaces the list in the profile',
  );
  const folder = t.testdir({ 'p.yaml': `${PROFILE}permit: [writes]\n` });
  const { stdout: bill } = await run(
    folder,
    ['check', '--profile', 'p.yaml', '--permit', 'exhaust', '--dry-run'],
    KEY,
  );
  t.match(bill, /, permitted exhaust:/);
});

const JOURNAL = {
  journal: 2,
  harnessVersion: '0.1.0',
  runId: 'abcd2345',
  startedAt: 0,
  permissions: [],
  keys: [],
  clockSpeed: 1,
};

const EXCHANGE = JSON.stringify({ exchange: answered() });

t.test('what is wrong with target, profile, keys and stored runs', async (t) => {
  const folder = t.testdir({
    'p.yaml': PROFILE,
    'no-target.yaml': PROFILE.replace(/^target.*\n/, ''),
    'broken.yaml': `${PROFILE}permits: [writes]\n`,
    'prod.yaml': PROFILE.replace('http://127.0.0.1:9', 'https://petstore.example.com'),
    folder: {},
    unfinished: { 'journal.ndjson': '{"journal":1}\n' },
    begun: { 'journal.ndjson': `${JSON.stringify({ ...JOURNAL, target: 'http://127.0.0.1:9/v1' })}\n` },
    elsewhere: {
      'journal.ndjson': `${JSON.stringify({ ...JOURNAL, target: 'https://staging.example.com/v1' })}\n${EXCHANGE}\n`,
      'profile.yaml': PROFILE,
    },
  });
  const at = (name: string) => join(folder, name);
  const before = process.env['PETSTORE_FREE_KEY'];
  t.teardown(() => {
    if (before === undefined) delete process.env['PETSTORE_FREE_KEY'];
    else process.env['PETSTORE_FREE_KEY'] = before;
  });
  const target = 'http://127.0.0.1:9/v1';
  for (const [options, key, message] of [
    [
      { only: ['interface-version'] },
      'some-key',
      /interface-version has no check: The number belongs to the document/,
    ],
    [
      { only: ['xyzzy-plugh'] },
      'some-key',
      /no requirement "xyzzy-plugh"; see petstore-harness check --list/,
    ],
    [{ only: ['6'] }, 'some-key', /no requirement "6"/],
    [{ target }, undefined, /no key is given: set at least one of PETSTORE_FREE_KEY/],
    [{ target }, '', /PETSTORE_FREE_KEY, which holds the key free-1, is empty/],
    [
      { target: 'ftp://x' },
      'some-key',
      /--target: the target is not an http:\/\/ or https:\/\/ address; write it like/,
    ],
    [{ target: 'http://user:word@x/v1' }, 'some-key', /--target: the target contains credentials/],
    [{ profile: at('none.yaml') }, 'some-key', /none\.yaml:1:1: there is no such profile/],
    [{ profile: at('folder') }, 'some-key', /folder:1:1: the profile is a directory/],
    [
      { profile: at('broken.yaml') },
      'some-key',
      /broken\.yaml:3:1: .*no field "permits"; did you mean "permit"\?/,
    ],
    [
      { profile: at('no-target.yaml') },
      'some-key',
      /no target is given: add target: to the profile, or --target URL/,
    ],
    [
      { profile: at('prod.yaml'), permit: ['writes'] },
      'some-key',
      /example\.com may be in production use.*--production/,
    ],
    [{ resume: at('folder') }, 'some-key', /there is no journal/],
    [{ resume: at('p.yaml') }, 'some-key', /there is no journal/],
    [{ rejudge: at('unfinished') }, 'some-key', /journal\.ndjson:1: this is not the first line of a journal/],
    [
      { rejudge: at('begun') },
      'some-key',
      /begun\/journal\.ndjson: it holds no exchange, so there is nothing to judge$/,
    ],
    [
      { rejudge: at('elsewhere') },
      'some-key',
      /elsewhere\/journal\.ndjson:1: the stored run checked https:\/\/staging\.example\.com\/v1, and \S+elsewhere\/profile\.yaml names http:\/\/127\.0\.0\.1:9\/v1$/,
    ],
    [
      { rejudge: at('elsewhere'), profile: at('p.yaml') },
      'some-key',
      /journal\.ndjson:1: the stored run checked \S+, and \S+p\.yaml names http:\/\/127\.0\.0\.1:9\/v1$/,
    ],
    [
      { resume: at('elsewhere'), target: 'http://127.0.0.1:8/v1' },
      'some-key',
      /journal\.ndjson:1: the stored run checked \S+, and --target names http:\/\/127\.0\.0\.1:8\/v1$/,
    ],
  ] as const) {
    if (key === undefined) delete process.env['PETSTORE_FREE_KEY'];
    else process.env['PETSTORE_FREE_KEY'] = key;
    await t.rejects(checkSubject(options), { name: 'UsageError', message }, JSON.stringify(options));
  }
  process.env['PETSTORE_FREE_KEY'] = 'some-key';
  const reading = await checkSubject({ profile: at('prod.yaml') });
  t.same(reading.permissions, [], 'reading needs no word');
  const meant = await checkSubject({ profile: at('prod.yaml'), permit: ['writes'], production: true });
  t.same(meant.permissions, ['writes']);
});

t.test('baselines that cannot be read', async (t) => {
  const folder = t.testdir({
    map: 'a: b\n',
    twice: '- list-limit-range\n- list-limit-range\n',
    excluded: '- interface-version\n',
    field: '- { id: list-limit-range, why: x }\n',
    big: '#'.repeat(2 ** 20 + 1),
    alias: '- &a list-limit-range\n- *a\n',
    empty: '',
    folder: {},
  });
  for (const [name, message] of [
    ['none', /none: no such file/],
    ['folder', /folder: is not a regular file/],
    ['map', /map:1:1: a baseline must be a list/],
    ['twice', /twice:2:3: list-limit-range is listed twice; remove one/],
    ['excluded', /excluded:1:3: there is no requirement "interface-version" with a check/],
    ['field', /field:1:27: an entry has no field "why"/],
    ['big', /big: is larger than 1 MiB/],
    ['alias', /alias:1:6: anchors/],
  ] as const) {
    t.throws(() => readBaseline(join(folder, name)), { name: 'UsageError', message }, name);
  }
  t.same(readBaseline(join(folder, 'empty')), []);
});

t.test('folders for results', async (t) => {
  const folder = t.testdir({ 'a-file': '', unfinished: { 'journal.ndjson': '{}' }, finished: {} });
  await t.rejects(resultsFolder(join(folder, 'a-file')), {
    name: 'UsageError',
    message: /a-file is not a folder; choose another one with --out/,
  });
  await t.rejects(resultsFolder(''), { name: 'UsageError', message: /--out is empty/ });
  await t.rejects(resultsFolder(join(folder, 'unfinished')), {
    name: 'UsageError',
    message: /unfinished holds an unfinished run: continue it with --resume/,
  });
  writeFileSync(join(folder, 'finished', 'journal.ndjson'), '{}');
  writeFileSync(join(folder, 'finished', 'report.json'), JSON.stringify(conformantReport()));
  t.equal(await resultsFolder(join(folder, 'finished')), join(folder, 'finished'));
  t.notOk(
    existsSync(join(folder, 'finished', 'report.json')),
    'the earlier report is not taken for the new one',
  );
});

t.test(
  'a folder in which none can be made is told at once',
  { skip: !existsSync('/proc/self') },
  async (t) => {
    await t.rejects(resultsFolder('/proc/none/at/all'), {
      name: 'UsageError',
      message: /results cannot be written to \/proc\/none\/at\/all: ENOENT/,
    });
  },
);

t.test('a day that cannot pay for the run is refused before anything is sent', async (t) => {
  const folder = t.testdir({});
  writeFileSync(
    join(folder, 'small.yaml'),
    `target: http://127.0.0.1:9/v1
plans: { enterprise: { perMinute: 100, perDay: 120 } }
keys: [{ name: ours, plan: enterprise, env: PETSTORE_FREE_KEY, roles: [functional, exhaust] }]
permit: [writes, exhaust]
`,
  );
  for (const more of [[], ['--dry-run']]) {
    const { code, stderr } = await run(folder, ['check', '--profile', 'small.yaml', ...more], KEY);
    t.equal(code, 2);
    t.match(
      stderr,
      /^error: the day’s quota cannot pay for this run: key ours would spend \d+ requests, but its plan allows 120 a day/,
    );
  }
});

t.test('without a command, and with an unknown one', async (t) => {
  const folder = t.testdir({});
  t.match(await run(folder, []), { code: 2, stdout: '', stderr: /Usage: petstore-harness/ });
  t.match(await run(folder, ['chekc']), { code: 2, stdout: '', stderr: /unknown command 'chekc'/ });
  t.match(await run(folder, ['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ });
});

t.test('--only knows every part', (t) => {
  const known = Object.values(checksByPart).flatMap((checks) => checks.map(({ id }) => id));
  t.same([...known].sort(), allChecks.map(({ id }) => id).sort());
  t.end();
});
