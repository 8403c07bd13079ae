/**
 * `npm run accuracy`: the whole suite against every fault and every conforming variant of the reference server, and
 * against services of Express, Fastify, Go and FastAPI, in parallel, on a simulated clock. `--write` puts the matrix
 * into MATRIX.md beside this file's source. Exits 1 unless every fault is found by the requirement that it breaks, every
 * requirement finds a fault, and no conforming server fails anything. `--frameworks` runs only these services, `--filter`
 * the cases that it matches, `--changed` the cases that are touched by what changed since a revision (`--base`, by default
 * HEAD); each of them runs three conforming reference servers too.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { VARIANTS } from '../../reference-server/deviations/variants/index.ts';
import { requirements } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import type { AccuracyCase, CaseResult } from './case.ts';
import { touchedSince } from './changed.ts';
import {
  FAULTS as FRAMEWORK_FAULTS,
  GO_STYLE,
  NODE_STYLES,
  PYTHON_STYLES,
  type StyleName,
} from './frameworks/catalogue.ts';
import { buildInGo, installForPython, isInPython } from './frameworks/framework-service.ts';
import { type Entry, matrixOf, matrixText } from './matrix.ts';

const { values: options } = parseArgs({
  options: {
    filter: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    frameworks: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    base: { type: 'string', default: 'HEAD' },
  },
});

const FOREIGN_ANIMALS = 100_000;
const allCases: AccuracyCase[] = [
  ...FAULTS.map(({ name, breaks }) => ({ kind: 'fault' as const, name, breaks })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name, animals: FOREIGN_ANIMALS, busy: true })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name, animals: 0 })),
  ...FRAMEWORK_FAULTS.map((fault) => ({ kind: 'fault' as const, ...fault })),
  ...[...NODE_STYLES, GO_STYLE, ...PYTHON_STYLES].map((style) => ({
    kind: 'variant' as const,
    name: style,
    style,
  })),
];
// Long cases first, so that none is left running alone at the end.
allCases.sort((one, other) => weight(other) - weight(one));

function weight({ breaks = '', style }: AccuracyCase): number {
  if (style !== undefined && isInPython(style)) return 3;
  return breaks === 'rate-day-business' ? 2 : breaks.startsWith('rate-day-') ? 1 : 0;
}

/** Conforming servers that are always included: a check that fails everything would find every fault. */
const ALWAYS = new Set(VARIANTS.slice(0, 3).map(({ name }) => name));
const touches = options.changed ? await touchedSince(options.base, fileURLToPath(packageRoot)) : () => true;
const isAsked = ({ name, breaks, style }: AccuracyCase) =>
  new RegExp(options.filter).test(`${name} ${breaks ?? ''} ${style ?? ''}`) &&
  (style !== undefined || !options.frameworks);
const asked = allCases.filter(
  (one) =>
    (isAsked(one) && touches(one)) ||
    (one.kind === 'variant' && one.animals === undefined && ALWAYS.has(one.name)),
);

/** The cases without those of services that cannot be provided on this machine. */
async function provided(
  from: readonly AccuracyCase[],
  what: string,
  isOne: (style: StyleName) => boolean,
  provide: () => Promise<string | undefined>,
): Promise<readonly AccuracyCase[]> {
  const needs = ({ style }: AccuracyCase) => style !== undefined && isOne(style);
  const problem = from.some(needs) ? await provide() : undefined;
  if (problem === undefined) return from;
  process.stdout.write(`skipped, ${what}: ${problem}\n`);
  return from.filter((one) => !needs(one));
}

const withGo = await provided(asked, 'the service in Go', (style) => style === GO_STYLE, buildInGo);
const cases = await provided(withGo, 'the services in Python', isInPython, installForPython);
const queue = [...cases];
const entries: Entry[] = [];
const startedAt = performance.now();

function done(accuracyCase: AccuracyCase, result: CaseResult): void {
  entries.push({ case: accuracyCase, result });
  if (process.stderr.isTTY) process.stderr.write(`\r${entries.length} of ${cases.length} `);
}

/** Of each process, because most of a case is waiting. */
const CASES_AT_A_TIME = 5;

/** Starts a process that runs several cases at a time. */
function startWorker(): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // What a case makes is garbage soon: collected seldom, hardly any of it has to be moved.
      execArgv: ['--max-semi-space-size=64'],
    });
    const running = new Map<number, AccuracyCase>();
    let number = 0;
    const next = () => {
      const accuracyCase = queue.shift();
      if (accuracyCase === undefined) {
        if (running.size === 0 && worker.connected) worker.disconnect();
        return;
      }
      number += 1;
      running.set(number, accuracyCase);
      worker.send({ number, accuracyCase });
    };
    worker.on('message', (message: { readonly number: number; readonly result: CaseResult }) => {
      const accuracyCase = running.get(message.number);
      running.delete(message.number);
      if (accuracyCase !== undefined) done(accuracyCase, message.result);
      next();
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      running.size === 0
        ? resolve()
        : reject(new Error(`a worker ended with ${code}, ${running.size} cases under way`)),
    );
    for (let index = 0; index < CASES_AT_A_TIME; index += 1) next();
  });
}

await Promise.all(Array.from({ length: availableParallelism() }, startWorker));

const broken = new Set(cases.map(({ breaks }) => breaks));
const matrix = matrixOf(
  entries,
  requirements
    .filter(({ excluded, level }) => excluded === undefined && level === 'MUST')
    .map(({ id }) => id)
    .filter((id) => asked.length === allCases.length || broken.has(id)),
);
const seconds = Math.round((performance.now() - startedAt) / 1000);
if (options.write) {
  writeFileSync(new URL('checks/accuracy/MATRIX.md', packageRoot), matrixText(matrix));
}
for (const problem of matrix.problems) process.stdout.write(`${problem}\n`);
process.stdout.write(
  `${matrix.found} of ${matrix.faults} faults found by the requirement that they break; ${matrix.falseAlarms} false alarms on ${matrix.variants} conforming servers; ${matrix.withoutKill.length} requirements without a kill; ${seconds} s\n`,
);
process.exitCode = matrix.problems.length === 0 ? 0 : 1;
