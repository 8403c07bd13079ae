import fc from 'fast-check';
import t from 'tap';
import { int64FromJson, int64FromPath } from './int64.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

t.test('a JSON number is an integer by its value, not by its notation', async (t) => {
  for (const [text, digits] of [
    ['0', '0'],
    ['-0', '0'],
    ['0.000e5', '0'],
    ['1.0', '1'],
    ['1e2', '100'],
    ['1E+2', '100'],
    ['-12.50e1', '-125'],
    ['1200e-2', '12'],
    [LARGEST, LARGEST],
    [`${LARGEST}.0`, LARGEST],
    [SMALLEST, SMALLEST],
    ['9.223372036854775807e18', LARGEST],
  ] as const) {
    t.same(int64FromJson(text), { digits }, text);
  }
});

t.test('fractions and what does not fit 64 bits are told apart', async (t) => {
  for (const text of ['1.5', '0.1', '1e-1', '-12.345e2', '9007199254740993.5', '1e-999999999']) {
    t.same(int64FromJson(text), { not: 'fraction' }, text);
  }
  for (const text of ['9223372036854775808', '-9223372036854775809', '1e400', '-1e19', '1e999999999999']) {
    t.same(int64FromJson(text), { not: 'out-of-range' }, text);
  }
});

t.test('every int64 survives, in JSON and in a path', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const digits = value.toString();
      return (
        int64FromPath(digits) === digits && JSON.stringify(int64FromJson(digits)) === `{"digits":"${digits}"}`
      );
    }),
  );
});

t.test('any number that JSON writes is read as the number that it is', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -99999, max: 99999 }),
      fc.integer({ min: -6, max: 6 }),
      (mantissa, exponent) => {
        const read = int64FromJson(`${mantissa}e${exponent}`);
        const value = Number(`${mantissa}e${exponent}`);
        return Number.isInteger(value) ? 'digits' in read && Number(read.digits) === value : 'not' in read;
      },
    ),
  );
});

t.test('an id in a path has one spelling', async (t) => {
  for (const text of ['', '+1', '01', '-0', '1.0', '1e2', ' 1', '1 ', '0x1', 'abc', '１', `${LARGEST}0`]) {
    t.equal(int64FromPath(text), null, text);
  }
  t.equal(int64FromPath('9223372036854775808'), null);
  t.equal(int64FromPath('-9223372036854775809'), null);
  t.equal(int64FromPath(SMALLEST), SMALLEST);
});
