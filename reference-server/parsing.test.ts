import fc from 'fast-check';
import t from 'tap';
import { int64FromJson, int64FromPath } from './int64.ts';
import { readJson, replaceNumbers } from './json.ts';
import { readNewPet } from './new-pet.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

t.test('a JSON number is an int64 by its value, not by its notation', async (t) => {
  t.equal(int64FromJson(`1${'0'.repeat(1_000_000)}`), null);
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
  for (const text of ['', ' 1', '1 ', '１']) t.equal(int64FromPath(text), null, text);
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
  const animal = { name: 'é"\\', categoryId: LARGEST, status: null };
  const written = `"name":"\\u00e9\\"\\\\","categoryId":${LARGEST}`;
  const many = Array.from({ length: 100_000 }, (_, at) => `"${at}":${at}`).join(',');
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const started = performance.now();
  t.strictSame(readNewPet(`{${many},${written}}`), animal);
  t.strictSame(readNewPet(`{"tags":${deep},"__proto__":{"status":7},"categoryId":"1", ${written} }`), animal);
  t.ok(performance.now() - started < 5_000);
});
