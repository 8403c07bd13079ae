import t from 'tap';
import {
  type Exchange,
  type FailureReason,
  type HeaderList,
  header,
  headerValues,
  intentOf,
  isAnswered,
  wasInterrupted,
} from './exchange.ts';
import { answered } from './testing/answered.ts';

const HEADERS: HeaderList = [
  ['X-RateLimit-Limit', '60'],
  ['content-type', 'text/html'],
  ['x-ratelimit-limit', '300'],
  ['X-RateLimit-Limit-Day', '1000'],
  ['Warning', ''],
];

const failed = (reason: FailureReason): Exchange => ({
  ...answered(),
  outcome: { kind: 'failure', reason, message: 'it broke' },
});

t.test('a header is found without regard to case, each time that it was sent', async (t) => {
  t.strictSame(headerValues(HEADERS, 'X-RATELIMIT-LIMIT'), ['60', '300']);
  t.strictSame(headerValues(HEADERS, 'Content-Type'), ['text/html']);
  t.strictSame(headerValues(HEADERS, 'warning'), ['']);
  t.strictSame(headerValues(HEADERS, 'X-RateLimit'), [], 'a part of a name is no name');
});

t.test('of a header that was sent twice the first counts', async (t) => {
  t.equal(header(HEADERS, 'x-RateLimit-Limit'), '60');
  t.equal(header(HEADERS, 'Warning'), '', 'sent without a value, it was sent');
  t.equal(header(HEADERS, 'Retry-After'), undefined);
});

t.test('whatever a complete response says, it is an answer', async (t) => {
  for (const status of [200, 429, 503]) t.ok(isAnswered(answered({ status, body: '' })), `${status}`);
  t.notOk(isAnswered(failed('reset')));
});

t.test('a request of which nothing is said was an ordinary one', async (t) => {
  t.equal(intentOf(answered()), 'ordinary');
  t.equal(intentOf({ intent: 'ban' }), 'ban');
});

t.test('only what the end of the run broke off was interrupted', async (t) => {
  t.ok(wasInterrupted(failed('interrupted')));
  for (const reason of ['reset', 'headers-timeout', 'unavailable'] as const) {
    t.notOk(wasInterrupted(failed(reason)), reason);
  }
  t.notOk(wasInterrupted(answered({ status: 503 })));
});
