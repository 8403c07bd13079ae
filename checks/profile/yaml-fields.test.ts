import t from 'tap';
import { type Misplaced, problemsOf, withField } from './testing/test-profile.ts';
import { type Field, quoted, suggestion, YamlFields } from './yaml-fields.ts';

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

/** What a field `a` of a file is read as, and all that is said of the file. */
function readA(written: string, read: (yaml: YamlFields, a: Field) => unknown) {
  const yaml = new YamlFields();
  const a = yaml.fields(yaml.read(`# one field\na: ${written}\n`), 'the file', ['a'])?.get('a');
  const value = a === undefined ? 'no value' : read(yaml, a);
  return { value, said: yaml.problems.map((p) => `${p.line}:${p.column} ${p.message}; ${p.remedy}`) };
}

t.test('each kind of value is read as what it is, and anything else is reported at its place', async (t) => {
  const kinds: readonly {
    readonly read: (yaml: YamlFields, a: Field) => unknown;
    readonly taken: Readonly<Record<string, unknown>>;
    readonly refused: readonly string[];
    readonly said: string;
  }[] = [
    {
      read: (yaml, { value }) => yaml.text(value, 'a'),
      taken: { x: 'x', '"5"': '5', "'true'": 'true' },
      refused: ['5', 'true', '[x]', '{ x: y }'],
      said: '2:4 a must be a text; put it in quotes',
    },
    {
      read: (yaml, { value }) => yaml.flag(value, 'a'),
      taken: { true: true, false: false },
      refused: ['"true"', 'yes', '1', '[true]'],
      said: '2:4 a must be true or false; write true or false, without quotes',
    },
    {
      read: (yaml, { value }) => yaml.integer(value, 'a', 1n, 10n),
      taken: { 1: 1n, 10: 10n },
      refused: ['0', '11', '1.5', '"5"', 'true', '[5]', '-5'],
      said: '2:4 a must be a whole number from 1 to 10; write it in digits only',
    },
    {
      read: (yaml, { value }) => yaml.number(value, 'a', 0.5, 10),
      taken: { 0.5: 0.5, 10: 10, '1e1': 10 },
      refused: ['0.4', '10.1', '"5"', 'true', '.nan', '[5]'],
      said: '2:4 a must be a number from 0.5 to 10; write it in digits',
    },
    {
      read: (yaml, a) => yaml.items(a, 'a')?.map((item) => yaml.scalarText(item)),
      taken: { '[]': [], '[x, 5]': ['x', '5'] },
      refused: ['x', '{ x: y }'],
      said: '2:4 a must be a list; write it as [a, b] or one "- item" a line',
    },
    {
      read: (yaml, a) => yaml.choices(a, 'a', ['red', 'green']),
      taken: { '[]': [], '[green, red]': ['green', 'red'] },
      refused: ['red', '{ red: green }'],
      said: '2:4 a must be a list; write it as [a, b] or one "- item" a line',
    },
    {
      read: (yaml, { value }) => yaml.choice(value, 'a', ['red', 'green']),
      taken: { red: 'red', '"green"': 'green' },
      refused: ['[red]', '{ red: red }'],
      said: '2:4 a is a list or mapping, which is none of red, green; known here: red, green',
    },
    {
      read: (yaml, { value }) => [...(yaml.fields(value, 'a', ['b', 'c'])?.keys() ?? ['none'])],
      taken: { '{ c: 1, b: 2 }': ['c', 'b'], '{}': [], '{ b: , c: ~ }': [], '{ b: [], c: {} }': ['b', 'c'] },
      refused: ['x', '[b]'],
      said: '2:4 a must be a mapping (name: value); write its fields: b, c',
    },
  ];
  for (const { read, taken, refused, said } of kinds) {
    for (const [written, value] of Object.entries(taken))
      t.strictSame(readA(written, read), { value, said: [] }, written);
    for (const written of refused) t.strictSame(readA(written, read).said, [said], written);
  }
});

t.test('of a list each item is judged, and of a mapping each name', async (t) => {
  const choices = (written: string) => readA(written, (yaml, a) => yaml.choices(a, 'a', ['red', 'green']));
  const { value, said } = choices('[red, green, red, blue, ~, {}]');
  t.strictSame(value, ['red', 'green']);
  t.strictSame(said, [
    '2:17 a has "red" twice; remove one',
    '2:22 an item of a is "blue", which is none of red, green; known here: red, green',
    '2:28 an item of a is empty, which is none of red, green; known here: red, green',
    '2:31 an item of a is a list or mapping, which is none of red, green; known here: red, green',
  ]);
  const told: string[] = [];
  const fields = readA('{ 7: 1, [x]: 1, bb: 1, c: 1, d: 1 }', (yaml, a) => {
    const refuse = (name: string, { offset }: Field) => {
      told.push(`${name} at ${offset}`);
      return name === 'c';
    };
    return [...(yaml.fields(a.value, 'a', ['b', 'd'], refuse)?.keys() ?? [])];
  });
  t.strictSame(told, ['bb at 31', 'c at 38']);
  t.strictSame(fields, {
    value: ['d'],
    said: [
      '2:6 a has a field whose name is no text; name it by a word',
      '2:12 a has a field whose name is no text; name it by a word',
      '2:20 a has no field "bb"; did you mean "b"?',
    ],
  });
});

t.test('an empty file is read as nothing, which is no problem by itself', async (t) => {
  for (const text of ['', '# nothing\n']) {
    const yaml = new YamlFields();
    t.equal(yaml.read(text) ?? null, null, JSON.stringify(text));
    t.strictSame(yaml.problems, []);
  }
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
