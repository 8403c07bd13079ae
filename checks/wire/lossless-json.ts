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

/** What a text is: a value, or why it is none, in one line for a person. */
export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

/**
 * Levels of nesting that are read (RFC 8259, 9 lets a parser set a limit); the interface's deepest body has two.
 * Far below what the call stack holds, so that the result never depends on where the call is made from.
 */
const DEEPEST_NESTING = 500;

const LONGEST_PROBLEM = 160;

/**
 * Reads one JSON text without rounding a number. Never throws, whatever the text is.
 *
 * JSON.parse does the reading, of the text with its numbers in quotes. Parsers that keep numbers as text and are
 * written in JavaScript (lossless-json) build strings character by character, which takes thirty times the size of a
 * hostile body.
 *
 * Where RFC 8259 leaves a choice:
 * - a name that occurs twice in an object has its last value (section 4; what JSON.parse and most software do);
 * - a byte order mark is a problem: section 8.1 forbids to send one;
 * - `\ud800` without its other half is a string (section 8.2);
 * - a number may be of any size and precision (section 6), see {@link integerOf};
 * - nesting deeper than 500 levels is a problem (section 9).
 */
export function parseJson(text: string): ParsedJson {
  if (text.startsWith('\uFEFF')) {
    return { ok: false, problem: 'begins with a byte order mark, which RFC 8259, 8.1 forbids' };
  }
  if (/^[ \t\r\n]*$/.test(text)) {
    return { ok: false, problem: text === '' ? 'is empty' : 'holds nothing but white space' };
  }
  const marked = markValues(text);
  if (marked.kind === 'too deep')
    return { ok: false, problem: `is nested deeper than ${DEEPEST_NESTING} levels` };
  if (marked.kind === 'marked') {
    try {
      return { ok: true, value: intoJsonValue(JSON.parse(marked.text)) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return { ok: false, problem: printable(syntaxErrorOf(text)) };
}

/** What the parser says of the text itself, without marks. */
function syntaxErrorOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
  }
  return 'is not JSON';
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

/**
 * The integer that a number is, by its value and not its spelling: `1.0`, `1e2` and `-0` are integers, as JSON
 * Schema (2020-12, core 4.2.3) has it.
 *
 * @returns the integer where it fits int64; `'fraction'` for 1.5; `'beyond'` for an integer outside of int64. The
 *   answer for 1e400 or 1e999999999 takes no more memory than the text does.
 */
export function integerOf(number: JsonNumber): bigint | 'fraction' | 'beyond' {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)0*(\d*))?$/.exec(number.text);
  if (parts === null) throw new TypeError('not a JSON number');
  const [, sign = '', whole = '', fraction = '', exponentSign = '', exponentDigits = ''] = parts;
  const digits = trimZeros(whole + fraction);
  if (digits.kept === '') return 0n;
  // A double holds it well enough: whatever it rounds outweighs any mantissa that fits a string.
  const exponent = Number(`${exponentSign}${exponentDigits || '0'}`) - fraction.length + digits.dropped;
  if (exponent < 0) return 'fraction';
  if (digits.kept.length + exponent > MOST_INT64_DIGITS) return 'beyond';
  const integer = BigInt(`${sign}${digits.kept}${'0'.repeat(exponent)}`);
  return integer < INT64_MIN || integer > INT64_MAX ? 'beyond' : integer;
}

/** The value as an int64, or undefined where it is none: a string of digits is not, 1.0 is. */
export function int64Of(value: JsonValue | undefined): bigint | undefined {
  if (!(value instanceof JsonNumber)) return undefined;
  const integer = integerOf(value);
  return typeof integer === 'bigint' ? integer : undefined;
}

/** Whether the value is an integer of the format int64, see {@link integerOf}. */
export function isInt64(value: JsonValue | undefined): boolean {
  return int64Of(value) !== undefined;
}

/** Digits without the zeros before and after them, and how many were dropped at the end. */
function trimZeros(digits: string): { kept: string; dropped: number } {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === ZERO) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end--;
  return { kept: digits.slice(start, end), dropped: digits.length - end };
}

const ZERO = 0x30;
/** Begins a string that stands for a number, and one that stands for itself. */
const NUMBER_MARK = '#';
const STRING_MARK = '$';

type Marked =
  | { readonly kind: 'marked'; readonly text: string }
  | { readonly kind: 'too deep' }
  | { readonly kind: 'no JSON' };

/** A piece takes more memory than most values: they are put together now and then. */
const MOST_PIECES = 10_000;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The text with its numbers as strings that begin with `#`, and its strings, but not the names of fields, beginning
 * with `$`. It is JSON where the text is JSON: what is neither a string nor a number stays as it is.
 */
function markValues(text: string): Marked {
  const tokens = /["[{\]}]|-?\d[\d.eE+-]*/g;
  const pieces: string[] = [];
  let marked = '';
  let copied = 0;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    const [found] = token;
    if (found === '[' || found === '{') {
      if (++depth > DEEPEST_NESTING) return { kind: 'too deep' };
    } else if (found === ']' || found === '}') depth--;
    else if (found === '"') {
      const start = token.index + 1;
      const end = endOfString(text, start);
      if (end < 0) return { kind: 'no JSON' };
      tokens.lastIndex = end + 1;
      if (isName(text, end + 1)) continue;
      pieces.push(text.slice(copied, start), STRING_MARK);
      copied = start;
    } else {
      if (!NUMBER.test(found) || isName(text, tokens.lastIndex)) return { kind: 'no JSON' };
      pieces.push(text.slice(copied, token.index), `"${NUMBER_MARK}${found}"`);
      copied = tokens.lastIndex;
    }
    if (pieces.length > MOST_PIECES) marked += pieces.splice(0).join('');
  }
  return { kind: 'marked', text: marked + pieces.join('') + text.slice(copied) };
}

/** Where the quote is that ends the string, -1 where none does; one after an odd number of backslashes does not. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (first > start && text[first - 1] === '\\') first--;
    if ((quote - first) % 2 === 0) return quote;
  }
  return -1;
}

/** Whether a colon follows. */
function isName(text: string, end: number): boolean {
  const colon = /[ \t\r\n]*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

/** Turns what was read into values, in place: a second copy of ten million characters is too much. */
function intoJsonValue(marked: unknown): JsonValue {
  if (typeof marked === 'string') {
    return marked.startsWith(NUMBER_MARK) ? new JsonNumber(marked.slice(1)) : marked.slice(1);
  }
  if (Array.isArray(marked)) {
    for (const [index, item] of marked.entries()) marked[index] = intoJsonValue(item);
    return marked;
  }
  if (typeof marked !== 'object' || marked === null) return marked === null ? null : marked === true;
  const object: Record<string, JsonValue> = Object.setPrototypeOf(marked, null);
  for (const name of Object.keys(object)) object[name] = intoJsonValue(object[name]);
  return object;
}

/** The parser quotes what it met: a control character or half a surrogate pair must not reach a terminal. */
function printable(message: string): string {
  const line = message
    .slice(0, LONGEST_PROBLEM)
    .replace(
      /[\p{Cc}\p{Cs}\u2028\u2029\p{Cf}]/gu,
      (character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    );
  return line.charAt(0).toLowerCase() + line.slice(1);
}
