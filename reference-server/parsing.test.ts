import fc from 'fast-check';
import t from 'tap';
import { int64FromJson, int64FromPath } from './int64.ts';
import { readJson, replaceNumbers } from './json.ts';
import { readNewPet } from './new-pet.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

t.test('a JSON number is an int64 by its value, not by its notation', async (t) => {
  for (const [text, digits] of [
    ['-0', '0'],
    ['0.000e5', '0'],
    ['1.0', '1'],
    ['1E+2', '100'],
    ['-12.50e1', '-125'],
    ['1200e-2', '12'],
    ['-0.07e2', '-7'],
    [`${LARGEST}.0`, LARGEST],
    [SMALLEST, SMALLEST],
    ['9.223372036854775807e18', LARGEST],
    ['1.5', null],
    ['1e-1', null],
    ['9007199254740993.5', null],
    ['1e-999999999', null],
    ['9223372036854775808', null],
    ['-9223372036854775809', null],
    ['-1e19', null],
    ['1e999999999999', null],
    [`1${'0'.repeat(1_000_000)}`, null],
  ] as const)
    t.equal(int64FromJson(text), digits, text.slice(0, 40));
  fc.assert(
    fc.property(
      fc.integer({ min: -99999, max: 99999 }),
      fc.integer({ min: -6, max: 6 }),
      (mantissa, exponent) => {
        const value = Number(`${mantissa}e${exponent}`);
        const read = int64FromJson(`${mantissa}e${exponent}`);
        return Number.isInteger(value) ? read !== null && Number(read) === value : read === null;
      },
    ),
  );
});

t.test('an id in a path has one spelling', async (t) => {
  for (const text of [
    '',
    '+1',
    '01',
    '-0',
    '1.0',
    '1e2',
    ' 1',
    '1 ',
    '0x1',
    '１',
    `${LARGEST}0`,
    '9223372036854775808',
  ])
    t.equal(int64FromPath(text), null, text);
  fc.assert(
    fc.property(fc.bigInt({ min: BigInt(SMALLEST), max: BigInt(LARGEST) }), (value) => {
      const digits = value.toString();
      return int64FromPath(digits) === digits && int64FromJson(digits) === digits;
    }),
  );
});

t.test('JSON is read as JSON.parse reads it, and no digit is lost', async () => {
  const json = fc
    .tuple(fc.jsonValue(), fc.constantFrom(0, 2))
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  fc.assert(
    fc.property(json, (text) => {
      const { value, numbers } = readJson(text);
      const again = replaceNumbers(JSON.stringify(value), (place) => numbers[Number(place)] ?? '');
      return JSON.stringify(JSON.parse(again)) === JSON.stringify(JSON.parse(text));
    }),
  );
});

t.test('a body of many members, or nested deeply, is read in a moment', async (t) => {
  const animal = { animal: { name: 'é"\\', categoryId: LARGEST, status: null } };
  const written = `"name":"\\u00e9\\"\\\\","categoryId":${LARGEST}`;
  const many = Array.from({ length: 100_000 }, (_, at) => `"${at}":${at}`).join(',');
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const started = performance.now();
  t.strictSame(readNewPet(`{${many},${written}}`), animal);
  t.strictSame(readNewPet(`{"tags":${deep},"__proto__":{"status":7},"categoryId":"1", ${written} }`), animal);
  t.ok(performance.now() - started < 5_000);
});
