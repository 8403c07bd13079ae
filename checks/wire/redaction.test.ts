import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createRedactor, misspellings, nearMisses, REDACTED } from './redaction.ts';

const KEY = 'sk_live+4f/9Zq.7~Tr=(x)*';
const redactor = createRedactor([KEY]);

const percentEncoded = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
const unicodeEscaped = (text: string) =>
  [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const entityEscaped = (text: string) => [...text].map((c) => `&#${c.charCodeAt(0)};`).join('');

function base32(text: string): string {
  let digits = '';
  let rest = 0n;
  for (const byte of Buffer.from(text)) rest = rest * 256n + BigInt(byte);
  const bits = Buffer.byteLength(text) * 8;
  rest <<= BigInt((5 - (bits % 5)) % 5);
  for (let digit = Math.ceil(bits / 5); digit > 0; digit--, rest /= 32n)
    digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number(rest % 32n)) + digits;
  return digits.padEnd(Math.ceil(digits.length / 8) * 8, '=');
}

const FORMS: Record<string, (text: string) => string> = {
  plain: (text) => text,
  'in upper case': (text) => text.toUpperCase(),
  'URL-encoded': encodeURIComponent,
  'URL-encoded in small letters': (text) => encodeURIComponent(text).toLowerCase(),
  'URL-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'URL-encoded throughout': percentEncoded,
  'in a JSON string': (text) => JSON.stringify(text),
  'in a JSON string in a JSON string': (text) => JSON.stringify(JSON.stringify(text)),
  'with escaped slashes': (text) => text.replaceAll('/', '\\/'),
  'Unicode-escaped': unicodeEscaped,
  'Unicode-escaped in a JSON string': (text) => JSON.stringify(unicodeEscaped(text)),
  'as HTML entities': entityEscaped,
  'as named HTML entities': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'in capital hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 in a URL': (text) => encodeURIComponent(Buffer.from(text).toString('base64')),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  backwards: (text) => [...text].reverse().join(''),
  'in base32': base32,
  'in base32 after other text': (text) => base32(`ab${text}`).slice(4),
  'escaped by \\xNN': (text) => [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16)}`).join(''),
  'in hexadecimal of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('hex'),
  'in hexadecimal of UTF-16, the other way round': (text) =>
    Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase(),
};

/** Ways to split a key: what stands between its characters, or some of them. */
const SPLITS: Record<string, (text: string) => string> = {
  'by spaces': (text) => [...text].join(' '),
  'by hyphens, in fours': (text) => text.replace(/.{4}(?=.)/g, '$&-'),
  'by characters without width': (text) => [...text].join('\u200b'),
  'by line ends': (text) => text.replace(/.{7}(?=.)/g, '$&\r\n'),
  'by line ends in a JSON string': (text) => JSON.stringify(text.replace(/.{7}(?=.)/g, '$&\n')),
  'by escaped characters without width': (text) => [...text].join('\\u200B'),
  'by spaces in a URL': (text) => encodeURIComponent([...text].join(' ')),
};

/** Runs of eight characters or more of a form are enough to find out the key. */
function leaks(output: string, form: string): boolean {
  for (let start = 0; start + 8 <= form.length; start++) {
    if (output.includes(form.slice(start, start + 8))) return true;
  }
  return false;
}

for (const [name, form] of Object.entries(FORMS)) {
  t.test(`a key ${name}`, (t) => {
    for (const secret of [KEY, ...[...nearMisses(KEY), ...misspellings(KEY)].map(({ value }) => value)]) {
      const output = redactor.redact(`before ${form(secret)} after`);
      t.notOk(leaks(output, form(secret)), output);
      t.ok(output.startsWith('before ') && output.endsWith(' after') && output.includes(REDACTED), output);
    }
    t.end();
  });
}

for (const [name, split] of Object.entries(SPLITS)) {
  t.test(`a key that is split ${name}`, async (t) => {
    for (const secret of [KEY, ...[...nearMisses(KEY), ...misspellings(KEY)].map(({ value }) => value)]) {
      const output = redactor.redact(`before ${split(secret)} after`);
      const quote = name.includes('JSON') ? '"' : '';
      t.equal(output, `before ${quote}${REDACTED}${quote} after`, secret);
    }
  });
}

t.test('a date or a number that has the digits of a key is no key', async (t) => {
  const { redact } = createRedactor(['20261122', '12345678']);
  for (const text of ['2026-11-22', '1234 5678', '12-34-56-78']) t.equal(redact(text), text);
});

t.test('any key in any form in any text', (t) => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
    minLength: 8,
    maxLength: 40,
  });
  fc.assert(
    fc.property(
      visible,
      fc.constantFrom(...Object.keys(FORMS)),
      fc.string(),
      fc.string(),
      (key, name, before, after) => {
        const form = FORMS[name]?.(key) ?? '';
        const text = `${before} ${form} ${after}`;
        return !createRedactor([key]).redact(text).toLowerCase().includes(form.toLowerCase());
      },
    ),
    { numRuns: 1500 },
  );
  t.end();
});

t.test('a key with a quote in a text that has no escapes but of quotes', async (t) => {
  for (const key of ['abc"defghi', 'abc%22defghi', 'a"b']) {
    const { redact } = createRedactor([key]);
    const plain = key.replace('%22', '"');
    t.equal(redact(`"say \\"${plain.replace('"', '\\"')}\\" now"`), `"say \\"${REDACTED}\\" now"`, key);
  }
});

t.test('a key that looks escaped itself, escaped once more', (t) => {
  for (const key of [
    '!"!%00!!!',
    '%00!!!!&!!!',
    'a\\u0041b"cdefgh',
    '&amp;%25&lt;abcdef',
    'abc%2541defgh/',
  ]) {
    for (const [name, form] of Object.entries(FORMS)) {
      const output = createRedactor([key]).redact(`<${form(key)}>`);
      t.notOk(output.toLowerCase().includes(form(key).toLowerCase()), `${encodeURIComponent(key)} ${name}`);
    }
  }
  t.end();
});

t.test('a key within longer base64, as Basic credentials hold it', (t) => {
  for (const user of ['', 'u', 'us', 'use', 'user:']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const header = Buffer.from(`${user}${KEY}:`).toString(encoding);
      const alone = Buffer.from(KEY).toString(encoding);
      const output = redactor.redact(`Basic ${header}`);
      t.match(output, /^Basic .{0,8}\[key redacted\].{0,4}$/);
      t.notOk(leaks(output, user.length % 3 === 0 ? alone.slice(0, -4) : header.slice(8, -6)), output);
    }
  }
  t.end();
});

t.test('a text without a key stays as it is', (t) => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => redactor.redact(text) === text));
  const body = JSON.stringify([{ id: 1, name: 'Rex "\\ 犬 &amp; %41', status: 'sold' }]);
  t.equal(redactor.redact(body), body);
  t.equal(createRedactor([]).redact(KEY), KEY);
  t.equal(createRedactor(['']).redact(KEY), KEY);
  t.end();
});

t.test('the longer of two keys, and keys that overlap, leave nothing', (t) => {
  const { redact } = createRedactor(['abcdefgh', 'abcdefgh-ijkl', 'ijkl-mnop']);
  t.equal(redact('<abcdefgh-ijkl>'), `<${REDACTED}>`);
  t.equal(redact('<abcdefgh-ijkl-mnop>'), `<${REDACTED}>`);
  t.equal(redact('<abcdefgh><ijkl-mnop>'), `<${REDACTED}><${REDACTED}>`);
  t.equal(redact(`${'abcdefgh'.repeat(3)}!`), `${REDACTED.repeat(3)}!`);
  t.end();
});

t.test('every way to write a character of HTML', (t) => {
  const { redact } = createRedactor([`a&b<c>d"e'f`]);
  for (const text of [
    'a&amp;b&lt;c&gt;d&quot;e&apos;f',
    'a&AMP;b&LT;c&GT;d&QUOT;e&APOS;f',
    'a&#38;b&#60;c&#62;d&#34;e&#39;f',
    'a&#x26;b&#x3C;c&#x3e;d&#x22;e&#x27;f',
    'a&#X0026;b&#00060;c&#x0000003e;d&#0000034;e&#x027;f',
    'a&amp;amp;b&amp;lt;c&amp;#62;d&amp;quot;e&amp;#x27;f',
  ])
    t.equal(redact(`<${text}>`), `<${REDACTED}>`, text);
  t.end();
});

t.test('base64 with padding and without, in either alphabet', (t) => {
  for (const key of ['abcdefgh', 'abcdefghi', 'abcdefghij', '???>>>???', '?>?>?>?>']) {
    const { redact } = createRedactor([key]);
    for (const encoded of [
      Buffer.from(key).toString('base64'),
      Buffer.from(key).toString('base64').replace(/=+$/, ''),
      Buffer.from(key).toString('base64url'),
    ])
      t.equal(redact(`<${encoded}>`), `<${REDACTED}>`, encoded);
  }
  const short = createRedactor(['ab12']);
  for (const encoded of ['YWIxMg==', 'YWIxMg'])
    t.equal(short.redact(`<${encoded}>`), `<${REDACTED}>`, encoded);
  t.end();
});

t.test('a key that stands there plain and escaped', (t) => {
  const escaped = percentEncoded(KEY);
  t.equal(redactor.redact(`${escaped} and ${KEY}`), `${REDACTED} and ${REDACTED}`);
  t.equal(redactor.redact(`${KEY} and ${escaped}.`), `${REDACTED} and ${REDACTED}.`);
  t.equal(redactor.redact(`${KEY} of 5%25`), `${REDACTED} of 5%25`, 'once, though it is met in each layer');
  t.end();
});

t.test('a short key is redacted where it stands alone, not within words', (t) => {
  const { redact } = createRedactor(['ab1']);
  t.equal(
    redact('Bearer ab1, ab1x, AB1, xb1, ax1 or "ab1"'),
    `Bearer ${REDACTED}, ${REDACTED}, ${REDACTED}, ${REDACTED}, ${REDACTED} or "${REDACTED}"`,
  );
  t.equal(redact('{"name":"crab1","code":"ab12"}'), '{"name":"crab1","code":"ab12"}');
  t.equal(redact(`Basic ${Buffer.from('ab1').toString('base64')}`), `Basic ${REDACTED}`);
  t.equal(redact('?k=%61%62%31'), `?k=${REDACTED}`);
  t.end();
});

t.test('keys that are regular expressions', (t) => {
  for (const key of ['.*.*.*.*', '(a|b)+[c]$^', '\\d\\d\\d\\d\\d', '$&$1$`$$x', '^/-/-/-/$', '--------']) {
    const { redact } = createRedactor([key]);
    t.equal(redact(`<${key}>`), `<${REDACTED}>`, key);
    t.equal(redact('abcdefghijklmnop'), 'abcdefghijklmnop', key);
  }
  t.end();
});

t.test('near misses', (t) => {
  t.strictSame(nearMisses('free-1'), [
    { label: 'one character more', value: 'free-1x' },
    { label: 'one character fewer', value: 'free-' },
    { label: 'one letter in the other case', value: 'freE-1' },
  ]);
  t.strictSame(
    nearMisses('0123').map(({ value }) => value),
    ['0123x', '012'],
  );
  t.strictSame(
    nearMisses('A').map(({ value }) => value),
    ['Ax', 'a'],
  );
  t.end();
});

t.test('keys that are wrong in one character', (t) => {
  const wrong = (key: string) => misspellings(key).map(({ value }) => value);
  t.strictSame(wrong('free-1'), ['xree-1', 'frex-1', 'free-x', 'ree-1']);
  t.strictSame(wrong('xxx'), ['yxx', 'xyx', 'xxy', 'xx']);
  t.strictSame(wrong('ab'), []);
  t.end();
});

t.test('time and memory grow with the text only, whatever it holds', (t) => {
  const many = createRedactor(
    Array.from({ length: 10 }, () => `sk_${randomBytes(24).toString('base64url')}`).concat(KEY),
  );
  const hostile = {
    backslashes: '\\'.repeat(4_000_000) + unicodeEscaped(KEY),
    percents: '%25'.repeat(1_500_000) + percentEncoded(KEY),
    'almost keys': `${KEY.slice(0, -3)}`.repeat(200_000) + KEY,
    keys: KEY.repeat(100_000),
    separators: 'a -'.repeat(1_000_000) + [...KEY].join(' '),
    base64: randomBytes(3_000_000).toString('base64') + KEY,
  };
  for (const [name, text] of Object.entries(hostile)) {
    const [memory, start] = [process.memoryUsage().rss, process.cpuUsage().user];
    t.ok(many.redact(text).endsWith(REDACTED), name);
    t.ok(
      process.cpuUsage().user - start < 6_000_000,
      `${name}: ${(process.cpuUsage().user - start) / 1e6} s`,
    );
    t.ok(
      process.memoryUsage().rss - memory < 200_000_000,
      `${name}: ${process.memoryUsage().rss - memory} bytes`,
    );
  }
  t.end();
});

t.test('a key that crosses from one piece of a long text into the next', (t) => {
  for (let before = 2 ** 14 - 200; before < 2 ** 14 + 10; before += 7) {
    const output = redactor.redact(`${'.'.repeat(before)}${percentEncoded(KEY)}${'.'.repeat(200)}`);
    t.equal(output, `${'.'.repeat(before)}${REDACTED}${'.'.repeat(200)}`);
  }
  t.end();
});
