/**
 * `npm run mutate -- FILE[:LINES][,FILE…]`: whether the tests notice when that code is changed. Each mutant is judged by
 * the tests that are nearest to the file by import; one of checks/sections/ by the faults and variants of the reference
 * server as well.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = 'checks';
const SECTIONS = 'checks/sections/';
/** Compiled, and kept out of `npm test`: it runs for as long as a requirement has faults. */
const FAULTS_OF_CHECKS = 'checks/accuracy/faults-of-checks.ts';

const pattern = process.argv[process.argv.indexOf('--mutate') + 1] ?? '';
const mutated = pattern.split(',').map((file) => file.replace(/:[\d:-]+$/, ''));

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('harness/hostile'))
  .map((file) => join(ROOT, file));
const imports = new Map(
  sources.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
      join(dirname(file), path),
    ),
  ]),
);

/** The tests that come to a file over the fewest other files. */
function nearestTests(file, met = new Set([file])) {
  const users = sources.filter(
    (source) => imports.get(source)?.some((path) => met.has(path)) && !met.has(source),
  );
  const tests = users.filter((source) => source.endsWith('.test.ts'));
  if (tests.length > 0 || users.length === 0) return tests;
  return nearestTests(file, new Set([...met, ...users]));
}

const ofSections = mutated.filter((file) => file.startsWith(SECTIONS));
process.env['CHECKS_OF'] = ofSections.join();
// A mutant is killed by the first assertion that fails.
process.env['TAP_BAIL'] = '1';

const tests = new Set([
  ...mutated.flatMap((file) => nearestTests(file)),
  ...(ofSections.length > 0 ? [FAULTS_OF_CHECKS] : []),
]);

export default {
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  // What runs is the compiled code, as in dist/: Node 20 reads no TypeScript.
  buildCommand: 'tsc --noEmit false --noCheck --rootDir . --outDir dist --sourceMap',
  tap: {
    testFiles: [...tests].map((file) => join('dist', file.replace(/\.ts$/, '.js'))),
    nodeArgs: ['--enable-source-maps'],
  },
  ignorePatterns: ['dist', 'petstore-results', 'examples', 'bench'],
  tempDirName: '.cache/mutation',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  timeoutMS: 20_000,
  logLevel: 'error',
};
