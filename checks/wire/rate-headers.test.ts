import fc from 'fast-check';
import t from 'tap';
import type { HeaderList } from './exchange.ts';
import { numberOf, rateHeaders, rateReading, retryAfter } from './rate-headers.ts';
import { answered } from './testing/answered.ts';

const number = (value: number) => ({ kind: 'number', value });
const unreadable = (text: string) => ({ kind: 'unreadable', text });

t.test('the three headers, in any spelling of their names', async (t) => {
  const headers: HeaderList = [
    ['x-ratelimit-limit', '60'],
    ['X-RATELIMIT-REMAINING', ' 59 '],
    ['X-RateLimit-Reset', '1795262400'],
    ['RateLimit-Limit', '7'],
  ];
  t.strictSame(rateHeaders(headers), {
    limit: number(60),
    remaining: number(59),
    reset: number(1_795_262_400),
  });
});

t.test('what is not there is absent', async (t) => {
  const absent = { kind: 'absent' };
  t.strictSame(rateHeaders([['x-ratelimit', '60']]), { limit: absent, remaining: absent, reset: absent });
});

t.test('what holds one number', async (t) => {
  const limit = (...values: string[]) =>
    rateHeaders(values.map((value) => ['X-RateLimit-Limit', value] as const)).limit;
  t.strictSame(limit('0'), number(0));
  t.strictSame(limit('-1'), number(-1), 'negative is readable: that it is wrong is for a check to say');
  t.strictSame(limit('999999999999999'), number(999_999_999_999_999));
  t.strictSame(limit('60', ' 60'), number(60), 'repetitions that agree');
  t.strictSame(limit('60', '1000'), unreadable('60, 1000'));
  for (const text of [
    '',
    '60.0',
    '6e1',
    '+60',
    '0x3c',
    '60, 1000',
    '60;w=60',
    'sixty',
    '1234567890123456',
    '--1',
    '1-',
    '6 0',
  ])
    t.strictSame(limit(text), unreadable(text), text);
});

t.test('a timestamp may have decimals', async (t) => {
  const reset = (value: string) => rateHeaders([['X-RateLimit-Reset', value]]).reset;
  t.strictSame(reset('1795262400.25'), number(1_795_262_400.25));
  t.strictSame(reset('-1'), number(-1));
  t.strictSame(reset('1795262400.123456789'), number(1_795_262_400.123_456_7));
  for (const text of [
    '1795262400.',
    '.5',
    '1.1234567890',
    '2026-11-21T12:00:00Z',
    '1795262400.2.3',
    'a1',
    '1a',
  ])
    t.strictSame(reset(text), unreadable(text), text);
});

t.test('only a number has a value', async (t) => {
  t.equal(numberOf({ kind: 'number', value: 0 }), 0);
  t.equal(numberOf({ kind: 'absent' }), undefined);
  t.equal(numberOf({ kind: 'unreadable', text: '60' }), undefined);
});

const told = (text: string, longest = 60) => retryAfter([['Retry-After', text]], longest);

t.test('Retry-After in seconds', async (t) => {
  const seconds = (text: string, milliseconds: number) => ({
    kind: 'delay',
    format: 'seconds',
    milliseconds,
    text,
  });
  t.strictSame(told('60'), seconds('60', 60_000));
  t.strictSame(told(' 60 '), seconds('60', 60_000));
  t.strictSame(told('0'), seconds('0', 0));
  t.strictSame(told('-5'), seconds('-5', -5000));
  t.strictSame(told('0.5'), seconds('0.5', 500));
  t.strictSame(told('1.125'), seconds('1.125', 1125));
  t.strictSame(told('600'), seconds('600', 600_000), 'ten times the window is a long wait still');
  t.strictSame(told('86400', 86_400), seconds('86400', 86_400_000));
});

t.test('Retry-After in milliseconds is told by its size alone', async (t) => {
  const milliseconds = (text: string) => ({
    kind: 'delay',
    format: 'milliseconds',
    milliseconds: Number(text),
    text,
  });
  t.strictSame(told('601'), milliseconds('601'));
  t.strictSame(told('45000'), milliseconds('45000'));
  t.strictSame(told('63000'), milliseconds('63000'), 'with a margin');
  t.match(told('63001'), { format: 'seconds', milliseconds: 63_001_000 }, 'beyond the window either way');
});

t.test('Retry-After as a Unix time', async (t) => {
  t.strictSame(told('1795262400'), {
    kind: 'date',
    format: 'unix-time',
    time: 1_795_262_400_000,
    text: '1795262400',
  });
  t.match(told('1000000000'), { format: 'unix-time', time: 1e12 });
  t.match(told('999999999'), { kind: 'delay' });
  t.match(told('9999999999'), { format: 'unix-time' });
  t.match(told('10000000000'), { kind: 'delay' });
});

t.test('Retry-After as a date, in the forms of RFC 9110 and as ISO 8601, wherever this runs', async (t) => {
  const { TZ } = process.env;
  process.env['TZ'] = 'Asia/Tokyo';
  t.teardown(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  const time = Date.UTC(2026, 10, 21, 12, 0, 5);
  const date = (text: string, format: string) => ({ kind: 'date', format, time, text });
  for (const text of [
    'Sat, 21 Nov 2026 12:00:05 GMT',
    'Sat 21 Nov 2026 12:00:05 GMT',
    'Saturday, 21 Nov 2026 12:00:05 GMT',
    'Saturday, 21-Nov-26 12:00:05 GMT',
    'Saturday, 21-Nov-26 12:00:05',
    'Saturday, 21-Nov-26 13:00:05 +0100',
    'Sat Nov 21 12:00:05 2026',
  ])
    t.strictSame(told(text), date(text, 'http-date'));
  for (const text of ['2026-11-21T12:00:05Z', '2026-11-21T12:00:05.000Z', '2026-11-21T13:00:05+01:00'])
    t.strictSame(told(text), date(text, 'iso-date'));
});

t.test('Retry-After with its unit', async (t) => {
  for (const [text, milliseconds] of [
    ['60s', 60_000],
    ['60 seconds', 60_000],
    ['1 second', 1_000],
    ['0.5 sec', 500],
    ['1m0.5s', 60_500],
    ['1h0m5s', 3_605_000],
    ['2 min', 120_000],
    ['2 minutes', 120_000],
    ['54321ms', 54_321],
    ['54 milliseconds', 54],
    ['PT1M5S', 65_000],
    ['0s', 0],
  ] as const)
    t.strictSame(told(text), { kind: 'delay', format: 'duration', milliseconds, text });
});

t.test('Retry-After that nobody can read', async (t) => {
  const texts = [
    '',
    'soon',
    's',
    'PT',
    '60 parsecs',
    '60s ago',
    '5s 1h',
    '1,5',
    'in 60',
    '2026-11-21',
    '2026-11-21T12:00:05',
    'x2026-11-21T12:00:05Z',
    '21 Nov 2026 12:00:05',
    'Sat, 21 Nov 2026',
    'Sat, 99 Nov 2026 12:00:05 GMT',
    '2026-13-41T12:00:05Z',
    'Sat, 21 Nov 6 12:00:05 GMT',
    'Sat, 21 Nov 2026 12:00:05 GMT (UTC)',
    'at Sat, 21 Nov 2026 12:00:05 GMT',
    'at Saturday, 21-Nov-26 12:00:05 GMT',
    'at Sat Nov 21 12:00:05 2026',
    'Sat Nov 21 12:00:05 2026 (UTC)',
    'Sat Nov 21 2026',
    'Sat Nov 99 12:00:05 2026',
    'Sat Nov 21 12:00:05 2026 CET',
    '12345678901234567',
  ];
  for (const text of texts) t.strictSame(told(text), unreadable(text), text);
  t.strictSame(
    retryAfter(
      [
        ['retry-after', '5'],
        ['Retry-After', '6'],
      ],
      60,
    ),
    unreadable('5, 6'),
  );
  t.match(
    retryAfter(
      [
        ['retry-after', '5'],
        ['Retry-After', '5'],
      ],
      60,
    ),
    { milliseconds: 5000 },
  );
  t.strictSame(retryAfter([], 60), { kind: 'absent' });
});

t.test('a reading is the rate limit’s view of an exchange', async (t) => {
  const exchange = answered({
    id: 'burst#3',
    key: null,
    operation: 'getPet',
    path: '/pets/1',
    status: 429,
    sentAt: 5,
    receivedAt: 9,
    headers: [
      ['X-RateLimit-Limit', '60'],
      ['X-RateLimit-Remaining', '0'],
      ['X-RateLimit-Reset', '1795262400'],
      ['Date', 'Sat, 21 Nov 2026 12:00:05 GMT'],
    ],
  });
  t.strictSame(rateReading(exchange), {
    id: 'burst#3',
    key: null,
    operation: 'getPet',
    sentAt: 5,
    receivedAt: 9,
    path: '/pets/1',
    status: 429,
    limit: 60,
    remaining: 0,
    reset: 1_795_262_400_000,
    date: Date.UTC(2026, 10, 21, 12, 0, 5),
  });
  t.match(rateReading(answered({ headers: [['Date', 'now']] })), {
    limit: undefined,
    remaining: undefined,
    reset: undefined,
    date: undefined,
  });
});

t.test(
  'Retry-After: whatever stands there is read as one of its forms, and as no wait that nobody meant',
  async (t) => {
    const near = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[-+]?\d{0,20}([.,]\d{0,5})?(e\d)?$/),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    const anyText = fc.property(near, fc.integer({ min: 1, max: 86_400 }), (text, longest) => {
      const read = told(text, longest);
      if (read.kind === 'delay') return Number.isFinite(read.milliseconds) && /^-?[\d.]+$/.test(read.text);
      if (read.kind === 'date') return Number.isFinite(read.time);
      return read.kind === 'unreadable';
    });
    t.doesNotThrow(() => fc.assert(anyText, { numRuns: 1000 }));

    const whole = fc.property(fc.integer({ min: 0, max: 600 }), (seconds) => {
      const read = told(String(seconds), 60);
      return read.kind === 'delay' && read.format === 'seconds' && read.milliseconds === seconds * 1000;
    });
    t.doesNotThrow(() => fc.assert(whole));

    const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
    const dates = fc.property(moment, (date) => {
      const read = told(date.toUTCString());
      return read.kind === 'date' && read.time === Math.floor(date.getTime() / 1000) * 1000;
    });
    t.doesNotThrow(() => fc.assert(dates));
  },
);
