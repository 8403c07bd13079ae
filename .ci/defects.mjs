/**
 * How many defects the gate sees: `node .ci/defects.mjs [--count 40] [--seed N] [--parts N]`. Each defect changes one line
 * of the sources, chosen by the seed. The parts of the gate run on it, the cheapest first, until one is red; `--parts 4`
 * leaves out those that take minutes. The work tree must be clean: each line is put back as it was.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    parts: { type: 'string', default: '6' },
  },
});
const [count, seed, most] = [values.count, values.seed, values.parts].map(Number);

/** In pairs: each is swapped with the other. */
const SWAPS = '=== !== <= < >= > && || + - true false'.split(' ');
/** What is done to a line: a pattern, and what its first match becomes. */
const OPERATORS = [
  ['condition negated', /\bif \(([^()]*(?:\([^()]*\)[^()]*)*)\)/, (_, condition) => `if (!(${condition}))`],
  ['number changed', /(?<![\w.'"-])\d[\d_]*(?![\w.'"])/, (found) => Number(found.replaceAll('_', '')) + 1],
  [
    'operator swapped',
    /(?<= )(===|!==|<=|>=|<|>|&&|\|\||\+|-)(?= )|\b(true|false)\b/,
    (found) => SWAPS[SWAPS.indexOf(found) ^ 1],
  ],
  ['statement dropped', /^\s+[\w.#]+(\([^=]*\)| [+-]?= .*|\+\+);$/, () => ''],
  ['string changed', /(?<=^[^']*(?:'[^']*'[^']*)*)'[^']{2,}'/, (found) => `'x${found.slice(1)}`],
];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
if (git('status', '--porcelain', '--untracked-files=no') !== '')
  throw new Error('the work tree is not clean');

const lines = git('ls-files', '*.ts')
  .split('\n')
  .filter((file) => !/\.test\.|\.tap\.|\/testing\/|\/(bench|attacks|accuracy)\/|^examples\//.test(file))
  .flatMap((file) => {
    const texts = readFileSync(file, 'utf8').split('\n');
    return texts.map((text, index) => ({ file, text, index }));
  })
  .filter(({ text }) => !/^\s*(\/?\*|\/\/|import|export \* |\} from)/.test(text));

const anyDefect = fc
  .tuple(fc.constantFrom(...lines), fc.constantFrom(...OPERATORS))
  .map(([line, [name, ...change]]) => ({ ...line, name, changed: line.text.replace(...change) }))
  .filter(({ text, changed }) => changed !== text);

/** The test files of a folder and, where it has none, of the folder above. */
function testsNear(file) {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    const tests = git('ls-files', `${folder}/*.test.ts`);
    if (tests !== '') return tests.split('\n');
  }
  return [];
}

/** Node with the first red test as its end; what the tests start runs on to its own. */
const bailing = (imports) =>
  `TAP_BAIL=1 node --import=tsx --input-type=module -e '${['tap', ...imports].map((file) => `await import("${file}"); delete process.env.TAP_BAIL;`).join('')}'`;

/** The processes of `npm test` that test a folder at the top. */
const ROOMS = {
  checks: [6],
  cli: [2, 5],
  scenarios: [1, 7],
  reports: [8],
  spec: [8],
  'reference-server': [8],
};
const testsOfRoom = (file) =>
  ROOMS[file.split('/')[0]]
    .map((number) => bailing([resolve(git('ls-files', `.ci/tests/${number}-*`))]))
    .join(' && ');

/** The shell's commands for a defect in a file. */
const PARTS = {
  typecheck: () => 'npm run --silent typecheck',
  lint: (file) => `npx biome check --error-on-warnings ${file}`,
  // In one process, which is cheaper than one for each.
  'tests nearby': (file) => bailing(testsNear(file).map((test) => resolve(test))),
  'tests of the room': testsOfRoom,
  'all tests': () => 'npm test --silent',
  // What servers are judged by, and the servers: of nothing else can it say anything.
  accuracy: (file) => (/^(checks|spec|reference-server)\//.test(file) ? 'npm run --silent accuracy' : 'true'),
};

/** Whatever a command started ends with it, after longer than any part takes that comes to its end by itself. */
const isGreen = (command) =>
  spawnSync('timeout', ['--signal=KILL', '15m', 'sh', '-c', command], { stdio: 'ignore' }).status === 0;

/** The first part that is red on a file. */
const seenIn = (file, parts = Object.keys(PARTS).slice(0, most)) =>
  parts.find((part) => !isGreen(PARTS[part](file)));

// A red part says something of a defect only if it is green without one.
const atRest = [
  ...['checks', 'cli', 'scenarios', 'spec'].map((room) => seenIn(`${room}/any.ts`, ['tests of the room'])),
  seenIn('spec/any.ts', ['typecheck', ...(most > 4 ? ['all tests'] : [])]),
].find((red) => red !== undefined);
if (atRest !== undefined) throw new Error(`${atRest} are red without any defect`);

const seen = new Map();
console.log(`seed ${seed}`);
const defects = fc.sample(fc.noBias(anyDefect), { numRuns: count, seed });
for (const [number, { file, index, name, text, changed }] of defects.entries()) {
  const before = readFileSync(file, 'utf8');
  let by;
  try {
    writeFileSync(file, before.split('\n').with(index, changed).join('\n'));
    by = seenIn(file);
  } finally {
    writeFileSync(file, before);
  }
  seen.set(by, (seen.get(by) ?? 0) + 1);
  console.log(`${number + 1}. ${file}:${index + 1} ${name}: ${by ?? 'NOT SEEN'}`);
  if (by === undefined) console.log(`   ${text.trim()}\n   ${changed.trim()}`);
}
for (const [part, number] of seen) console.log(`${part ?? 'not seen'}: ${number}`);
