/** What stands in every output where a key stood. */
export const REDACTED = '[key redacted]';

export interface Redactor {
  /** The text with every key, in any of the forms of {@link createRedactor}, replaced by {@link REDACTED}. */
  redact(text: string): string;
}

/** A key that is almost right, and how it differs from the right one. */
export interface NearMiss {
  readonly label: 'one character more' | 'one character fewer' | 'one letter in the other case';
  readonly value: string;
}

/**
 * Keys that a target must refuse because they are almost right: at most three. None without its last character where
 * the key has only one, and none in another case where it has no letter.
 */
export function nearMisses(key: string): NearMiss[] {
  const misses: NearMiss[] = [{ label: 'one character more', value: `${key}x` }];
  if (key.length > 1) misses.push({ label: 'one character fewer', value: key.slice(0, -1) });
  const letter = key.search(/[A-Za-z](?!.*[A-Za-z])/);
  if (letter >= 0) misses.push({ label: 'one letter in the other case', value: otherCase(key, letter) });
  return misses;
}

/**
 * Keys that are wrong in one character, at the beginning, in the middle or at the end: whoever compares a part of a key
 * only lets them in. None of a key of one or two characters.
 */
export function misspellings(key: string): { readonly label: string; readonly value: string }[] {
  if (key.length < 3) return [];
  return [
    { label: 'another first character', value: otherCharacter(key, 0) },
    { label: 'another character in the middle', value: otherCharacter(key, Math.floor(key.length / 2)) },
    { label: 'another last character', value: otherCharacter(key, key.length - 1) },
    { label: 'its first character missing', value: key.slice(1) },
  ];
}

/**
 * The shortest key that can be told from ordinary text: shorter ones are redacted only where they stand alone, not
 * within a longer word or number, so that redaction does not change what the target said.
 */
const SHORTEST_IN_WORDS = 8;

/**
 * What may stand between the characters of a key: a line's end, the other half of a character in UTF-16. Each matches in
 * one way only, so that no text takes long.
 */
const BLANK = '[-\\s\\0\\u00ad\\u200b-\\u200f\\u2060\\ufeff]';
const SEPARATOR = [
  BLANK,
  '\\\\[nrt]',
  '\\\\u(?:00(?:00|0a|0d|20|2d|ad)|200[b-f]|2060|feff)',
  '%(?:25)*(?:0[0ad]|20|2d)',
].join('|');
const SEPARATORS = new RegExp(`(?:${SEPARATOR})+`, 'gi');
const BLANKS = new RegExp(`${BLANK}+`, 'g');
/** Most texts have none, and are told apart in a fraction of the time. */
const hasEscapes = (text: string): boolean => text.includes('\\') || text.includes('%');
/** Nobody's backslashes count: whose they are, the key's or an escape's, escapes within escapes leave open. */
const BACKSLASH = '\\\\(?:u005c)?|%(?:25)*5c';
/** A character that is escaped, in JSON or a URL, once or several times over. */
const ESCAPE = /(?:\\+u00|%(?:25)*)([2-7][0-9a-f])|\\+(["\\/])/gi;

/** A text in small letters, its escapes undone. */
const unescaped = (text: string): string =>
  (hasEscapes(text)
    ? text.replace(ESCAPE, (_, code?: string, itself = '') =>
        code === undefined ? itself : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text
  ).toLowerCase();
const flat = (text: string): string => text.replaceAll('\\', '');
const joined = (text: string): string => flat(text.replace(hasEscapes(text) ? SEPARATORS : BLANKS, ''));

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** A pattern of a text in any case, each of its characters as it is or escaped. @param between what may separate them */
function patternOf(text: string, between: string): string {
  const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
  const characters = Array.from(text, (character) => {
    const code = `(?:${hex(character)}|${hex(character.toUpperCase())})`;
    return `(?:${literally(character)}|\\\\u00${code}|%(?:25)*${code})`;
  });
  return characters.join(between);
}

/** What is to be found: its pattern takes long, and is asked for only where the text holds `plain`. */
interface Form {
  readonly plain: string;
  /** Whether it is found where separators are within it. */
  readonly isSplit: boolean;
  /** Made when it is asked for, which it hardly ever is. */
  readonly pattern: () => RegExp;
}

function formOf(lower: string): Form {
  if (lower.length < SHORTEST_IN_WORDS) {
    const pattern = `(?<![a-z0-9])${patternOf(flat(lower), `(?:${BACKSLASH})*`)}(?![a-z0-9])`;
    return { plain: flat(lower), isSplit: false, pattern: () => new RegExp(pattern, 'gi') };
  }
  const whole = joined(lower);
  // A date in digits must not be taken for a key of digits.
  const isSplit = whole.length >= SHORTEST_IN_WORDS && /[a-z]/.test(whole);
  const plain = isSplit ? whole : flat(lower);
  const between = isSplit ? `(?:${SEPARATOR}|${BACKSLASH})*` : `(?:${BACKSLASH})*`;
  return { plain, isSplit, pattern: () => new RegExp(patternOf(plain, between), 'gi') };
}

/** Texts that are remembered: header lines come again and again. */
const [MOST_KNOWN, LONGEST_KNOWN] = [1000, 200];

/**
 * Makes a redactor for keys and their near misses. It finds them in any case, URL-encoded, escaped as in JSON, in base64
 * (`Basic` credentials too), and in pieces with line ends, spaces, hyphens, NUL or characters without width between.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const keys = [...new Set(secrets)].filter((secret) => secret !== '');
  const texts = keys.flatMap(spellings).flatMap((key) => [key, ...base64Forms(key)]);
  // A key may itself look escaped, and be escaped again.
  const forms = [...new Set(texts.flatMap((text) => [unescaped(text), text.toLowerCase()]))]
    .map(formOf)
    // Of two that begin alike the longer one is replaced whole.
    .sort((a, b) => b.plain.length - a.plain.length);
  // One pattern passes over a text once; looking for each takes several times as long.
  const traces = new RegExp([...new Set(keys.flatMap(tracesOf))].map(literally).join('|'));
  const redactAll = (text: string): string => {
    const small = unescaped(text);
    const whole = joined(small);
    if (!traces.test(whole)) return text;
    const plain = flat(small);
    return forms.reduce(
      (redacted, { plain: sought, isSplit, pattern }) =>
        (isSplit ? whole : plain).includes(sought) ? redacted.replace(pattern(), REDACTED) : redacted,
      text,
    );
  };
  const known = new Map<string, string>();
  return {
    redact(text) {
      const redacted = known.get(text) ?? redactAll(text);
      if (known.size === MOST_KNOWN) known.clear();
      if (text.length <= LONGEST_KNOWN) known.set(text, redacted);
      return redacted;
    },
  };
}

/** What every text has that holds a key or a near miss of it, which differs at one place: one of its halves. */
function tracesOf(key: string): string[] {
  const middle = Math.floor(key.length / 2);
  // A short one has no half that tells anything.
  if (key.length < SHORTEST_IN_WORDS) return [''];
  const halves = [key.slice(1, middle), key.slice(middle + 1, -1)];
  return halves.flatMap((half) => [half, ...base64Forms(half)]).map((form) => joined(unescaped(form)));
}

/** A key and what is almost it. */
const spellings = (key: string): string[] => [
  key,
  ...[...nearMisses(key), ...misspellings(key)].map(({ value }) => value),
];

/**
 * Base64 of the secret alone, and of the secret within longer text, where it starts 0, 1 or 2 bytes into a group of
 * three and the characters at its ends are shared with what surrounds it.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const alone = bytes.toString('base64').replace(/=+$/, '');
  const within = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [alone, ...within].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function otherCharacter(key: string, at: number): string {
  return key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
}

function otherCase(key: string, at: number): string {
  const letter = key.charAt(at);
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return key.slice(0, at) + swapped + key.slice(at + 1);
}
