/** JSON read without rounding a number, by the library lossless-json, and what the interface asks of a number. */
import { LosslessNumber, parse, splitNumber } from 'lossless-json';

export { LosslessNumber } from 'lossless-json';

/** A number is as it was written: `9223372036854775807` keeps its last digit, `1.0` its fraction. */
export type JsonValue = null | boolean | string | LosslessNumber | readonly JsonValue[] | JsonObject;

/** A JSON object without a prototype, so that a field called `__proto__` or `constructor` is only a field. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** The value of a text, or why it has none: it is not JSON, or it may be but the harness does not read it. */
export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  /** The problem in one line for a person. What the harness does not read says nothing of the target. */
  | { readonly ok: false; readonly kind: 'malformed' | 'beyond-harness'; readonly problem: string };

/**
 * Levels of nesting that are read (RFC 8259, 9 lets a parser set a limit); the interface's deepest body has two.
 * Far below what the call stack holds, so that the result never depends on where the call is made from.
 */
const DEEPEST_NESTING = 500;

const TOO_DEEP: ParsedJson = {
  ok: false,
  kind: 'beyond-harness',
  problem: `is nested deeper than ${DEEPEST_NESTING} levels`,
};

/**
 * Reads one JSON text. Never throws, whatever the text is.
 *
 * Where RFC 8259 leaves a choice:
 * - a name that occurs twice in an object has its last value (section 4; what JSON.parse and most software do);
 * - a byte order mark is a problem: section 8.1 forbids sending one;
 * - `\ud800` without its other half is a string (section 8.2);
 * - a number may be of any size and precision (section 6), see {@link integerOf};
 * - nesting deeper than 500 levels is not read (section 9).
 */
export function parseJson(text: string): ParsedJson {
  try {
    const value = parse(text, null, { onDuplicateKey: ({ newValue }) => newValue });
    return isWithin(DEEPEST_NESTING, value) ? { ok: true, value } : TOO_DEEP;
  } catch (error) {
    // The call stack is full.
    if (error instanceof RangeError) return TOO_DEEP;
    if (!(error instanceof SyntaxError)) throw error;
    if (text === '') return { ok: false, kind: 'malformed', problem: 'is not JSON: it is empty' };
    // Of what is no JSON at all, such as `404 page not found`, the beginning says most.
    const beginning = printable(text.slice(0, 40));
    const message = printable(error.message.slice(0, 160)).slice(1, -1);
    return { ok: false, kind: 'malformed', problem: `is not JSON: ${message}; it begins with ${beginning}` };
  }
}

/** A text in quotes, with escapes for controls: JSON's own for those below the space, and for DEL and those beyond ASCII. */
const printable = (text: string): string =>
  JSON.stringify(text).replace(/\p{Cc}/gu, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);

/** Whether a value nests no deeper than so many levels; takes the prototypes off its objects. */
function isWithin(levels: number, value: unknown): value is JsonValue {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return true;
  if (levels === 0) return false;
  if (!Array.isArray(value)) Object.setPrototypeOf(value, null);
  return Object.values(value).every((inner) => isWithin(levels - 1, inner));
}

/** Whether a value is an object (not an array, not null, not a number). */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

const MOST_INT64_DIGITS = 19;
const PLAIN_INTEGER = /^-?(?:0|[1-9]\d{0,17})$/;

/**
 * The integer that a number is, by its value and not its spelling: `1.0`, `1e2` and `-0` are integers, as JSON
 * Schema (2020-12, core 4.2.3) has it.
 *
 * @returns the integer where it fits int64; `'fraction'` for 1.5; `'beyond'` for an integer outside of int64. The
 *   answer for 1e400 or 1e999999999 takes no more memory than the text does.
 */
export function integerOf(number: LosslessNumber): bigint | 'fraction' | 'beyond' {
  // Almost all are short and plain.
  if (PLAIN_INTEGER.test(number.value)) return BigInt(number.value);
  // The digits without the zeros at both ends; the exponent is the first one's.
  const { sign, digits, exponent } = splitNumber(number.value);
  const length = exponent + 1;
  if (digits.length > length) return 'fraction';
  if (length > MOST_INT64_DIGITS) return 'beyond';
  const integer = BigInt(sign + digits.padEnd(length, '0'));
  return integer === BigInt.asIntN(64, integer) ? integer : 'beyond';
}

/** The value as an int64, or undefined where it is none: a string of digits is not, 1.0 is. */
export function int64Of(value: JsonValue | undefined): bigint | undefined {
  if (!(value instanceof LosslessNumber)) return undefined;
  const integer = integerOf(value);
  return typeof integer === 'bigint' ? integer : undefined;
}
