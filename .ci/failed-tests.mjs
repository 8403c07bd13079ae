/** Prints what failed in a TAP file, and nothing else of it: `node .ci/failed-tests.mjs tests.tap`. */
import { createReadStream } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { Parser } from 'tap-parser';
import { stringify } from 'yaml';

/** Lines of one diagnostic: a diff of two reports has thousands. */
const MOST_LINES = 20;
/** A diff is read line by line: no line of it is folded. */
const LITERALLY = /** @type {const} */ ({ lineWidth: 0, blockQuote: 'literal' });
/** What the test runner says of a file or of the place; the stack tells the place better. */
const OMITTED = new Set([
  'source',
  'at',
  'stdio',
  'cwd',
  'externalID',
  'command',
  'args',
  'jobId',
  'duration',
]);

/** @param {Record<string, unknown> | null | undefined} diagnostic */
const worthTelling = (diagnostic) =>
  Object.fromEntries(
    Object.entries(diagnostic ?? {}).filter(([name, value]) => value !== null && !OMITTED.has(name)),
  );

/**
 * @param {string} name
 * @param {Record<string, unknown>} diagnostic
 */
function print(name, diagnostic) {
  const lines =
    Object.keys(diagnostic).length === 0 ? [] : stringify(diagnostic, LITERALLY).trimEnd().split('\n');
  const shown = lines.slice(0, MOST_LINES);
  if (shown.length < lines.length) shown.push(`… and ${lines.length - shown.length} more lines`);
  const text = [`not ok ${name}`, ...shown.map((line) => `  ${line}`)].join('\n');
  process.stdout.write(`${stripVTControlCharacters(text)}\n`);
}

/**
 * Prints the failures of a test, those of its subtests first. A test that failed for one of them alone is not told again;
 * text that looks like TAP and stands in a diagnostic or a description is no result, which the parser knows.
 *
 * @param {Parser} parser
 * @param {string} path the test's name after those that it is in
 */
function follow(parser, path) {
  let printed = 0;
  let inChild = 0;
  parser.on('child', (child) => {
    const name = path === '' ? child.name : `${path} > ${child.name}`;
    const told = follow(child, name);
    child.on('complete', () => {
      inChild = told();
      printed += inChild;
    });
  });
  parser.on('assert', ({ ok, todo, skip, name, diag }) => {
    const explained = inChild > 0;
    inChild = 0;
    if (ok || todo || skip) return;
    const diagnostic = worthTelling(diag);
    if (explained && diagnostic.signal === undefined) return;
    printed += 1;
    print(path === '' ? name : `${path} > ${name}`, diagnostic);
  });
  return () => printed;
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('which TAP file?');
const parser = new Parser();
follow(parser, '');
createReadStream(file).pipe(parser);
