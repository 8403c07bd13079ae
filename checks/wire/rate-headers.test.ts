/** How rate headers and Retry-After are read: in testing/rate-headers.txt the longest wait, the headers, what is read. */
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { assertAnsweredAsStored } from '../testing/answered-as-stored.ts';
import type { HeaderList } from './exchange.ts';
import { rateHeaders, rateReading, retryAfter } from './rate-headers.ts';
import { answered } from './testing/answered.ts';

const FILE = join(import.meta.dirname, 'testing', 'rate-headers.txt');

const told = (text: string, longest = 60) => retryAfter([['Retry-After', text]], longest);

t.test('headers in each of their forms, and in none, wherever this runs', async (t) => {
  const { TZ } = process.env;
  process.env['TZ'] = 'Asia/Tokyo';
  t.teardown(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  await assertAnsweredAsStored(t, FILE, (asked) => {
    const [, longest, headers = ''] = /^(\d+) (.*)$/.exec(asked) ?? [];
    const list: HeaderList = JSON.parse(headers);
    const read = { ...rateHeaders(list), 'retry-after': retryAfter(list, Number(longest)) };
    const found = Object.entries(read).filter(([, { kind }]) => kind !== 'absent');
    return found.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('\n');
  });
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
