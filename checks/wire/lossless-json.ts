/** JSON read without rounding a number, by the library lossless-json, and what the interface asks of a number. */
import { isNumber, parse, splitNumber } from 'lossless-json';

/** A JSON number as it was written: `9223372036854775807` keeps its last digit, `1.0` its fraction. */
export class JsonNumber {
  readonly text: string;

  /** @param text a number by the grammar of RFC 8259, 6 */
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** A JSON object without a prototype, so that a field called `__proto__` or `constructor` is only a field. */
export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** Why a text has no value: it is not JSON, or it may be but the harness does not read it, which says nothing of it. */
export interface UnreadJson {
  readonly ok: false;
  readonly kind: 'malformed' | 'beyond-harness';
  /** One line for a person. */
  readonly problem: string;
}

export type ParsedJson = { readonly ok: true; readonly value: JsonValue } | UnreadJson;

/**
 * Levels of nesting that are read (RFC 8259, 9 lets a parser set a limit); the interface's deepest body has two.
 * Far below what the call stack holds, so that the result never depends on where the call is made from.
 */
const DEEPEST_NESTING = 500;

const LONGEST_PROBLEM = 160;

const malformed = (problem: string): ParsedJson => ({ ok: false, kind: 'malformed', problem });

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
  if (text.startsWith('\uFEFF'))
    return malformed('begins with a byte order mark, which RFC 8259, 8.1 forbids');
  if (/^[ \t\r\n]*$/.test(text)) {
    return malformed(text === '' ? 'is empty' : 'holds nothing but white space');
  }
  try {
    const value = parse(text, null, {
      parseNumber: (number) => new JsonNumber(number),
      onDuplicateKey: ({ newValue }) => newValue,
    });
    return isWithin(DEEPEST_NESTING, value) ? { ok: true, value } : TOO_DEEP;
  } catch (error) {
    if (error instanceof SyntaxError)
      return malformed(LIKE_JSON.test(text) ? printable(error.message) : beginning(text));
    // The call stack is full.
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

/** How an object, an array or a string begins. Of anything else, such as `404 page not found`, its beginning says most. */
const LIKE_JSON = /^[ \t\r\n]*[[{"]/;

const beginning = (text: string): string =>
  `is not JSON: it begins with ${printable(JSON.stringify(text.trimStart().slice(0, 40)))}`;

/** Whether a value nests no deeper than so many levels; takes the prototypes off its objects. */
function isWithin(levels: number, value: unknown): value is JsonValue {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return true;
  if (levels === 0) return false;
  if (!Array.isArray(value)) Object.setPrototypeOf(value, null);
  return Object.values(value).every((inner) => isWithin(levels - 1, inner));
}

/** Whether a value is an object (not an array, not null, not a number). */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const MOST_INT64_DIGITS = 19;
const PLAIN_INTEGER = /^-?(?:0|[1-9]\d{0,17})$/;

/**
 * The integer that a number is, by its value and not its spelling: `1.0`, `1e2` and `-0` are integers, as JSON
 * Schema (2020-12, core 4.2.3) has it.
 *
 * @returns the integer where it fits int64; `'fraction'` for 1.5; `'beyond'` for an integer outside of int64. The
 *   answer for 1e400 or 1e999999999 takes no more memory than the text does.
 */
export function integerOf(number: JsonNumber): bigint | 'fraction' | 'beyond' {
  // Almost all are short and plain.
  if (PLAIN_INTEGER.test(number.text)) return BigInt(number.text);
  if (!isNumber(number.text)) throw new TypeError('not a JSON number');
  // The digits without the zeros at both ends; the exponent is the first one's.
  const { sign, digits, exponent } = splitNumber(number.text);
  const length = exponent + 1;
  if (digits.length > length) return 'fraction';
  if (length > MOST_INT64_DIGITS) return 'beyond';
  const integer = BigInt(sign + digits.padEnd(length, '0'));
  return integer < INT64_MIN || integer > INT64_MAX ? 'beyond' : integer;
}

/** The value as an int64, or undefined where it is none: a string of digits is not, 1.0 is. */
export function int64Of(value: JsonValue | undefined): bigint | undefined {
  if (!(value instanceof JsonNumber)) return undefined;
  const integer = integerOf(value);
  return typeof integer === 'bigint' ? integer : undefined;
}

/** The parser quotes what it met: a control character or half a surrogate pair must not reach a terminal. */
function printable(message: string): string {
  return message
    .slice(0, LONGEST_PROBLEM)
    .replace(
      /[\p{Cc}\p{Cs}\u2028\u2029\p{Cf}]/gu,
      (character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
