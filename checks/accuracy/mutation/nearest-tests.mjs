import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = 'checks';
/** Tests of processes of their own, which no mutant reaches, and of whole runs by the dozen, which take too long. */
const LEFT_OUT = /^(?:accuracy\/hostile|lost-additions)/;

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !LEFT_OUT.test(file))
  .map((file) => join(ROOT, file));
const imports = new Map(
  sources.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
      join(dirname(file), path),
    ),
  ]),
);

/**
 * The tests that come to a file over the fewest other files: what is expected to notice a change in it. Those that are
 * named for it come first. Tests of whole runs, which stand at the top, are asked where there are no others.
 *
 * @param {string} file from the project's root, as are those that are returned
 * @returns {readonly string[]}
 */
export function nearestTests(file) {
  const name = basename(file, '.ts');
  const isNamedForIt = (test) => basename(test).startsWith(name);
  return testsBeyond(new Set([file])).sort((a, b) => Number(isNamedForIt(b)) - Number(isNamedForIt(a)));
}

function testsBeyond(met) {
  const users = sources.filter(
    (source) => imports.get(source)?.some((path) => met.has(path)) && !met.has(source),
  );
  const tests = users.filter((source) => source.endsWith('.test.ts'));
  const ofUnits = tests.filter((test) => dirname(test) !== ROOT);
  if (ofUnits.length > 0) return ofUnits;
  if (tests.length > 0 || users.length === 0) return tests;
  return testsBeyond(new Set([...met, ...users]));
}
