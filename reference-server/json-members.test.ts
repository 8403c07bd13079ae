import fc from 'fast-check';
import t from 'tap';
import { readJsonObject } from './json-members.ts';

t.test('members keep their text, whatever surrounds them', async (t) => {
  const read = readJsonObject(
    ' {"a" : 9223372036854775807 , "b\\u0022,}": [1, {"a": "}]"}], "__proto__":{"x":1}, "a":1.50 } ',
  );
  t.same(read.kind === 'object' && [...read.members], [
    ['a', '1.50'],
    ['b",}', '[1, {"a": "}]"}]'],
    ['__proto__', '{"x":1}'],
  ]);
});

t.test('what is no object, and what is no JSON', async (t) => {
  for (const text of ['[]', '1', '"{}"', 'null', 'true'])
    t.same(readJsonObject(text), { kind: 'other' }, text);
  for (const text of ['', '{', '{a:1}', "{'a':1}", '{"a":1,}', '{"a":01}', '\ufeff{}', '{}{}', '{"a":NaN}']) {
    t.same(readJsonObject(text), { kind: 'malformed' }, text);
  }
});

t.test('members are those of JSON.parse', async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 2), (value, indent) => {
      const read = readJsonObject(JSON.stringify(value, null, indent));
      const members = read.kind === 'object' ? [...read.members] : [['not an object', '0']];
      const again = Object.fromEntries(members.map(([name, text]) => [name, JSON.parse(String(text))]));
      return JSON.stringify(again) === JSON.stringify(JSON.parse(JSON.stringify(value)));
    }),
  );
});

t.test('a body of many members, or nested deeply, is read in a moment', async (t) => {
  const started = performance.now();
  const many = `{${Array.from({ length: 100_000 }, (_, at) => `"${at}":1`).join(',')}}`;
  const read = readJsonObject(many);
  t.equal(read.kind === 'object' && read.members.size, 100_000);
  t.equal(readJsonObject(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`).kind, 'object');
  t.ok(performance.now() - started < 5_000);
});
