import t from 'tap';
import { boundedJson } from './stored-result.ts';

const MIB = 2 ** 20;

t.test('a file with results is read in bounds, and what is wrong with it is said', async (t) => {
  t.same(boundedJson('{"a":[1,{"b":"[[[[,,,,\\"]]"}]}'), { a: [1, { b: '[[[[,,,,"]]' }] });
  t.type(boundedJson(`[${'{},'.repeat(900_000)}1]`), Array);
  const before = process.memoryUsage().rss;
  for (const [text, message] of [
    ['', /^is not JSON|^line 1: is not JSON/],
    ['{\n"a": [1\n', /^line 3: is not JSON; was it cut off\?$/],
    ['['.repeat(20 * MIB), /^line 1: is nested too deep/],
    [`\n\n${'{"a":'.repeat(101)}`, /^line 3: is nested too deep/],
    [`[${'1,'.repeat(10 * MIB)}1]`, /^line 1: .* too many values/],
    ['\n'.repeat(30 * MIB), /is not JSON/],
    [`"${'\\'.repeat(30 * MIB)}`, /is not JSON/],
  ] as const) {
    const start = performance.now();
    t.throws(() => boundedJson(text), { message }, text.slice(0, 20));
    t.ok(performance.now() - start < 10_000);
  }
  t.ok(process.memoryUsage().rss - before < 250e6);
});
