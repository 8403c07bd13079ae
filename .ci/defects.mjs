/**
 * How many defects the gate sees: `node .ci/defects.mjs [--count 40] [--seed N] [--parts N]`. Each defect changes one line
 * of the sources, chosen by the seed. The parts of the gate run on it, the cheapest first, until one is red; `--parts 4`
 * leaves out those that take minutes. The work tree must be clean: each line is put back as it was.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import fc from 'fast-check';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    parts: { type: 'string', default: '6' },
  },
});

/** Longer than any part takes that comes to its end. */
const TIMEOUT_MS = 15 * 60_000;

const numbers = fc.sample(fc.noBias(fc.nat()), { numRuns: 100_000, seed: Number(values.seed) });
/** A number from 0 to `below`, without it. */
const random = (/** @type {number} */ below) => (numbers.pop() ?? 0) % below;

const SWAPS = {
  '===': '!==',
  '!==': '===',
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  true: 'false',
  false: 'true',
};
/** What is done to a line: a pattern, and what its first match becomes. */
const OPERATORS = [
  [
    'condition negated',
    /\bif \(([^()]*(?:\([^()]*\)[^()]*)*)\)/,
    (_found, condition) => `if (!(${condition}))`,
  ],
  [
    'number changed',
    /(?<![\w.'"-])\d[\d_]*(?![\w.'"])/,
    (found) => String(Number(found.replaceAll('_', '')) + 1),
  ],
  [
    'operator swapped',
    /(?<= )(===|!==|<=|>=|<|>|&&|\|\||\+|-)(?= )|\b(true|false)\b/,
    (found) => SWAPS[found],
  ],
  ['statement dropped', /^\s+[\w.#]+(\([^=]*\)| [+-]?= .*|\+\+);$/, () => ''],
  ['string changed', /(?<=^[^']*(?:'[^']*'[^']*)*)'[^']{2,}'/, (found) => `'x${found.slice(1)}`],
];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' });
if (git('status', '--porcelain', '--untracked-files=no') !== '')
  throw new Error('the work tree is not clean');

const sources = git('ls-files', '*.ts')
  .trim()
  .split('\n')
  .filter((file) => !/\.test\.|\.tap\.|\/testing\/|\/(bench|attacks|accuracy)\/|^examples\//.test(file));
const lines = sources.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((text, index) => ({ file, text, index })),
);

/** A line that an operator changes. */
function nextDefect() {
  for (;;) {
    const { file, text, index } = lines[random(lines.length)];
    const [name, pattern, change] = OPERATORS[random(OPERATORS.length)];
    if (/^\s*(\/?\*|\/\/|import|export \* |\} from)/.test(text) || !pattern.test(text)) continue;
    const changed = text.replace(pattern, change);
    if (changed !== text) return { file, index, name, text, changed };
  }
}

/** The test files of a folder and, where it has none, of the folder above. */
function testsNear(file) {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    const tests = git('ls-files', `${folder}/*.test.ts`).trim();
    if (tests !== '') return tests.split('\n');
  }
  return [];
}

const npm = (...args) => ['npm', ['run', '--silent', ...args]];
/** All of them in one process, which is cheaper than one for each. */
function runHere(tests) {
  mkdirSync('.tap', { recursive: true });
  const together = '.tap/nearby.tap.ts';
  writeFileSync(together, tests.map((test) => `await import('${resolve(test)}');\n`).join(''));
  return ['node', ['--import=tsx', together]];
}

/** What servers are judged by, and the servers: of nothing else can the accuracy run say anything. */
const ofAccuracy = (run) => (defect) =>
  /^(checks|spec|reference-server)\//.test(defect.file) ? run(defect) : undefined;

const PARTS = {
  typecheck: () => npm('typecheck'),
  lint: ({ file }) => ['npx', ['biome', 'check', '--error-on-warnings', file]],
  'tests nearby': ({ file }) => {
    const tests = testsNear(file);
    return tests.length === 0 ? undefined : runHere(tests);
  },
  'sampled accuracy': ofAccuracy(() => npm('accuracy', '--', '--sample', '60', '--seed', values.seed)),
  'all tests': () => ['npm', ['test', '--silent']],
  accuracy: ofAccuracy(() => npm('accuracy')),
};

/** What is red first: a test, or what the accuracy run says of a server. */
const RED = /^(?: *not ok \d+ - |(?=(?:fault|variant|service|requirement) \S+.*: ))(.*)$/;

/** What a command shows to be red, and ends with; undefined where nothing is. */
function redOf([program, args]) {
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve) => {
    const end = (red) => {
      clearTimeout(timeout);
      resolve(red);
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timeout = setTimeout(end, TIMEOUT_MS, 'it does not come to an end');
    createInterface(child.stdout).on('line', (line) => {
      const [, red] = RED.exec(line) ?? [];
      if (red !== undefined) end(red);
    });
    child.once('close', (code) => end(code === 0 ? undefined : `exit code ${code}`));
  });
}

/** The first part that is red, and what of it. */
async function seenBy(defect, parts = Object.keys(PARTS).slice(0, Number(values.parts))) {
  for (const part of parts) {
    const command = PARTS[part](defect);
    const red = command && (await redOf(command));
    if (red !== undefined) return { part, red };
  }
  return undefined;
}

const AT_REST = ['typecheck', 'lint', ...(Number(values.parts) > 4 ? ['all tests'] : [])];
const atRest = await seenBy({ file: 'spec/contract.ts' }, AT_REST);
if (atRest !== undefined) throw new Error(`${atRest.part} is red without any defect: ${atRest.red}`);

const seen = new Map();
console.log(`seed ${values.seed}`);
for (let number = 1; number <= Number(values.count); number += 1) {
  const defect = nextDefect();
  const before = readFileSync(defect.file, 'utf8');
  const after = before.split('\n').with(defect.index, defect.changed).join('\n');
  let by;
  try {
    writeFileSync(defect.file, after);
    by = await seenBy(defect);
  } finally {
    writeFileSync(defect.file, before);
  }
  seen.set(by?.part, (seen.get(by?.part) ?? 0) + 1);
  const how = by === undefined ? 'NOT SEEN' : `${by.part} ${by.red}`;
  console.log(`${number}. ${defect.file}:${defect.index + 1} ${defect.name}: ${how}`);
  if (by === undefined) console.log(`   ${defect.text.trim()}\n   ${defect.changed.trim()}`);
}
for (const [part, count] of seen) console.log(`${part ?? 'not seen'}: ${count}`);
