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

/** Characters of texts that are remembered: header lines, answers of a burst and whole lists come again and again. */
const MOST_KNOWN = 2 ** 20;

/** Likewise for what is left of a long key when the escapes that it seems to hold are undone. */
const SHORTEST_UNESCAPED = 6;

/**
 * Makes a redactor for keys and what is derived from them.
 *
 * It finds a key as it is, in any case, backwards, URL-encoded, escaped as in JSON, HTML or by `\\xNN` (up to three times
 * over, also in part), in hexadecimal of UTF-8 and UTF-16, in base64, base64url and base32 at any offset (`Basic`
 * credentials), split by spaces, hyphens, line ends or characters without width, and its near misses likewise. Matches that overlap are replaced as one. Time and memory grow linearly with the text, whatever it holds.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const keys = [...new Set(secrets)].filter((secret) => secret !== '');
  const long = keys.filter((key) => key.length >= SHORTEST_IN_WORDS);
  const words = [...new Set(long.flatMap(wordForms))];
  const short = keys.filter((key) => key.length < SHORTEST_IN_WORDS);
  const patterns = short.map(aloneForms);
  const inWords = anyOf(words);
  const split = anyOf(long.flatMap(spellings).map(joined).filter(isTold));
  const find = (plain: string) => [
    ...patterns.flatMap((pattern) => matches(plain, pattern)),
    ...inWords(plain),
    ...splitMatches(plain, split),
  ];
  const shortest = Math.min(...words.map(({ length }) => length), ...short.map(({ length }) => length - 1));
  const search = {
    // Half of all bodies have quotes in names, which hide only a key that has one.
    escapeMark: [...words, ...short].some((word) => word.includes('"')) ? /[%\\&]/ : /[%&]|\\(?!")/,
    reach: Math.max(SHORTEST_IN_WORDS, ...words.map((word) => word.length)) * LONGEST_ESCAPE,
    find,
  };
  const known = new Map<string, string>();
  let knownCharacters = 0;
  return {
    redact(text) {
      if (text.length < shortest) return text;
      const before = known.get(text);
      if (before !== undefined) return before;
      const redacted = replaceRanges(text, rangesIn(text, search));
      knownCharacters += text.length;
      if (knownCharacters > MOST_KNOWN) {
        known.clear();
        knownCharacters = text.length;
      }
      if (text.length <= MOST_KNOWN) known.set(text, redacted);
      return redacted;
    },
  };
}

function otherCharacter(key: string, at: number): string {
  return key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
}

function otherCase(key: string, at: number): string {
  const letter = key.charAt(at);
  const swapped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return key.slice(0, at) + swapped + key.slice(at + 1);
}

/**
 * The forms of a key that are plain words. In another case the plain and the hexadecimal form match anyway, the base64
 * forms differ.
 */
function wordForms(key: string): string[] {
  return spellings(key).flatMap((secret) => [
    secret,
    [...secret].reverse().join(''),
    ...unescapedForms(secret),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret, 'utf16le').toString('hex'),
    Buffer.from(secret, 'utf16le').swap16().toString('hex'),
    ...base32Forms(secret),
    ...base64Forms(secret),
  ]);
}

/** A key and what is almost it. */
const spellings = (key: string): string[] => [
  key,
  ...[...nearMisses(key), ...misspellings(key)].map(({ value }) => value),
];

/** What is left of a key that itself looks escaped (`%41…`) once a text's escapes are undone. */
function unescapedForms(secret: string): string[] {
  const forms: string[] = [];
  for (let plain = unescaped(secret); plain !== (forms.at(-1) ?? secret); plain = unescaped(plain))
    forms.push(plain);
  return forms.filter((form) => form.length >= SHORTEST_UNESCAPED);
}

/**
 * Base64 of the secret alone, and of the secret within longer text, where it starts 0, 1 or 2 bytes into a group of
 * three and the characters at its ends are shared with what surrounds it.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const alone = bytes.toString('base64');
  const within = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [alone, alone.replace(/=+$/, ''), ...within].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** Base32 (RFC 4648, 6) of the secret alone, without padding, and within longer text, at each offset in a group of five. */
function base32Forms(secret: string): string[] {
  const bits = Array.from(Buffer.from(secret), (byte) => byte.toString(2).padStart(8, '0')).join('');
  const encoded = (digits: string) =>
    digits.replace(/.{5}/g, (five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number.parseInt(five, 2)));
  // Where a digit begins within the secret's first byte, the digits before are shared with what precedes it.
  const within = [0, 1, 2, 3, 4].map((start) => encoded(bits.slice(start).replace(/^((?:.{5})*).*$/, '$1')));
  return [encoded(bits.padEnd(Math.ceil(bits.length / 5) * 5, '0')), ...within];
}

/** A short key, its near misses and its base64, where neither a letter nor a digit touches it. */
function aloneForms(key: string): RegExp {
  const base64 = Buffer.from(key).toString('base64').replace(/=+$/, '');
  const misspelled = misspellings(key).map(({ value }) => `|${literally(value)}`);
  return new RegExp(
    `(?<![A-Za-z0-9])(?:${literally(key)}x?|${literally(base64)}={0,2}${misspelled.join('')})(?![A-Za-z0-9])`,
    'gi',
  );
}

/** Where a text holds one of the words, the longest where one begins with another. */
type Finder = (textInLowerCase: string) => Range[];

/** So many characters of a text say how far the next word is at least; every word has more. */
const GRAM = 4;
const GRAMS = 2 ** 13;
const gramAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 9) ^
    (text.charCodeAt(at + 1) << 6) ^
    (text.charCodeAt(at + 2) << 3) ^
    text.charCodeAt(at + 3)) &
  (GRAMS - 1);

/** Lower case, in as many characters. */
function inLowerCase(text: string): string {
  const lower = text.toLowerCase();
  // The only letter that becomes two.
  return lower.length === text.length ? lower : text.replaceAll('\u0130', 'i').toLowerCase();
}

/**
 * Finds words in any case, skipping as Wu and Manber do: most texts hold none of a thousand words, for which a pattern
 * takes a hundred times as long to tell, and long to compile.
 */
function anyOf(words: readonly string[]): Finder {
  const longestFirst = [...new Set(words.map(inLowerCase))].sort((a, b) => b.length - a.length);
  const shortest = longestFirst.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  const byBeginning = new Map<string, string[]>();
  const last = shortest - GRAM;
  // By the last gram of a stretch as long as a beginning: how many places further the first beginning can start.
  const skips = new Uint16Array(GRAMS).fill(last + 1);
  for (const word of longestFirst) {
    const beginning = word.slice(0, shortest);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), word]);
    for (let at = 0; at <= last; at += 1) {
      const gram = gramAt(word, at);
      skips[gram] = Math.min(skips[gram] ?? 0, last - at);
    }
  }
  const wordAt = (plain: string, start: number) =>
    byBeginning.get(plain.slice(start, start + shortest))?.find((word) => plain.startsWith(word, start));
  return (plain) => {
    const ranges: [start: number, end: number][] = [];
    for (let start = 0; start + shortest <= plain.length; ) {
      const skip = skips[gramAt(plain, start + last)] ?? 0;
      // In a function of its own: a closure in this loop would take memory for each character.
      const word = skip === 0 ? wordAt(plain, start) : undefined;
      if (word !== undefined) add(ranges, start, start + word.length);
      start += Math.max(1, skip);
    }
    return ranges;
  };
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

type Range = readonly [start: number, end: number];

/** Where a pattern matches, also where one match begins within another, which makes one range of both. */
function matches(text: string, pattern: RegExp): Range[] {
  const ranges: [start: number, end: number][] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    add(ranges, match.index, match.index + match[0].length);
    pattern.lastIndex = match.index + 1;
  }
  return ranges;
}

/** Adds a range that begins after the others: to the last one, where it begins within that. */
function add(ranges: [start: number, end: number][], start: number, end: number): void {
  const last = ranges.at(-1);
  if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
  else ranges.push([start, end]);
}

/** What may stand between the characters of a key, plain or escaped. */
const SEPARATOR = /(?:[-\s\u00ad\u200b-\u200f\u2060]|\\[nrt]|\\u(?:00ad|200[b-f]|2060|feff))+/gi;

const joined = (text: string) => text.replace(SEPARATOR, '');

/** Whether a key without separators can be told from ordinary text, as a date in digits cannot. */
const isTold = (key: string) => key.length >= SHORTEST_IN_WORDS && /[a-z]/i.test(key);

/** Where one of the keys, which have no separators, stands with some in it. */
function splitMatches(text: string, keys: Finder): Range[] {
  const plain = joined(text);
  const found = plain.length === text.length ? [] : keys(plain);
  if (found.length === 0) return [];
  const places = placesIn(text, SEPARATOR, 0);
  return found.map(([start, end]) => [places[start] ?? 0, (places[end - 1] ?? 0) + 1]);
}

/** Escapes within escapes: a JSON text in a JSON string in a query parameter. */
const DEEPEST_ESCAPE = 3;
/** Characters that one character takes at most after so many escapes, about: `%2525u0041`, `\\\\u0041`. */
const LONGEST_ESCAPE = 16;

const ESCAPE =
  /\\(?:(?:u00|x)([0-7][0-9a-f])|(["\\/]))|%([0-7][0-9a-f])|&#x0{0,6}([0-7][0-9a-f]);|&#0{0,6}(\d{2,3});|&(amp|lt|gt|quot|apos);/gi;
const NAMED = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

function unescaped(text: string): string {
  return text.replace(ESCAPE, (...groups: string[]) => characterOf(groups));
}

/** The character that an escape stands for, in lower case, by the groups of {@link ESCAPE}. */
function characterOf(groups: readonly (string | undefined)[]): string {
  const [, json, itself, percent, hex, decimal, name] = groups;
  if (itself !== undefined) return itself;
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? '';
  return inLowerCase(
    String.fromCharCode(
      decimal === undefined ? Number.parseInt(json ?? percent ?? hex ?? '', 16) : Number(decimal),
    ),
  );
}

/** Escapes are undone in pieces of this many characters, so that a body of nothing else takes little memory. */
const PIECE = 2 ** 14;

interface Search {
  /** What may begin an escape that hides a key. */
  readonly escapeMark: RegExp;
  /** How many characters of the text a find can take at most, by which the pieces overlap. */
  readonly reach: number;
  readonly find: Finder;
}

/** What is found in the text as it is, and in the text with its escapes undone once, twice and three times. */
function rangesIn(text: string, { escapeMark, reach, find }: Search): Range[] {
  const plain = inLowerCase(text);
  const ranges = find(plain);
  if (escapeMark.test(plain)) {
    for (let start = 0; start < plain.length; start += PIECE) {
      for (const [from, to] of rangesBehindEscapes(plain.slice(start, start + PIECE + reach), find)) {
        ranges.push([start + from, start + to]);
      }
    }
  }
  return ranges.sort(([a], [b]) => a - b);
}

function rangesBehindEscapes(text: string, find: Finder): Range[] {
  const ranges: Range[] = [];
  /** The last one first. */
  const escaped: string[] = [];
  for (let plain = text; escaped.length < DEEPEST_ESCAPE; ) {
    const next = unescaped(plain);
    if (next.length === plain.length) break;
    escaped.unshift(plain);
    const found = find(next);
    // Only a text that holds a key needs the places.
    const layers = found.length === 0 ? [] : escaped.map((layer) => placesIn(layer, ESCAPE, 1));
    const original = (place: number) => layers.reduce((at, places) => places[at] ?? 0, place);
    for (const [start, end] of found) ranges.push([original(start), original(end)]);
    plain = next;
  }
  return ranges;
}

/**
 * By character, and its end, of a text of which parts were replaced: where in the text before it stood.
 *
 * @param width characters that replaced each part
 */
function placesIn(text: string, replaced: RegExp, width: 0 | 1): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const { index, 0: part } of text.matchAll(replaced)) {
    while (at < index) places.push(at++);
    if (width === 1) places.push(at);
    at = index + part.length;
  }
  while (at <= text.length) places.push(at++);
  return places;
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let replaced = '';
  let copied = 0;
  for (const [start, end] of ranges) {
    if (start >= copied) replaced += text.slice(copied, start) + REDACTED;
    copied = Math.max(copied, end);
  }
  return replaced + text.slice(copied);
}
