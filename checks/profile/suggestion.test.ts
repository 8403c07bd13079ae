import t from 'tap';
import { quoted, suggestion } from './suggestion.ts';

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
