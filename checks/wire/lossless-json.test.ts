import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import t from 'tap';
import { int64Of, integerOf, isJsonObject, type JsonValue, parseJson } from './lossless-json.ts';

function read(text: string): JsonValue {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
}

function problemOf(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok ? 'no problem' : parsed.problem;
}

/** The same value as text, without white space. */
function written(value: JsonValue): string {
  if (value instanceof LosslessNumber) return value.value;
  if (Array.isArray(value)) return `[${value.map(written)}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`)}}`;
}

const LONG = `"\\${'x'.repeat(2000)}\n`;
const ODD = ['#1', '$', '"', '\\"', '[', '{"a":1}', '\ud800', '\u2028', '-1e5', '\uE000', '\uE0001', LONG];
const strings = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...ODD));
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][-+]?\d{1,20})?$/);
/** A value in pieces, between which white space may stand. */
const { pieces } = fc.letrec<{ pieces: readonly string[]; fields: readonly string[] }>((tie) => ({
  pieces: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(number, fc.constantFrom('true', 'false', 'null')).map((text) => [text]),
    strings.map((text) => [JSON.stringify(text)]),
    fc
      .array(tie('pieces'), { maxLength: 4 })
      .map((items) => ['[', ...items.flatMap((item, at) => [at > 0 ? ',' : '', ...item]), ']']),
    tie('fields'),
  ),
  fields: fc
    .uniqueArray(fc.tuple(strings, tie('pieces')), { maxLength: 4, selector: ([name]) => name })
    .map((all) => [
      '{',
      // A name of digits would come first.
      ...all.flatMap(([name, inner], at) => [at > 0 ? ',' : '', JSON.stringify(`n${name}`), ':', ...inner]),
      '}',
    ]),
}));

t.test('any JSON text comes back with every digit, however large it is', (t) => {
  const blank = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
  const padding = fc.constantFrom('', ' '.repeat(2 ** 16));
  fc.assert(
    fc.property(pieces, blank, padding, fc.boolean(), (pieces, between, padding, isEscaped) => {
      const text = pieces.join(between) + padding;
      return written(read(isEscaped ? text.replaceAll('\uE000', '\\uE000') : text)) === pieces.join('');
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('any text is JSON to us where it is to JSON.parse, and nothing throws', (t) => {
  const almostJson = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '\\', '{', ']', ',', '\u0000', '0', '-', '.'))
    .map(
      ([text, at, with_]) =>
        text.slice(0, at % (text.length + 1)) + with_ + text.slice(at % (text.length + 1)),
    );
  fc.assert(
    fc.property(fc.oneof(almostJson, fc.string({ unit: 'binary' })), (text) => {
      let expected = true;
      try {
        JSON.parse(text);
      } catch {
        expected = false;
      }
      return parseJson(text).ok === expected;
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('fields with the names of a prototype are fields', (t) => {
  const value = read('{"__proto__": {"polluted": true}, "constructor": 1, "toString": 2}');
  if (!isJsonObject(value)) throw new Error('not an object');
  t.strictSame(Object.keys(value), ['__proto__', 'constructor', 'toString']);
  t.equal(Object.getPrototypeOf(value), null);
  t.notOk('polluted' in value);
  t.equal(read('{}') instanceof Object, false);
  t.end();
});

t.test('of a name given twice the last value counts', (t) => {
  for (const last of ['2', 'null', '1.0'])
    t.equal(written(read(`{"id": 1, "id": ${last}}`)), `{"id":${last}}`);
  t.end();
});

t.test('each kind of broken text has a problem of its own', (t) => {
  t.equal(problemOf(''), 'is not JSON: it is empty');
  t.match(problemOf(' \r\n'), /reached end of input at position 3/);
  t.match(problemOf('\uFEFF{}'), /JSON value expected .* at position 0/, 'RFC 8259, 8.1 forbids it');
  t.match(problemOf('{} x'), /position 3/);
  t.match(problemOf('[1,]'), /: Array item expected but got ']' at position 3;/);
  t.match(
    problemOf('{"a":1'),
    /: Quoted object key or end of object '}' expected but reached end of input at position 6;/,
  );
  t.match(problemOf('"\u0000"'), /: Invalid character '\\u0000'/);
  for (const text of ['<!DOCTYPE html>', '404 page not found'])
    t.match(problemOf(text), `; it begins with "${text}"`);
  const broken = `[NaN] 01 +1 .5 1. 'a' {a:1} [1]] {1:2} {"a":01} [" "\\" 1- "\\x" \u00A0{} nul \u0000`;
  for (const text of [...broken.split(' '), '[1 2]']) {
    t.not(problemOf(text), 'no problem', JSON.stringify(text));
  }
  t.end();
});

t.test('nesting is bounded, whatever the call stack holds', (t) => {
  t.match(problemOf('['.repeat(100_000) + ']'.repeat(100_000)), /deeper than 500/);
  t.match(problemOf(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), /deeper than 500/);
  t.match(problemOf('['.repeat(501) + ']'.repeat(501)), /deeper than 500/);
  t.equal(problemOf('['.repeat(500) + ']'.repeat(500)), 'no problem');
  t.equal(problemOf(JSON.stringify('['.repeat(1000))), 'no problem', 'brackets in a string do not nest');
  t.equal(problemOf(JSON.stringify(['\\', '"[', '['.repeat(1000)])), 'no problem', 'nor after an escape');
  t.equal(problemOf(`[${'[],'.repeat(1000)}[]]`), 'no problem', 'nor do neighbours');
  t.end();
});

t.test('a problem is one short printable line, whatever the text', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const parsed = parseJson(text);
      return parsed.ok || (parsed.problem.length < 400 && !/[\p{Cc}\p{Cs}]/u.test(parsed.problem));
    }),
  );
  t.ok(problemOf(`-${'x'.repeat(10_000)}`).length < 400);
  t.match(problemOf('[\u0007]'), /but got '\\u0007'/, 'a bell');
  t.match(problemOf('[\u0085]'), /but got '\\u0085'/, 'a control beyond ASCII');
  t.end();
});

t.test('integers by value, not by spelling', (t) => {
  const cases: [string, bigint | 'fraction' | 'beyond'][] = [
    ['1', 1n],
    ['-1', -1n],
    ['0', 0n],
    ['-0', 0n],
    ['-0.0e5', 0n],
    ['1.0', 1n],
    ['1e2', 100n],
    ['1E+2', 100n],
    ['12300e-2', 123n],
    ['1.5e1', 15n],
    ['0.15e2', 15n],
    ['1.5', 'fraction'],
    ['1e-1', 'fraction'],
    ['15e-1', 'fraction'],
    ['1e-400', 'fraction'],
    ['1e-99999999999999999999', 'fraction'],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775807.0', 9223372036854775807n],
    ['9223372036854775808', 'beyond'],
    ['-9223372036854775808', -9223372036854775808n],
    ['-9223372036854775809', 'beyond'],
    ['1e400', 'beyond'],
    ['-1e400', 'beyond'],
    ['1e999999999', 'beyond'],
    ['1e99999999999999999999', 'beyond'],
    ['0e99999999999999999999', 0n],
    ['1e000000000000000000002', 100n],
    [`1${'0'.repeat(1000)}e-1000`, 1n],
    [`0.${'0'.repeat(999)}1e1000`, 1n],
  ];
  for (const [text, expected] of cases)
    t.equal(integerOf(new LosslessNumber(text)), expected, text.slice(0, 40));
  t.end();
});

t.test('the largest body that a run reads takes a bounded multiple of its size', (t) => {
  const names = Array.from({ length: 10_000 }, (_, i) => ({ id: i, name: 'x'.repeat(170) }));
  for (const text of [
    JSON.stringify(names),
    JSON.stringify('x'.repeat(2 ** 21)),
    `[${'1,'.repeat(2 ** 20)}1]`,
  ]) {
    const before = process.memoryUsage().rss;
    t.ok(parseJson(text).ok);
    t.ok(
      process.memoryUsage().rss - before < 150_000_000,
      `${(process.memoryUsage().rss - before) / 1e6} MB`,
    );
  }
  t.end();
});

t.test('only a number can be an int64', (t) => {
  t.equal(int64Of(read('1')), 1n);
  for (const text of ['"1"', 'true', 'null', '[1]', '{"text":"1"}', '1.5', '9223372036854775808']) {
    t.equal(int64Of(read(text)), undefined, text);
  }
  t.equal(int64Of(undefined), undefined);
  t.end();
});
