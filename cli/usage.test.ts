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
  'unset.yaml': `${PROFILE.replace('PETSTORE_FREE_KEY }', 'UNSET, roles: [load] }')}load: { allowed: true }\n`,
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
  searched: { 'capacity.json': '{}' },
  load: { 'load-report.json': LOAD },
  'slow-load': {
    'load-report.json': LOAD.replace(/(?<="histogram":\s*\{[^}]*")\d+/g, (bucket) => `${+bucket + 900}`),
  },
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

/** What is wrong whatever the key. */
const WRONG = `
chekc
check --unknown
check --permit writes,exaust
check --require bann
check --only list-limt-range
check --only xyzzy-plugh
check --only 6
check --only interface-version
check --only ''
check --format xml
check --resume x --rejudge y
check --resume x --out y
check --resume x --permit ban
check --rejudge x --target http://127.0.0.1:8/v1
check --time-limit 3
check --target ftp://x
check --target http://user:word@x/v1
check --target http://127.0.0.1:9/v1 --env-file none
check --env-file variables
check --profile none.yaml
check --profile folder
check --profile fifo
check --profile broken.yaml
check --profile load.yaml
check --profile no-target.yaml
check --profile prod.yaml --permit writes
check --profile small.yaml
check --profile p.yaml --write-profile broken.yaml
check --profile p.yaml --write-profile x --only 4
check --profile p.yaml --out p.yaml
check --profile p.yaml --out link-to-nothing
check --profile p.yaml --out ''
check --profile p.yaml --out /dev/null
check --profile p.yaml --out p.yaml/out
check --profile p.yaml --out /proc/none/at/all
check --profile p.yaml --out unfinished
check --profile p.yaml --out linked
check --profile p.yaml --baseline none
check --profile p.yaml --baseline folder
check --profile p.yaml --baseline known-map
check --profile p.yaml --baseline known-excluded
check --profile p.yaml --baseline known-field
check --profile p.yaml --baseline known-big
check --profile p.yaml --baseline known-alias
check --resume in-use
check --resume swapped
check --resume folder
check --resume p.yaml
check --resume damaged
check --resume embedded
check --rejudge forged --format human
check --rejudge v1
check --rejudge empty
load smoky
load mixed --kubernetes
load smoke --rate 0x10
load smoke --shards 65
load smoke --duration 10
load smoke --mix list=1,list=2
load smoke --mix list=0
load smoke --dry-run -- --vus 3 --iterations 30
load smoke --target http://127.0.0.1:9/v1
load smoke --profile none.yaml
load capacity --duration 5s
serve --port 65536
load smoke --env-file none
load smoke --out p.yaml
load smoke --out in-use
merge lines.log
merge searched
report load --out /proc/none/at/all
compare load capacity
compare load other-load
compare load none
compare capacity other-slo
compare capacity other-mix
compare load capacity --tolerance x
explain list-limit-fill
init
init --target http://127.0.0.1:9/v1 --out p.yaml
init --target http://127.0.0.1:9/v1 --key free=canary-1
init --target http://127.0.0.1:9/v1 --key canary-123
init --target http://127.0.0.1:9/v1 --key free=A:canary
init --target http://127.0.0.1:9/v1 --key enterprise=A
init --target http://127.0.0.1:9/v1 --cert p.yaml
init --target http://127.0.0.1:9/v1 --enterprise 5000
init --target http://canary-12345@127.0.0.1/v1
init --target http://127.0.0.1/v1?key=canary-12345
`;
const rows = (commands: string, key: string | undefined, how = '') =>
  commands
    .trim()
    .split('\n')
    .map((command) => ({ command, key, name: `${command}${how}` }));

/** A text without what a new plan or format adds to, what differs between versions of Node, and the place of the test. */
const stable = (text: string) =>
  text
    .replace(/(?<=: not a directory, )\w+(?= ')/, 'stat')
    .replace(/(PETSTORE_\w+,?\s*){2,}|\(choices: [^)]*\)|(?<=choices are ).*/g, '…')
    .replaceAll(folder, '.');

t.test('what is wrong is said as stored', async (t) => {
  const texts: Record<string, string> = {};
  for (const { command, key, name } of [
    ...rows(WRONG, 'canary-12345'),
    ...rows('check --profile p.yaml', '', ', an empty key'),
    ...rows('check --target http://127.0.0.1:9/v1\ncheck --profile broken.yaml', undefined, ', no key'),
    ...rows('init --target http://127.0.0.1:9/v1', undefined, ', no key'),
  ]) {
    const args = command.split(' ').map((word) => (word === "''" ? '' : word));
    const { code, stdout, stderr } = await run(args, key);
    t.equal(code, 2, `${name}: ${stderr}`);
    t.equal(stdout, '', 'nothing that could be taken for a result');
    t.match(stderr, /^(error: .+\n)+(\(Did you mean .*\n)?$/);
    t.notMatch(stderr, 'canary');
    texts[name.replaceAll(/canary-\w+/g, '…')] = stable(stderr)
      .replace(/process \d+/, 'process N')
      .replace(/(?<=has a defect) \(.* at .*\.ts:\d+:\d+\)?\)/, '')
      .replace(/spend [\d,]+/, 'spend N');
  }
  assertAsStored(t, join(import.meta.dirname, 'testing', 'wrong.txt'), texts);
});

/** What is no error. */
const RIGHT = `
--version
check --profile p.yaml --dry-run
check --profile smaller.yaml --dry-run
check --profile prod.yaml --permit writes --production --dry-run
check --list --only list-limit-fills,list-limit-range
load smoke --profile unset.yaml --dry-run
explain list-limit-fills
explain list-limit-default
explain interface-version
explain rate-minute-free
explain limit-out-of-range
explain events
explain tls
compare load load
compare load slow-load
compare slow-load load
compare capacity capacity
merge load --slo p99<1ms --out merged
init --target http://127.0.0.1:9/v1 --out new.yaml --env-file p.yaml
`;

/** A text without what a new requirement changes: its numbers, the ids of what is skipped, how wide a table is. */
const withoutTotals = (text: string) =>
  text
    .replaceAll(/(?<=^ *Skipped .*requirement)s?(.*): [a-z\d-]+(, [a-z\d-]+)*$/gm, 's$1')
    .replaceAll(/(?<![\w.:/-])\d[\d,.]*(?![\w.:/])/g, 'N')
    .replaceAll(/N min( N s)?|N s/g, 'N s')
    .replaceAll(/ +/g, ' ');

t.test('what is right is answered as stored', async (t) => {
  const texts: Record<string, string> = {};
  for (const { command, key, name } of rows(RIGHT, 'canary-12345')) {
    const { code, stdout, stderr } = await run(command.split(' '), key);
    t.notMatch(stdout, 'canary');
    const text = stable(`${stderr}${stdout}`);
    const lasting = /^compare|^merge/.test(command)
      ? text
      : command.startsWith('explain')
        ? text.replaceAll(/\d+(?=\)| requests when)/g, 'N')
        : withoutTotals(text);
    texts[name] = `${lasting}exit code ${code}`;
    // Where the day holds no more, no minute is filled.
    if (command.includes('smaller')) t.match(text, /^ {2}ours +enterprise +1\d\d /m);
  }
  assertAsStored(t, join(import.meta.dirname, 'testing', 'right.txt'), texts);
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
