/** What the user can correct: a line for each problem on standard error, nothing on standard output, exit code 2. */
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
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

const TARGET = ['--target', 'http://127.0.0.1:9/v1'];
const P = ['--profile', 'p.yaml'];
const INIT = ['init', ...TARGET, '--out', 'new.yaml'];

const ROWS: readonly (readonly [args: readonly string[], stderr: RegExp, key?: string | undefined])[] = [
  [['chekc'], /unknown command 'chekc'/],
  [['check', '--unknown'], /unknown option '--unknown'/],
  [['check', '--permit', 'writes,exaust'], /no permission "exaust"; did you mean "exhaust"\?/],
  [['check', '--require', 'bann'], /no permission, plan or requirement "bann"; did you mean "ban"\?/],
  [
    ['check', '--only', 'list-limt-range'],
    /no requirement "list-limt-range"; did you mean "list-limit-range"\?/,
  ],
  [['check', '--only', 'xyzzy-plugh'], /no requirement "xyzzy-plugh"; see petstore-harness check --list\n$/],
  [['check', '--only', '6'], /no requirement "6"/],
  [
    ['check', '--only', 'interface-version'],
    /interface-version has no check: The number belongs to the document/,
  ],
  [['check', '--only', ''], /Separate names with commas/],
  [['check', '--format', 'xml'], /Allowed choices are human, tap/],
  [['check', '--resume', 'x', '--rejudge', 'y'], /cannot be used with option/],
  [['check', '--resume', 'x', '--out', 'y'], /cannot be used with option/],
  [['check', '--resume', 'x', '--permit', 'ban'], /cannot be used with option/],
  [['check', '--rejudge', 'x', '--target', 'http://127.0.0.1:8/v1'], /cannot be used with option/],
  [['check', '--time-limit', '3'], /Write it like 30s, 5m or 1h30m/],
  [
    ['check', ...TARGET],
    /no key is given: set at least one of PETSTORE_FREE_KEY, .*petstore-harness init/,
    undefined,
  ],
  [
    ['check', '--profile', 'broken.yaml'],
    /^error: broken\.yaml:2:36: PETSTORE_FREE_KEY, which holds the key free-1, is not set; set it: .*\nerror: broken\.yaml:3:1: .*\nerror: broken\.yaml:4:8: .*none\.pem: no such file or directory; correct tls\.ca\n$/,
    undefined,
  ],
  [['check', ...P], /PETSTORE_FREE_KEY, which holds the key free-1, is empty/, ''],
  [
    ['check', '--target', 'ftp://x'],
    /--target: the target is not an http:\/\/ or https:\/\/ address; write it like/,
  ],
  [['check', '--target', 'http://user:word@x/v1'], /--target: the target contains credentials/],
  [['check', ...TARGET, '--env-file', 'none'], /none: no such file or directory; is it the right file\?/],
  [['check', '--env-file', 'variables'], /variables: is larger than 1,048,576 bytes; is it the right file\?/],
  [['load', 'smoke', '--env-file', 'none'], /none: no such file or directory; is it the right file\?/],
  [['check', '--profile', 'none.yaml'], /none\.yaml: no such file or directory; .*petstore-harness init/],
  [['check', '--profile', 'folder'], /folder: is not a regular file/],
  [['check', '--profile', 'fifo'], /fifo: is not a regular file/],
  [['check', '--profile', 'broken.yaml'], /broken\.yaml:3:1: .*no field "permits"; did you mean "permit"\?/],
  [
    ['check', '--profile', 'load.yaml'],
    /every key has the role load alone; add one with the role functional/,
  ],
  [
    ['check', '--profile', 'no-target.yaml'],
    /no target is given: add target: to the profile, or --target URL/,
  ],
  [
    ['check', '--profile', 'prod.yaml', '--permit', 'writes'],
    /example\.com may be in production use.*--production/,
  ],
  [
    ['check', '--profile', 'small.yaml'],
    /day’s quota cannot pay for this run: key ours would spend \d+ requests, but its plan allows 120 a day/,
  ],
  [['check', ...P, '--write-profile', 'broken.yaml'], /broken\.yaml exists; choose another file/],
  [['check', ...P, '--write-profile', 'x', '--only', '4'], /--write-profile needs a complete run/],
  [['check', ...P, '--out', 'p.yaml'], /p\.yaml is not a folder; choose another one with --out/],
  [['check', ...P, '--out', 'link-to-nothing'], /link-to-nothing is not a folder/],
  [['load', 'smoke', '--out', 'p.yaml'], /p\.yaml is not a folder; choose another one with --out/],
  [['load', 'smoke', '--out', 'in-use'], /in-use is in use by process \d+; wait for its end/],
  [['check', ...P, '--out', ''], /--out is empty/],
  [['check', ...P, '--out', '/dev/null'], /\/dev\/null is not a folder/],
  [['check', ...P, '--out', 'p.yaml/out'], /ENOTDIR: .*p\.yaml\/out'/],
  [['check', ...P, '--out', '/proc/none/at/all'], /ENOENT: .*\/proc\/none'/],
  [
    ['check', ...P, '--out', 'unfinished'],
    /unfinished holds an unfinished run: continue it with --resume unfinished/,
  ],
  [['check', ...P, '--out', 'linked'], /linked\/profile\.yaml is not a regular file; remove it/],
  [['check', '--resume', 'in-use'], /in-use is in use by process \d+; wait for its end/],
  [['check', '--resume', 'swapped'], /PETSTORE_FREE_KEY does not hold the key free-1 of the stored run/],
  [['check', '--resume', 'folder'], /folder\/journal\.ndjson: is not a regular file/],
  [['check', '--resume', 'p.yaml'], /--resume and --rejudge need a folder with a journal/],
  [
    ['check', '--resume', 'damaged'],
    /damaged\/journal\.ndjson:3: damaged; .*; --rejudge judges what is before/,
  ],
  [
    ['check', '--rejudge', 'forged', '--format', 'human'],
    /its journal was changed, or petstore-harness has a defect \(.* at .*\.ts:\d+:\d+\)?\)/,
  ],
  [['check', '--resume', 'embedded'], /the stored run checked the embedded reference server/],
  [['check', '--rejudge', 'v1'], /journal\.ndjson:1: this is not the first line of a journal/],
  [
    ['check', '--rejudge', 'empty'],
    /empty\/journal\.ndjson: it holds no exchange, so there is nothing to judge/,
  ],
  [['check', ...P, '--baseline', 'none'], /none: no such file/],
  [['check', ...P, '--baseline', 'folder'], /folder: is not a regular file/],
  [
    ['check', ...P, '--baseline', 'known-map'],
    /known-map:1:1: the baseline: Expected array; write one "- id" a line/,
  ],
  [
    ['check', ...P, '--baseline', 'known-excluded'],
    /known-excluded:1:3: 0\.id is "interface-version", which it may not be/,
  ],
  [['check', ...P, '--baseline', 'known-field'], /known-field:1:27: 0 has no field "why"/],
  [['check', ...P, '--baseline', 'known-big'], /known-big: is larger than 65,536 bytes/],
  [['check', ...P, '--baseline', 'known-alias'], /known-alias:2:3: aliases/],
  [['merge', 'lines.log'], /lines\.log cannot be read: it is no log of a k6 runner\n$/],
  [['merge', 'searched'], /^error: searched is a capacity, .*: compare takes capacities\n$/],
  [['explain', 'list-limit-fill'], /did you mean "list-limit-fills"\?/],
  [['init'], /required option '--target <url>' not specified/],
  [[...INIT, '--out', 'p.yaml'], /p\.yaml exists; choose another file with --out, or remove it/],
  [INIT, /no key is given/, undefined],
  [[...INIT, '--key', 'free=canary-1'], /after free= comes the name of a variable/],
  [[...INIT, '--key', 'canary-123'], /write PLAN=VARIABLE/],
  [[...INIT, '--key', 'free=A:canary'], /comes one of the roles functional, exhaust, ban, load/],
  [[...INIT, '--key', 'enterprise=A'], /leaves the numbers of Enterprise open: add --enterprise/],
  [[...INIT, '--cert', 'p.yaml'], /--cert and --cert-key go together: name both files/],
  [[...INIT, '--enterprise', '5000'], /Write its requests a minute and a day/],
  [['init', '--target', 'http://canary-12345@127.0.0.1/v1'], /the target contains credentials/],
  [['init', '--target', 'http://127.0.0.1/v1?key=canary-12345'], /the target has a query/],
];

t.test('wrong usage', async (t) => {
  for (const row of ROWS) {
    const [args, message] = row;
    const key = row.length === 3 ? row[2] : 'canary-12345';
    t.test(`${args.join(' ')}${key === undefined ? ', no key set' : ''}`, async (t) => {
      const { code, stdout, stderr } = await run(args, key);
      t.equal(code, 2, stderr);
      t.equal(stdout, '', 'nothing that could be taken for a result');
      t.match(stderr, message);
      t.match(stderr, /^(error: .+\n)+(\(Did you mean .*\n)?$/);
      t.notMatch(stderr, 'canary');
    });
  }
});

t.test('what is no error', async (t) => {
  for (const [args, stdout, stderr = /^$/] of [
    [['--version'], /^\d+\.\d+\.\d+\n$/],
    [['check', ...P, '--dry-run'], /^ {2}Requests /m],
    [['load', 'smoke', '--profile', 'unset.yaml', '--dry-run'], /^ {2}at most +\d+ requests$/m],
    // Where the day holds no more, no minute is filled.
    [['check', '--profile', 'smaller.yaml', '--dry-run'], /^ {2}ours +enterprise +1\d\d /m],
    [
      ['check', ...P, '--dry-run', '--target', 'http://127.0.0.1:9'],
      /^/,
      /^warning: the base address http:\/\/127\.0\.0\.1:9 has no version segment; is \/v1 missing from the address\?\n$/,
    ],
    [
      ['check', '--profile', 'prod.yaml', '--permit', 'writes', '--production', '--dry-run'],
      /permitted writes:/,
    ],
    [
      ['explain', 'list-limit-fills'],
      /^The document: +“The result is described as paginated; .*”\nAsked for: .*\nOur reading: +A maximum .*\nTo decline it: .*readings: \{ list-limit-fills: declined \}\n[\s\S]*--fault limit-minus-one$/m,
    ],
    [['explain', 'list-limit-default'], /^The document: +“limit .*20\.?”\nAsked for: .*\nPermission: /m],
    [
      ['check', '--list', '--only', 'list-limit-fills,list-limit-range'],
      /^list-limit-range .* stated .*\nlist-limit-fills .* our reading /m,
    ],
    [['explain', 'tls'], /^tls, a field of a profile: .*\n\nca {13}.*[Aa]uthorit/],
    [['explain', 'rate-minute-free'], /^Permission: +exhaust$/m],
    [
      ['explain', 'limit-out-of-range'],
      /Answers: +rejected-400, clamped.*\nTo pin one.*limit-out-of-range: rejected-400/,
    ],
    [
      [...INIT, '--env-file', 'p.yaml'],
      /^written: new\.yaml\ntarget: {2}http:\/\/127\.0\.0\.1:9\/v1 cannot be reached: [\s\S]*and writes .* animals \(they stay\)\n[\s\S]*Next: npx petstore-harness check --profile new\.yaml --env-file p\.yaml\n$/,
    ],
  ] as const) {
    t.test(args.join(' '), async (t) => {
      const ended = await run(args, 'canary-12345');
      t.match(ended, { code: 0, stdout, stderr });
      t.notMatch(ended.stdout, 'canary');
    });
  }
});

t.test('the help of each command is as stored', async (t) => {
  const help = async (...args: string[]) => (await run([...args, '--help'], undefined)).stdout;
  const all = await help();
  const texts: Record<string, string> = { 'petstore-harness': all };
  for (const [, name = ''] of all.matchAll(/^ {2}(\w+) .*/gm))
    if (name !== 'help') texts[name] = await help(name);
  // What a new plan or format adds to is left out.
  for (const [name, text] of Object.entries(texts))
    texts[name] = text.replace(/(PETSTORE_\w+,?\s*)+|\(choices: [^)]*\)/g, '…');
  assertAsStored(t, join(import.meta.dirname, 'testing', 'help.txt'), texts);
});
