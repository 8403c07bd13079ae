import fc from 'fast-check';
import t from 'tap';
import { HOSTILE_STRINGS } from './testing/hostile-text.ts';
import { clip, harmless, shownLine, shownLines } from './visible-text.ts';

t.test('characters that cannot be seen are written out', async (t) => {
  t.equal(shownLine('a\u202eb'), 'a⟨U+202E⟩b');
  t.equal(shownLine('\u001b[31mred\u0000'), '⟨U+001B⟩[31mred⟨U+0000⟩');
  t.equal(shownLine('\ud800x'), '⟨U+D800⟩x');
  t.equal(shownLine('\u{e0041}'), '⟨U+E0041⟩', 'tag characters beyond the basic plane');
  t.equal(shownLine('\ufffe'), '⟨U+FFFE⟩');
  t.equal(shownLine('two\r\n lines\t'), 'two lines');
  t.equal(shownLines('two\r\nlines\t', 99), 'two\nlines\t');
  t.equal(shownLine('Ōkami 🐕 狼 ذئب'), 'Ōkami 🐕 狼 ذئب', 'letters of any script stay');
});

t.test('whatever comes in, one line without unseen characters comes out', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HOSTILE_STRINGS)), (text) => {
      const shown = shownLine(text, 50);
      return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(shown) && shown.length < 150;
    }),
  );
});

t.test('long text is cut between code points and says so', async (t) => {
  t.equal(clip('abc', 3), 'abc');
  t.equal(clip('abcd', 3), 'abc… (4 characters in all)');
  t.equal(clip('ab🐕d', 3), 'ab… (5 characters in all)');
  t.equal(shownLine('x'.repeat(1_048_576), 10), `${'x'.repeat(10)}… (1,048,576 characters in all)`);
  const long = 'x'.repeat(65_537);
  t.strictSame(harmless({ [long]: [long], body: long }), {
    [shownLine(long, 200)]: [shownLine(long, 600)],
    body: shownLine(long, 65_536),
  });
});
