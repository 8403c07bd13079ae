import t from 'tap';
import { type Misplaced, problemsOf, withField } from './profile-for-tests.ts';
import { quoted, suggestion } from './yaml-fields.ts';

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
