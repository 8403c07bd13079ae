/** What the user can correct: a line for each problem on standard error, nothing on standard output, exit code 2. */
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JournalHeader } from '../checks/run/journal.ts';
import { journalText } from '../checks/run/testing/stored-run.ts';
import { assertAsStored } from '../checks/testing/as-stored.ts';
import { answered } from '../checks/wire/testing/answered.ts';
import { runHere } from './testing/in-process.ts';

const PROFILE = `target: http://127.0.0.1:9/v1
keys: [{ name: free-1, plan: free, env: PETSTORE_FREE_KEY }]
`;
const HEADER = { target: 'http://127.0.0.1:9/v1', startedAt: 0 };
const EXCHANGE = { exchange: answered() };
const journal = (header: Partial<JournalHeader>, ...entries: readonly object[]) => ({
  'journal.ndjson': journalText(entries, { ...HEADER, ...header }),
  'profile.yaml': PROFILE,
});

const result = (file: string) =>
  readFileSync(join(import.meta.dirname, '..', 'scenarios', 'testing', file), 'utf8');
const LOAD = result('load-report.json');
const CAPACITY = result('capacity.json');

const folder = t.testdir({
  'p.yaml': PROFILE,
  'no-target.yaml': PROFILE.replace(/^target.*\n/, ''),
  'broken.yaml': `${PROFILE}permits: [writes]\ntls: { ca: none.pem }\n`,
  'prod.yaml': PROFILE.replace('http://127.0.0.1:9', 'https://petstore.example.com'),
  'load.yaml': PROFILE.replace(' }', ', roles: [load] }'),
  'prod-load.yaml': `${PROFILE.replace('http://127.0.0.1:9', 'https://petstore.example.com')}load: { allowed: true }\n`,
  'may-load.yaml': `${PROFILE.replace(' }', ', roles: [load] }')}load: { allowed: true }\n`,
  'permitted.yaml': `${PROFILE.replace(' }', ', roles: [load] }')}load: { allowed: true }\npermit: [exhaust, ban]\n`,
  'bomb.yaml': 'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n',
  'unset.yaml': `${PROFILE.replace('free, env: PETSTORE_FREE_KEY }', 'enterprise, env: UNSET, roles: [load] }')}load: { allowed: true }
plans: { enterprise: { perMinute: 60, perDay: 1000 } }
`,
  'small.yaml': `target: http://127.0.0.1:9/v1
plans: { enterprise: { perMinute: 100, perDay: 120 } }
keys: [{ name: ours, plan: enterprise, env: PETSTORE_FREE_KEY, roles: [functional, exhaust] }]
permit: [writes, exhaust]
`,
  'smaller.yaml': `target: http://127.0.0.1:9/v1
plans: { enterprise: { perMinute: 600, perDay: 400 } }
keys: [{ name: ours, plan: enterprise, env: PETSTORE_FREE_KEY, roles: [functional, exhaust, ban] }]
permit: [writes, exhaust, ban]
`,
  folder: {},
  'broken-report': { 'report.json': '{"formatVersion":3}' },
  searched: { 'capacity.json': '{}' },
  load: { 'load-report.json': LOAD },
  'slow-load': {
    'load-report.json': LOAD.replace(/(?<="histogram":\s*\{[^}]*")\d+/g, (bucket) => `${+bucket + 900}`),
  },
  // Of another rate and way, and held back by its generator.
  'limited-load': {
    'load-report.json': LOAD.replace('"broken"', '"generator-limited"')
      .replace('"perSecond": 46.0', '"perSecond": 41.0')
      .replace('"shards": 1', '"shards": 1, "way": { "httpVersion": "2" }'),
  },
  'way-load': { 'load-report.json': LOAD.replace('"shards": 1', '"shards": 1, "way": { "insecure": true }') },
  'other-load': { 'load-report.json': LOAD.replace('"abusive-client"', '"mixed"') },
  capacity: { 'capacity.json': CAPACITY },
  'other-slo': { 'capacity.json': CAPACITY.replace('p99<200ms', 'p99<300ms') },
  'other-mix': { 'capacity.json': CAPACITY.replace('"createPet": 0', '"createPet": 9') },
  variables: '#'.repeat(2 ** 20 + 1),
  'lines.log': '\n'.repeat(10_001),
  'known-map': 'a: b\n',
  'known-excluded': '- interface-version\n',
  'known-field': '- { id: list-limit-range, why: x }\n',
  'known-big': '#'.repeat(2 ** 20 + 1),
  'known-alias': '- &a list-limit-range\n- *a\n',
  v1: { 'journal.ndjson': '{"journal":1}\n' },
  empty: journal({}),
  forged: journal({}, EXCHANGE, { scene: 'preflight', asked: [], outcome: { kind: 'ready' } }),
  unfinished: journal({}, EXCHANGE),
  embedded: { ...journal({}, EXCHANGE), 'profile.yaml': PROFILE.replace(/^target.*\n/, '') },
  damaged: { 'journal.ndjson': `${journalText([EXCHANGE], HEADER)}{\n{`, 'profile.yaml': PROFILE },
  swapped: journal({ keyPrints: { 'free-1': '000000' } }, EXCHANGE),
  'in-use': { ...journal({}, EXCHANGE), 'in-use': `${process.pid}\n` },
  linked: {},
  'link-to-file': t.fixture('symlink', 'p.yaml'),
  'link-to-nothing': t.fixture('symlink', 'nothing'),
});
spawnSync('mkfifo', [join(folder, 'fifo'), join(folder, 'folder', 'journal.ndjson')]);
symlinkSync(join(folder, 'p.yaml'), join(folder, 'linked', 'profile.yaml'));

const run = (args: readonly string[], key: string | undefined) =>
  runHere(folder, args, key === undefined ? {} : { PETSTORE_FREE_KEY: key });

/** The commands that a file of stored texts names, with their key: a line `===== COMMAND` there makes another one. */
const commandsIn = (file: string) =>
  Array.from(readFileSync(file, 'utf8').matchAll(/^===== (.*?)(?:, (no|an empty) key)?$/gm), (found) => {
    const [heading, command = '', without] = found;
    const args = command.replaceAll('…', 'canary-12345').split(' ');
    return {
      name: heading.slice('===== '.length),
      args: args.map((word) => (word === "''" ? '' : word)),
      key: without === undefined ? 'canary-12345' : without === 'no' ? undefined : '',
    };
  });

/** A text without what a new plan or format adds to, what differs between versions of Node, and the place of the test. */
const stable = (text: string) =>
  text
    .replace(/(?<=: not a directory, )\w+(?= ')/, 'stat')
    .replaceAll(/(?<=127\.0\.0\.1:)\d{5}/g, 'PORT')
    .replace(/(?<= about )\d+ s$/m, 'N s')
    .replace(/(PETSTORE_\w+,?\s*){2,}|\(choices: [^)]*\)|(?<=choices are ).*/g, '…')
    .replaceAll(folder, '.');

t.test('what is wrong is said as stored', async (t) => {
  const file = join(import.meta.dirname, 'testing', 'wrong.txt');
  const texts: Record<string, string> = {};
  for (const { name, args, key } of commandsIn(file)) {
    const { code, stdout, stderr } = await run(args, key);
    t.equal(code, 2, `${name}: ${stderr}`);
    t.equal(stdout, '', 'nothing that could be taken for a result');
    t.match(stderr, /^(error: .+\n)+(\(Did you mean .*\n)?$/);
    t.notMatch(stderr, 'canary');
    texts[name] = stable(stderr)
      .replace(/process \d+/, 'process N')
      .replace(/(?<=has a defect) \(.* at .*\.ts:\d+:\d+\)?\)/, '')
      .replace(/spend [\d,]+/, 'spend N');
  }
  assertAsStored(t, file, texts);
});

/** A text without what a new requirement changes: its numbers, the ids of what is skipped, how wide a table is. */
const withoutTotals = (text: string) =>
  text
    // The embedded server's keys: a plan more would be a line more.
    .replaceAll(/^ +(?!free)\w+-\d .*\n/gm, '')
    .replaceAll(/(?<=^ *Skipped .*requirement)s?(.*): [a-z\d-]+(, [a-z\d-]+)*$/gm, 's$1')
    .replaceAll(/(?<![\w.:/-])\d[\d,.]*(?![\w.:/])/g, 'N')
    .replaceAll(/N min( N s)?|N s/g, 'N s')
    .replaceAll(/ +/g, ' ');

t.test('what is right is answered as stored', async (t) => {
  const file = join(import.meta.dirname, 'testing', 'right.txt');
  const texts: Record<string, string> = {};
  for (const { name, args, key } of commandsIn(file)) {
    const { code, stdout, stderr } = await run(args, key);
    t.notMatch(stdout, 'canary');
    const text = stable(`${stderr}${stdout}`);
    const lasting = name.startsWith('explain')
      ? text.replaceAll(/\d+(?=\)| requests when)/g, 'N')
      : /^(check(?! --list| .*--time-limit)|init|--version)/.test(name)
        ? withoutTotals(text)
        : text;
    texts[name] = `${lasting}exit code ${code}`;
    const written = args[args.indexOf('--out') + 1] ?? '';
    if (name.startsWith('init')) texts[name] += `\n${readFileSync(join(folder, written), 'utf8')}`;
    // Where the day holds no more, no minute is filled.
    if (name.startsWith('check --only')) t.match(text, /^ {2}enterprise-1 .* % of 600 +1 % of 6,000 /m);
    if (name.includes('smaller')) t.match(text, /^ {2}ours +enterprise +1\d\d /m);
  }
  assertAsStored(t, file, texts);
});

t.test('the help of each command is as stored', async (t) => {
  const help = async (...args: string[]) => (await run([...args, '--help'], undefined)).stdout;
  const all = await help();
  const texts: Record<string, string> = { 'petstore-harness': all };
  for (const [, name = ''] of all.matchAll(/^ {2}(\w+) .*/gm))
    if (name !== 'help') texts[name] = await help(name);
  for (const [name, text] of Object.entries(texts)) texts[name] = stable(text);
  assertAsStored(t, join(import.meta.dirname, 'testing', 'help.txt'), texts);
});
