import t from 'tap';
import { type Misplaced, problemsOf, withField } from './testing/test-profile.ts';
import { YamlFile } from './yaml-file.ts';

t.test('what is no YAML, or hides what it says, is refused at its place', (t) => {
  const cases: readonly Misplaced[] = [
    [
      'keys: [{ name: a, name: b, plan: free, env: A }]',
      1,
      19,
      /^not YAML: Map keys must be unique$/,
      /syntax/,
    ],
    ['keys: [', 1, 8, /not YAML/, /syntax/],
    ['keys:\n\t- a', 2, 1, /not YAML/, /syntax/],
    [`${withField('')}---\nkeys: []`, 2, 1, /more than one document/, /---/],
    ['%YAML 9.9\n---\nkeys: &a []', 3, 10, /anchors/, /write the value out/],
    [withField('permit: &p [writes]\nload: *p'), 2, 12, /anchors/, /write the value out/],
    [withField('load: *p'), 2, 7, /not YAML: Unresolved alias|aliases/, /./],
    [withField('<<: { target: http://a/v1 }'), 2, 1, /no field "<<"/, /known here/],
    [withField('target: !!str 5'), 2, 15, /tags/, /remove the tag/],
    [withField('target: !secret x'), 2, 17, /tags/, /remove the tag/],
    [withField('load: !!map { allowed: true }'), 2, 13, /tags/, /remove the tag/],
  ];
  for (const [text, line, column, message, remedy] of cases) {
    const name = JSON.stringify(text.slice(0, 90));
    const [problem] = problemsOf(text);
    t.match(problem, { message, remedy }, name);
    t.strictSame([problem?.line, problem?.column], [line, column], `place in ${name}`);
  }
  t.end();
});

t.test('an alias bomb costs nothing', (t) => {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(10)}]`);
  const start = process.cpuUsage().user;
  t.match(problemsOf(`l0: &l0 [a]\n${levels.join('\n')}\n`), [{ message: /anchors/ }]);
  t.ok(process.cpuUsage().user - start < 2_000_000);
  t.end();
});

t.test('of a text that is no YAML, or may hide something, nothing is read', async (t) => {
  for (const text of ['keys: [', 'keys: &a []', 'a: 1\n---\nb: 2']) {
    const yaml = new YamlFile(text);
    t.equal(yaml.value, undefined, text);
    t.equal(yaml.problems.length, 1, text);
  }
  t.match(problemsOf('keys: &a ['), [{ message: /^not YAML/ }]);
  t.equal(problemsOf('keys: &a [').length, 1, 'the syntax comes first');
});

t.test('an empty file is read as nothing, which is no problem by itself', async (t) => {
  for (const text of ['', '# nothing\n']) {
    const yaml = new YamlFile(text);
    t.equal(yaml.value, undefined, JSON.stringify(text));
    t.strictSame(yaml.problems, []);
  }
});

t.test('a file is read as plain values', async (t) => {
  const { value, problems } = new YamlFile('a: [1, 1.5, x, true, ~]\nb: { c: "5", __proto__: d }\ne:\n');
  t.same(value, {
    a: [1, 1.5, 'x', true, null],
    b: Object.fromEntries([
      ['c', '5'],
      ['__proto__', 'd'],
    ]),
    e: undefined,
  });
  t.strictSame(problems, []);
});

t.test('an integer has every digit, and one beyond int64 is none', async (t) => {
  const yaml = new YamlFile('[9223372036854775807, -9223372036854775808, 9223372036854775808, 5.0, x]');
  t.equal(yaml.integerAt('/0'), 9223372036854775807n);
  t.equal(yaml.integerAt('/1'), -9223372036854775808n);
  t.equal(yaml.integerAt('/3'), 5n);
  t.equal(yaml.integerAt('/4'), undefined);
  t.equal(yaml.integerAt('/5'), undefined, 'nothing is there');
  t.match(yaml.value, [2 ** 63, -(2 ** 63), Number.POSITIVE_INFINITY, 5, 'x']);
});

t.test('a value and its name have places of their own, an item of a list one', async (t) => {
  const yaml = new YamlFile('# first\na:\n  b: [x, y]\n? [z]\n: 1\n');
  for (const [path, part] of [
    ['/a/b', 'value'],
    ['/a/b', 'name'],
    ['/a/b/1', 'name'],
    ['', 'value'],
    ['/nowhere', 'value'],
  ] as const)
    yaml.report(path, part, `${path} ${part}`, 'none');
  t.strictSame(
    yaml.problems.map(({ line, column, message }) => `${line}:${column} ${message}`),
    [
      '4:3 a field name must be text',
      '3:6 /a/b value',
      '3:3 /a/b name',
      '3:10 /a/b/1 name',
      '2:1  value',
      '1:1 /nowhere value',
    ],
  );
  t.equal(yaml.lineOf('/a/b'), 3);
});
