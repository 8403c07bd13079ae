/** int64 as decimal digits: the service never computes with them, and no number type can round what was sent. */

// Longer numbers are refused unread. Otherwise the work would grow with the square of their length.
const MOST_CHARACTERS = 1_000;
const JSON_NUMBER = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

function int64(digits: string): string | null {
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value ? value.toString() : null;
}

/**
 * The canonical digits of a JSON number, or null if it is no int64. The value counts, not its notation: JSON has one
 * number type, so `1.0` and `1e2` are the integers 1 and 100, `-0` is 0, and `1.5` is not an integer.
 */
export function int64FromJson(text: string): string | null {
  const parts = text.length > MOST_CHARACTERS ? null : JSON_NUMBER.exec(text);
  if (parts === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/0+$/, '');
  if (!/\d/.test(digits)) return '0';
  const zeros = whole.length + Number(exponent) - digits.length;
  return zeros < 0 || zeros > 18 ? null : int64(digits + '0'.repeat(zeros));
}

/** The digits of an int64 in a path, or null. One animal has one address, so only the canonical spelling counts. */
export function int64FromPath(segment: string): string | null {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(segment) ? int64(segment) : null;
}
