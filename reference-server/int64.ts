/**
 * int64 as decimal digits. The service never computes with an identifier, so it keeps only digits, and no number type
 * can round what was sent.
 */

const LARGEST = '9223372036854775807';
const SMALLEST_MAGNITUDE = '9223372036854775808';

/** Why a number is not an int64. */
export type NotInt64 = 'fraction' | 'out-of-range';

function fits(negative: boolean, digits: string): boolean {
  if (digits.length !== LARGEST.length) return digits.length < LARGEST.length;
  return digits <= (negative ? SMALLEST_MAGNITUDE : LARGEST);
}

/**
 * The canonical digits of a JSON number, or why it has none. The value counts, not its notation: JSON has one number
 * type, so `1.0` and `1e2` are the integers 1 and 100, `-0` is 0, and `1.5` is not an integer.
 *
 * @param text a number as JSON writes it; its length is the only bound on the work done
 */
export function int64FromJson(text: string): { digits: string } | { not: NotInt64 } {
  const negative = text.startsWith('-');
  const exponentAt = text.search(/[eE]/);
  const mantissa = text.slice(negative ? 1 : 0, exponentAt === -1 ? undefined : exponentAt);
  const exponent = exponentAt === -1 ? 0 : Number(text.slice(exponentAt + 1));
  const point = mantissa.indexOf('.');
  const whole = point === -1 ? mantissa : mantissa.slice(0, point);
  const written = point === -1 ? whole : whole + mantissa.slice(point + 1);

  const first = written.search(/[1-9]/);
  if (first === -1) return { digits: '0' };
  let end = written.length;
  while (written.charCodeAt(end - 1) === 48) end -= 1;

  // The number of digits before the decimal point once the exponent has moved it.
  const integerDigits = whole.length + exponent - first;
  const significant = written.slice(first, end);
  if (integerDigits < significant.length) return { not: 'fraction' };
  if (integerDigits > LARGEST.length) return { not: 'out-of-range' };
  const digits = significant.padEnd(integerDigits, '0');
  return fits(negative, digits) ? { digits: negative ? `-${digits}` : digits } : { not: 'out-of-range' };
}

/**
 * The digits of an int64 in a path, or null. One animal has one address, so only the canonical spelling counts:
 * no sign but a leading minus, no leading zeros, no `-0`.
 */
export function int64FromPath(segment: string): string | null {
  if (segment.length > 20 || !/^(?:0|-?[1-9]\d*)$/.test(segment)) return null;
  const negative = segment.startsWith('-');
  return fits(negative, negative ? segment.slice(1) : segment) ? segment : null;
}
