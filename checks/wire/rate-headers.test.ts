import fc from 'fast-check';
import t from 'tap';
import type { HeaderList } from './exchange.ts';
import { rateHeaders, rateReading, retryAfter } from './rate-headers.ts';
import { answered } from './testing/answered.ts';

const number = (value: number) => ({ kind: 'number', value });
const unreadable = (text: string) => ({ kind: 'unreadable', text });

const [LIMIT, REMAINING, RESET] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

t.test('each of the three holds one number, in any spelling of its name', async (t) => {
  t.strictSame(rateHeaders([['x-ratelimit', '60']]).limit, { kind: 'absent' });
  const right: readonly (readonly [name: string, text: string])[] = [
    [LIMIT.toLowerCase(), '60'],
    [REMAINING.toUpperCase(), ' 59 '],
    [LIMIT, '0'],
    // That it is wrong is for a check to say.
    [LIMIT, '-1'],
    [LIMIT, '999999999999999'],
    [RESET, '1795262400.25'],
    [RESET, '1795262400.123456789'],
    [RESET, '-1'],
  ];
  const readOf = (...headers: HeaderList) =>
    Object.values(rateHeaders([['RateLimit-Limit', '7'], ...headers])).find(({ kind }) => kind !== 'absent');
  for (const [name, text] of right) {
    t.strictSame(readOf([name, text]), number(Number(text)), text);
    t.strictSame(readOf([name, text], [name, ` ${text}`]), number(Number(text)), 'repetitions that agree');
  }
  t.strictSame(readOf([LIMIT, '60'], [LIMIT, '1000']), unreadable('60, 1000'));
  const whole = ['', '60.0', '6e1', '+60', '0x3c', '60, 1000', '60;w=60', 'sixty', '1234567890123456'];
  for (const text of [...whole, '--1', '1-', '6 0'])
    t.strictSame(readOf([LIMIT, text]), unreadable(text), text);
  const decimal = ['1795262400.', '.5', '1.1234567890', '2026-11-21T12:00:00Z', '1795262400.2.3', 'a1', '1a'];
  for (const text of decimal) t.strictSame(readOf([RESET, text]), unreadable(text), text);
});

const told = (text: string, longest = 60) => retryAfter([['Retry-After', text]], longest);

t.test('Retry-After in each of its forms, wherever this runs', async (t) => {
  const { TZ } = process.env;
  process.env['TZ'] = 'Asia/Tokyo';
  t.teardown(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  const delays: readonly (readonly [text: string, format: string, milliseconds: number, longest?: number])[] =
    [
      ['60', 'seconds', 60_000],
      ['0', 'seconds', 0],
      ['-5', 'seconds', -5000],
      ['1.125', 'seconds', 1125],
      // Ten times the window is a long wait still; of more the size tells, with a margin.
      ['600', 'seconds', 600_000],
      ['86400', 'seconds', 86_400_000, 86_400],
      ['601', 'milliseconds', 601],
      ['63000', 'milliseconds', 63_000],
      ['63001', 'seconds', 63_001_000],
      ['999999999', 'seconds', 999_999_999_000],
      ['10000000000', 'seconds', 1e13],
      ['60s', 'duration', 60_000],
      ['60 seconds', 'duration', 60_000],
      ['1 second', 'duration', 1000],
      ['0.5 sec', 'duration', 500],
      ['1m0.5s', 'duration', 60_500],
      ['1h0m5s', 'duration', 3_605_000],
      ['2 min', 'duration', 120_000],
      ['2 minutes', 'duration', 120_000],
      ['54321ms', 'duration', 54_321],
      ['54 milliseconds', 'duration', 54],
      ['PT1M5S', 'duration', 65_000],
    ];
  for (const [text, format, milliseconds, longest] of delays)
    t.strictSame(told(` ${text} `, longest), { kind: 'delay', format, milliseconds, text });
  for (const text of ['1000000000', '1795262400', '9999999999'])
    t.strictSame(told(text), { kind: 'date', format: 'unix-time', time: Number(text) * 1000, text });
  const time = Date.UTC(2026, 10, 21, 12, 0, 5);
  const dates = [
    ['Sat, 21 Nov 2026 12:00:05 GMT', 'http-date'],
    ['Sat 21 Nov 2026 12:00:05 GMT', 'http-date'],
    ['Saturday, 21 Nov 2026 12:00:05 GMT', 'http-date'],
    ['Saturday, 21-Nov-26 12:00:05 GMT', 'http-date'],
    ['Saturday, 21-Nov-26 12:00:05', 'http-date'],
    ['Saturday, 21-Nov-26 13:00:05 +0100', 'http-date'],
    ['Sat Nov 21 12:00:05 2026', 'http-date'],
    ['2026-11-21T12:00:05Z', 'iso-date'],
    ['2026-11-21T12:00:05.000Z', 'iso-date'],
    ['2026-11-21T13:00:05+01:00', 'iso-date'],
  ] as const;
  for (const [text, format] of dates) t.strictSame(told(text), { kind: 'date', format, time, text });
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
  const twice = (...values: readonly string[]) =>
    retryAfter(
      values.map((value) => ['retry-after', value]),
      60,
    );
  t.strictSame(twice('5', '6'), unreadable('5, 6'));
  t.match(twice('5', '5'), { milliseconds: 5000 });
  t.strictSame(twice(), { kind: 'absent' });
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
    intent: 'ordinary',
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
