import fc from 'fast-check';
import t from 'tap';
import { nearMisses, REDACTED, redactorOf } from './redaction.ts';

const KEY = 'sk_live_4f9Zq7TrXyAbC';

/** A character in hexadecimal. */
const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (change: (character: string) => string) => (key: string) => Array.from(key, change).join('');
const base64 = (key: string) => Buffer.from(key).toString('base64');

/** How a target, a proxy or a log may write a key. */
const ENCODINGS: Readonly<Record<string, (key: string) => string>> = {
  plain: (key) => key,
  'in capitals': (key) => key.toUpperCase(),
  'in small letters': (key) => key.toLowerCase(),
  'URL-encoded': encodeURIComponent,
  'in hexadecimal': each(hex),
  'URL-encoded whole': each((character) => `%${hex(character)}`),
  'URL-encoded twice': each((character) => `%25${hex(character)}`),
  'escaped in JSON': (key) => JSON.stringify(key).slice(1, -1),
  'escaped in JSON twice': (key) => JSON.stringify(JSON.stringify(key)).slice(3, -3),
  'by \\u': each((character) => `\\u00${hex(character)}`),
  'in part by \\u': (key) => `${key.slice(0, 3)}\\u00${hex(key.charAt(3))}${key.slice(4)}`,
  base64,
  base64url: (key) => Buffer.from(key).toString('base64url'),
  'Basic credentials': (key) => base64(`${key}:`),
  'Basic password': (key) => base64(`user:${key}`),
  'base64 within a text': (key) => base64(`{"k":"${key}"}`),
  'base64 by lines': (key) => base64(`Authorization: Bearer ${key}`).replaceAll(/.{16}/g, '$&\r\n'),
  'UTF-16': each((character) => `${character}\0`),
  'UTF-16, the other way': each((character) => `\0${character}`),
  'UTF-16 in JSON': (key) => JSON.stringify(Buffer.from(key, 'utf16le').toString()).slice(1, -1),
  'in two lines': (key) => `${key.slice(0, 7)}\r\n  ${key.slice(7)}`,
  'in two lines in JSON': (key) => `${key.slice(0, 7)}\\n${key.slice(7)}`,
};

/** Bearer tokens (RFC 6750, 2.1); at least eight characters that are no separators, one of them a letter. */
const keys = fc.stringMatching(/^[A-Za-z0-9_+/.~]{5}[a-z][A-Za-z0-9_+/.~-]{6,40}={0,2}$/);
/** Text that holds none of the key. */
const around = fc.stringMatching(/^[ ,;:<>{}[\]!?#]{0,20}$/);

t.test('a key is found in any encoding, wherever it stands', async (t) => {
  fc.assert(
    fc.property(keys, around, around, (key, before, after) => {
      const redact = redactorOf([key]);
      for (const [name, encode] of Object.entries(ENCODINGS)) {
        const text = `${before}${encode(key)}${after}`;
        const redacted = redact(text);
        if (!redacted.includes(REDACTED))
          throw new Error(`${name}: ${JSON.stringify(text)} gives ${redacted}`);
        // What is left are the characters that base64 shares with what surrounds the key.
        const [first, last] = [before.trim(), after.trim()];
        const left = redacted.replaceAll(REDACTED, '').replace(first, '').replace(last, '').trim();
        if (left.length >= encode(key).length / 2 + 12)
          throw new Error(`${name}: ${left} is left of ${text}`);
      }
    }),
    { numRuns: 40 },
  );
  for (const key of ['quoted"key"4f9Zq7', 'with\\back\\slash', 'per%41cent%4f9Zq'])
    for (const encode of [ENCODINGS['plain'], ENCODINGS['escaped in JSON'], ENCODINGS['URL-encoded']])
      t.equal(redactorOf([key])(encode?.(key) ?? ''), REDACTED, key);
  t.equal(redactorOf([KEY])(`Bearer ${KEY}.`), `Bearer ${REDACTED}.`);
});

t.test('what is almost a key is redacted too: the harness sends it', async (t) => {
  const redact = redactorOf([KEY]);
  for (const { label, value } of nearMisses(KEY))
    for (const [name, encode] of Object.entries(ENCODINGS))
      t.notOk(redact(encode(value)).includes(encode(value)), `${label}, ${name}`);
});

t.test('ordinary text stays as it is', async (t) => {
  const redact = redactorOf([KEY, 'abcd', '12345678', '2026-11-23']);
  for (const text of [
    '',
    '{"id":9007199254740993,"name":"Rex","status":"sold"}',
    'abcde, xabcd, 0abcd, 123456789012',
    'sk_live_4f9Zq7',
    '1234 5678 and 20261123',
    '%zz \\u12 \\ % 犬 \u0130',
    KEY.slice(0, -2),
  ])
    t.equal(redact(text), text.replace('12345678', REDACTED), text);
  t.equal(redact('key=abcd; YWJjZA=='), `key=${REDACTED}; ${REDACTED}==`, 'a short key that stands alone');
  t.equal(redact('2026-11-23'), REDACTED);
  t.equal(redactorOf(['', ''])('text'), 'text');
});

t.test('near misses are other keys', async (t) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{1,40}$/), (key) => {
      const values = nearMisses(key).map(({ value }) => value);
      return values.every((value) => value !== key && value !== '') && values.length >= 1;
    }),
  );
  t.match(nearMisses('aB1'), [{ value: 'aB1x' }, { value: 'aB' }, { value: 'ab1' }]);
  t.equal(nearMisses('ab').length, 3);
});

t.test('a long text takes no longer than it has characters', async (t) => {
  const redact = redactorOf([KEY, 'second_key_4f9Zq7', 'a-third-key-00000']);
  for (const unit of [
    'sk_live_4f9Zq7TrXyAb',
    '\\',
    '%',
    '%25',
    '\0',
    '-',
    's',
    `${KEY} `,
    '\\u0073',
    's\\n',
  ]) {
    const start = performance.now();
    redact(unit.repeat(2 ** 18 / unit.length));
    t.ok(performance.now() - start < 3000, `${JSON.stringify(unit)}: ${performance.now() - start} ms`);
  }
});
