/** What stands in every output where a key stood. */
export const REDACTED = '[key redacted]';

/** Replaces every key in a text, in any of the forms of {@link redactorOf}, by {@link REDACTED}. */
export type Redact = (text: string) => string;

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

/** A character escaped for JSON or a URL, once or several times over; what breaks a line; the other half of UTF-16. */
const ESCAPE = /(?:\\+u00|%(?:25)*)([0-7][0-9a-f])|\\+[nr]?|[\0\r\n]\s*/gi;

/** A text in one piece and without escapes, and at which of its characters how many more of the text stand before it. */
function plainly(text: string) {
  const cuts: { readonly at: number; readonly length: number }[] = [];
  let cut = 0;
  const plain = text.replace(ESCAPE, (escaped, code: string | undefined, at: number) => {
    const character = code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16));
    const meant = character < ' ' || character === '\\' ? '' : character;
    cuts.push({ at: at - cut, length: escaped.length - meant.length });
    cut += escaped.length - meant.length;
    return meant;
  });
  return { plain, cuts };
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Texts that are remembered: header lines come again and again. */
const [MOST_KNOWN, LONGEST_KNOWN] = [1000, 200];

/**
 * Makes a redactor for keys and their near misses. It finds them in any case, URL-encoded, escaped as in JSON, in
 * hexadecimal, in base64 (`Basic` credentials too), over the end of a line, and in UTF-16.
 */
export function redactorOf(secrets: Iterable<string>): Redact {
  const keys = [...new Set(secrets)].filter((secret) => secret !== '');
  const forms = keys
    .flatMap((key) => [key, ...nearMisses(key).map(({ value }) => value)])
    .flatMap((key) => [key, Buffer.from(key).toString('hex'), ...base64Forms(key)]);
  // A key may itself look escaped. Of two that begin alike the longer one is replaced whole.
  const patterns = [...new Set(forms.flatMap((form) => [form, plainly(form).plain]))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length)
    .map((form) =>
      form.length < SHORTEST_IN_WORDS ? `(?<![a-z0-9])${literally(form)}(?![a-z0-9])` : literally(form),
    );
  // A backslash before it would be left without what it escapes.
  const anyForm = new RegExp(`(?<!\\\\)(?:${patterns.join('|') || '(?!)'})`, 'gi');
  const redactAll = (whole: string): string => {
    // A short one that ends a line would stand in the next line's word.
    const text = whole.replace(anyForm, REDACTED);
    const { plain, cuts } = plainly(text);
    if (cuts.length === 0) return text;
    let [redacted, from, cut, next] = ['', 0, 0, 0];
    /** Where a character of the plain text begins in the text. */
    const inText = (at: number) => {
      for (; (cuts[next]?.at ?? at) < at; next += 1) cut += cuts[next]?.length ?? 0;
      return at + cut;
    };
    for (const { 0: found, index } of plain.matchAll(anyForm)) {
      redacted += text.slice(from, inText(index)) + REDACTED;
      from = inText(index + found.length);
    }
    return redacted + text.slice(from);
  };
  const known = new Map<string, string>();
  return (text) => {
    const redacted = known.get(text) ?? redactAll(text);
    if (known.size === MOST_KNOWN) known.clear();
    if (text.length <= LONGEST_KNOWN) known.set(text, redacted);
    return redacted;
  };
}

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
