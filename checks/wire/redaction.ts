/** What stands in every output where a key stood. */
export const REDACTED = '[key redacted]';

export interface Redactor {
  /** The text with every key, in any of the forms of {@link createRedactor}, replaced by {@link REDACTED}. */
  redact(text: string): string;
}

/**
 * Keys that a target must refuse because they are almost right, and how each differs: whoever compares a part of a key
 * only lets it in. The first three are one character more, one fewer, and a letter in the other case, where there is one.
 */
export function nearMisses(key: string): { readonly label: string; readonly value: string }[] {
  const misses = [
    { label: 'one character more', value: `${key}x` },
    { label: 'one character fewer', value: key.slice(0, -1) },
    { label: 'one letter in the other case', value: otherCase(key) },
    { label: 'another first character', value: otherCharacter(key, 0) },
    { label: 'another character in the middle', value: otherCharacter(key, Math.floor(key.length / 2)) },
    { label: 'another last character', value: otherCharacter(key, key.length - 1) },
    { label: 'its first character missing', value: key.slice(1) },
  ];
  // Of a short one little is left.
  return misses.slice(0, key.length < 3 ? 3 : undefined).filter(({ value }) => value !== '' && value !== key);
}

/**
 * The shortest key that can be told from ordinary text: shorter ones are redacted only where they stand alone, not
 * within a longer word or number, so that redaction does not change what the target said.
 */
const SHORTEST_IN_WORDS = 8;

/** What may stand between the characters of a key: a line's end, the other half of a character in UTF-16. */
const BLANK = '[-\\s\\0\\u00ad\\u200b-\\u200f\\u2060\\ufeff]';
const SEPARATOR = [
  BLANK,
  '\\\\{1,7}(?:[nrt]|u(?:00(?:00|0a|0d|20|2d|ad)|200[b-f]|2060|feff))',
  '%(?:25)*(?:0[0ad]|20|2d)',
].join('|');
const SEPARATORS = new RegExp(`(?:${SEPARATOR})+`, 'gi');
const BLANKS = new RegExp(`${BLANK}+`, 'g');

/** A text in small letters, its escapes undone: those of JSON and of URLs, once or several times over. */
const unescaped = (text: string): string =>
  text
    .replace(/(?:\\{1,7}u00|%(?:25)*)([2-7][0-9a-f])/gi, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll('\\', '')
    .toLowerCase();

/** A text in one piece, as it is and with its escapes undone. */
const flat = (text: string): string => text.replace(SEPARATORS, '').replaceAll('\\', '');
const bare = (text: string): string =>
  // Most texts have no escapes, and are told apart in half the time.
  /[\\%]/.test(text) ? unescaped(text.replace(SEPARATORS, '')) : text.replace(BLANKS, '').toLowerCase();

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');

/** What matches a text in any case. A backslash before it would be left without what it escapes. */
const asItIs = (text: string) => new RegExp(`(?<!\\\\)${literally(text)}`, 'gi');
/** What matches a text in any case, each of its characters as it is or escaped, in one piece or several. */
function patternOf(text: string): RegExp {
  const characters = Array.from(text, (character) => {
    const code = `(?:${hex(character)}|${hex(character.toUpperCase())})`;
    return `(?:\\\\{0,7}${literally(character)}|\\\\{1,7}u00${code}|%(?:25)*${code})`;
  });
  if (text.length < SHORTEST_IN_WORDS)
    return new RegExp(`(?<![a-z0-9])${characters.join('')}(?![a-z0-9])`, 'gi');
  // A date in digits must not be taken for a key of digits.
  return new RegExp(characters.join(/[a-z]/.test(text) ? `(?:${SEPARATOR})*` : ''), 'gi');
}

/** Texts that are remembered: header lines come again and again. */
const [MOST_KNOWN, LONGEST_KNOWN] = [1000, 200];

/**
 * Makes a redactor for keys and their near misses. It finds them in any case, URL-encoded, escaped as in JSON, in base64
 * (`Basic` credentials too), and in pieces with line ends, spaces, hyphens or NUL between.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const keys = [...new Set(secrets)].filter((secret) => secret !== '');
  const texts = keys.flatMap(spellings).flatMap((key) => [key, ...base64Forms(key)]);
  // A key may itself look escaped. Of two that begin alike the longer one is replaced whole.
  const forms = [...new Set(texts.flatMap((text) => [text.toLowerCase(), unescaped(text)]))].sort(
    (a, b) => b.length - a.length,
  );
  // One pattern passes over a text once; looking for each takes several times as long.
  const traces = new RegExp([...new Set(keys.flatMap(tracesOf))].map(literally).join('|'));
  const redactAll = (text: string): string => {
    let [redacted, plain] = [text, bare(text)];
    if (!traces.test(plain)) return text;
    for (const form of forms) {
      // What matches anything takes milliseconds to make, and a form mostly stands as it is.
      const usual = form.length < SHORTEST_IN_WORDS ? [] : [() => asItIs(form)];
      for (const pattern of [...usual, () => patternOf(form)]) {
        if (!plain.includes(flat(form))) break;
        redacted = redacted.replace(pattern(), REDACTED);
        plain = bare(redacted);
      }
    }
    return redacted;
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
  const plain = bare(key);
  const middle = Math.floor(plain.length / 2);
  // A short one has no half that tells anything.
  if (plain.length < SHORTEST_IN_WORDS) return [''];
  const inText = [plain.slice(1, middle), plain.slice(middle + 1, -1)];
  const inBase64 = [key.slice(1, key.length / 2), key.slice(key.length / 2 + 1, -1)].flatMap(base64Forms);
  return [...inText, ...inBase64.map(bare)];
}

/** A key and what is almost it. */
const spellings = (key: string): string[] => [key, ...nearMisses(key).map(({ value }) => value)];

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

function otherCase(key: string): string {
  const at = key.search(/[A-Za-z](?!.*[A-Za-z])/);
  const letter = key.charAt(at);
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return at < 0 ? key : key.slice(0, at) + swapped + key.slice(at + 1);
}
