/** Damaged files: what a disk, an editor or somebody hostile may make of one. */
import fc from 'fast-check';
import { type JournalEntry, type JournalHeader, lineOf } from '../../checks/run/journal.ts';

/** A text, or a name, number or word, of JSON or YAML. */
const VALUE = /"(?:[^"\\\n]|\\.)*"|[\w.+-]+/g;
const OTHER_VALUES = [
  ...[
    'null',
    'true',
    '-1',
    '0',
    '0.5',
    '1e999',
    '99999999999999999999',
    '""',
    '"\\u0000"',
    '"x"',
    '[]',
    '{}',
  ],
  ...['[null]', '{"__proto__":{"a":1}}', '"2030-02-31T25:00:00Z"', '[', '"', '&a *a', '!!binary x', '\0'],
  '['.repeat(100_000),
  '{"a":'.repeat(20_000),
  `[${'1,'.repeat(200_000)}1]`,
  `"${'a'.repeat(2 ** 20)}"`,
  '- '.repeat(10_000),
];

const bytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 20 }).map((some) => Buffer.from(some)),
  fc.constantFrom(
    Buffer.alloc(100),
    Buffer.alloc(3 * 2 ** 20, '\n'),
    Buffer.alloc(2 ** 20),
    Buffer.from('\r\n'),
  ),
);

/** Puts one of the values in another's place. */
const withOtherValue = (text: string): fc.Arbitrary<string> => {
  const values = [...text.matchAll(VALUE)];
  return fc.tuple(fc.nat(values.length - 1), fc.constantFrom(...OTHER_VALUES)).map(([index, other]) => {
    const [value = '', at = 0] = [values[index]?.[0], values[index]?.index];
    return text.slice(0, at) + other + text.slice(at + value.length);
  });
};

/** Takes a piece out, and puts another one there. */
const withOtherBytes = (whole: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      fc.nat(whole.length),
      fc.oneof(fc.nat(300), fc.nat(whole.length)),
      fc.option(bytes, { nil: Buffer.alloc(0) }),
    )
    .map(([place, length, other]) =>
      Buffer.concat([whole.subarray(0, place), other, whole.subarray(place + length)]),
    );

const withOtherLines = (whole: Buffer): fc.Arbitrary<Buffer> => {
  const lines = whole.toString('latin1').split('\n');
  const line = fc.nat(lines.length - 1);
  return fc.tuple(line, line, fc.constantFrom('doubled', 'dropped', 'swapped')).map(([one, other, how]) => {
    const changed = [...lines];
    if (how === 'doubled') changed.splice(other, 0, lines[one] ?? '');
    else if (how === 'dropped') changed.splice(one, 1);
    else [changed[one], changed[other]] = [lines[other] ?? '', lines[one] ?? ''];
    return Buffer.from(changed.join('\n'), 'latin1');
  });
};

/** Damaged copies of a file: cut off, bytes or lines that are others. */
export const damaged = (whole: Buffer): fc.Arbitrary<Buffer> =>
  fc.oneof(
    withOtherBytes(whole),
    withOtherLines(whole),
    fc.nat(whole.length).map((place) => whole.subarray(0, place)),
  );

/** Copies of a text with another value somewhere. */
export const forged = (whole: Buffer): fc.Arbitrary<Buffer> =>
  withOtherValue(whole.toString()).map((text) => Buffer.from(text));

/** Copies of a journal with another value in a line, and with checks that are right all the same. */
export const forgedJournal = (whole: Buffer): fc.Arbitrary<Buffer> => {
  const entries = whole
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => line.slice('["00000000",'.length, -1));
  return fc.nat(entries.length - 1).chain((index) =>
    withOtherValue(entries[index] ?? '').map((text) => {
      const changed = entries.with(index, text);
      let [check, journal] = [0, ''];
      for (const entry of changed) {
        const next = lineOf(parsed(entry), check);
        check = next.check;
        journal += next.line;
      }
      return Buffer.from(journal);
    }),
  );
};

/** What is no JSON stands as it is. */
function parsed(text: string): JournalHeader | JournalEntry {
  try {
    return JSON.parse(text);
  } catch {
    return { playing: text };
  }
}
