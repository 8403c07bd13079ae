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

/** Where a key may be cut in two: at the end of a line, at a space. */
const BREAK = '(?:\\s|\\\\[nrt])';
const BREAKS = new RegExp(`${BREAK}+`, 'g');
/** A character that is escaped, in JSON or a URL. */
const ESCAPE = /(?:\\{1,3}u00|%(?:25)*)([2-7][0-9a-f])/gi;

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The letters of a text: in one case, without escapes and breaks. */
const bare = (text: string): string => {
  // Most texts have no escapes, and are told apart in a fraction of the time.
  const hasEscapes = text.includes('\\') || text.includes('%');
  const letters = hasEscapes
    ? unescaped(text.replace(BREAKS, '')).replaceAll('\\', '')
    : text.replace(/\s+/g, '');
  return letters.toLowerCase();
};

/** A pattern of a text in any case, each of its characters as it is or escaped, in one piece or several. */
function patternOf(text: string): RegExp {
  const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
  const characters = Array.from(text, (character) => {
    const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
    const itself = /["\\/]/.test(character) ? `\\\\{0,3}${literal}` : literal;
    return `(?:${itself}|\\\\{1,3}u00${hex(character)}|%(?:25)*${hex(character)})`;
  });
  if (text.length < SHORTEST_IN_WORDS)
    return new RegExp(`(?<![a-z0-9])${characters.join('')}(?![a-z0-9])`, 'gi');
  // A date in digits must not be taken for a key of digits.
  return new RegExp(characters.join(/[a-z]/i.test(text) ? `${BREAK}*` : ''), 'gi');
}

/** Texts that are remembered: header lines come again and again. */
const [MOST_KNOWN, LONGEST_KNOWN] = [1000, 200];

/**
 * Makes a redactor for keys and their near misses. It finds them in any case, URL-encoded, escaped as in JSON, in base64
 * (`Basic` credentials too), and cut in pieces by line ends or spaces.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const keys = [...new Set(secrets)].filter((secret) => secret !== '');
  const texts = keys.flatMap(spellings).flatMap((key) => [key, ...base64Forms(key)]);
  // A key may itself look escaped. Of two that begin alike the longer one is replaced whole.
  const forms = [...new Set(texts.flatMap((text) => [text, unescaped(text)]))]
    .sort((a, b) => b.length - a.length)
    .map((text) => ({ sought: bare(text), pattern: () => patternOf(text) }));
  const traces = [...new Set(keys.flatMap(tracesOf))];
  const redactAll = (text: string): string => {
    const letters = bare(text);
    // To apply all patterns takes long.
    if (!traces.some((trace) => letters.includes(trace))) return text;
    return forms.reduce(
      (redacted, { sought, pattern }) =>
        letters.includes(sought) ? redacted.replace(pattern(), REDACTED) : redacted,
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
  return halves.flatMap((half) => [half, ...base64Forms(half)]).map(bare);
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
