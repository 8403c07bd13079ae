import fc from 'fast-check';
import t from 'tap';
import { problemsOf, profileOf } from './testing/test-profile.ts';

t.test('whatever the text, a profile or problems', (t) => {
  const snippet = fc.constantFrom(
    'keys:',
    ' ',
    '\n',
    '  - ',
    '{ name: a, plan: free, env: A }',
    '[',
    ']',
    '{',
    '}',
    ':',
    ',',
    '&a ',
    '*a',
    '!!int ',
    '"',
    "'",
    '|',
    '>-',
    '---',
    '...',
    '%TAG',
    '\t',
    '#',
    'target: ',
    'gaps: ',
    'ban-threshold: ',
    '? ',
    '<<',
    '0x1F',
    '1e999',
    '.inf',
    '~',
    '\u0000',
    '\uFEFF',
    '\ud800',
    '犬',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(snippet).map((parts) => parts.join('')),
      ),
      (text) => {
        const loaded = profileOf(text);
        if (loaded.ok) return loaded.profile.keys.length > 0;
        return (
          loaded.problems.length > 0 &&
          loaded.problems.every(
            ({ line, column, message, remedy }) =>
              line >= 1 &&
              column >= 1 &&
              message !== '' &&
              remedy !== '' &&
              !/[\p{Cc}\p{Cs}]/u.test(message + remedy),
          )
        );
      },
    ),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('a large file of anything ends soon, with problems that can be read', (t) => {
  for (const unit of [
    '[',
    '{a: ',
    '- ',
    '? ',
    '- - ',
    'a:\n ',
    '&a ',
    '!a ',
    '"',
    '\n',
    ' ',
    '#',
    'a: b\n',
    '- a\n',
    '*a ',
    '"\\x',
  ]) {
    const text = unit.repeat(Math.floor(2 ** 18 / unit.length));
    const start = process.cpuUsage().user;
    const { length } = problemsOf(text);
    t.ok(length > 0 && length <= 51, JSON.stringify(unit));
    const seconds = (process.cpuUsage().user - start) / 1e6;
    t.ok(seconds < 10, `${JSON.stringify(unit)}: ${seconds} s`);
  }
  t.end();
});
