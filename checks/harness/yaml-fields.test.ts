import t from 'tap';
import { type Misplaced, problemsOf, withField } from './profile-for-tests.ts';
import { quoted, suggestion, YamlFields } from './yaml-fields.ts';

t.test('what is no YAML, or hides what it says, is refused at its place', (t) => {
  const cases: readonly Misplaced[] = [
    [
      'keys: [{ name: a, name: b, plan: free, env: A }]',
      1,
      19,
      /not YAML: Map keys must be unique/,
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
    const yaml = new YamlFields();
    t.equal(yaml.read(text), undefined, text);
    t.equal(yaml.problems.length, 1, text);
  }
  t.match(problemsOf('keys: &a ['), [{ message: /^not YAML/ }]);
  t.equal(problemsOf('keys: &a [').length, 1, 'the syntax comes first');
});

t.test('every field that is not known is reported, wherever it is', async (t) => {
  const cases: readonly Misplaced[] = [
    [withField('load: { alowed: true }'), 2, 9, /^load has no field "alowed"$/, /did you mean "allowed"/],
    [withField('clock: { sped: 60 }'), 2, 10, /^clock has no field "sped"$/, /did you mean "speed"/],
    [withField('samples: { category: 1 }'), 2, 12, /^samples has no field "category"$/, /"categoryId"/],
  ];
  for (const [text, line, column, message, remedy] of cases)
    t.match(problemsOf(text), [{ line, column, message, remedy }], text);
});

t.test('a number may be as large and as small as it is said to be', async (t) => {
  const speed = (written: string) => problemsOf(withField(`clock: { speed: ${written} }`)).length;
  for (const written of ['1', '1.0', '100000', '1e5']) t.equal(speed(written), 0, written);
  for (const written of ['0.9', '100001', '"60"', 'true']) t.equal(speed(written), 1, written);
});

t.test('a number that is taken as a text has every digit with which it is written', async (t) => {
  const read = (text: string) => {
    const yaml = new YamlFields();
    return yaml.scalarText(yaml.read(text));
  };
  t.equal(read('1.50'), '1.50');
  t.equal(read('1e3'), '1e3');
  t.equal(read('"a\\tb"'), 'a\tb');
  t.equal(read('|\n  a\n  b\n'), 'a\nb\n');
  t.equal(read('~'), undefined);
  t.equal(read('[a]'), undefined);
});

t.test('each unknown item of a list is reported once', async (t) => {
  t.strictSame(
    problemsOf(withField('permit: [write, delete, write]')).map(({ message }) => message),
    ['write', 'delete', 'write'].map(
      (name) => `an item of permit is "${name}", which is none of writes, exhaust, ban, day`,
    ),
  );
});

t.test('what a terminal would obey is repeated as a sign that something was there', async (t) => {
  t.equal(quoted('a\u001b[2Jb\u202ec'), '"a\ufffd[2Jb\ufffdc"');
});

t.test('forty characters of a file are repeated, and no more', async (t) => {
  t.equal(quoted('x'.repeat(40)), `"${'x'.repeat(40)}"`);
  t.equal(quoted('x'.repeat(41)), `"${'x'.repeat(40)}…"`);
});

t.test(
  'the nearest name is suggested where it is near: two letters off, or a third of a long one',
  async (t) => {
    t.equal(suggestion('ab', ['target', 'abcd']), 'did you mean "abcd"?');
    t.equal(suggestion('ABC', ['abcdef', 'abcde']), 'did you mean "abcde"?');
    t.equal(suggestion('abc', ['abcdef', 'x']), 'known here: abcdef, x');
    t.equal(suggestion('abcdefghijkl', ['abcdefgh']), 'did you mean "abcdefgh"?');
    t.equal(suggestion('abcdefghij', ['abcdef']), 'known here: abcdef');
    t.equal(suggestion('abcd', ['abcdefghij', 'abcdefgh']), 'did you mean "abcdefgh"?', 'its beginning');
    t.equal(suggestion('anything', []), 'leave it out');
    t.equal(suggestion('x'.repeat(400), ['target', 'keys']), 'known here: target, keys', 'however long');
  },
);
