import { randomInt } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { httpDate } from '../../headers.ts';
import { afterRemoval, shiftedClock } from '../clock.ts';
import {
  addedHeader,
  changedHeader,
  closing,
  delivering,
  everyNth,
  header,
  headersAbsent,
  heldBack,
  sendingHeaders,
} from '../shapes.ts';
import { type Answer, answer } from './variant.ts';

/** Answers about HTTP itself, where every client should cope: codings, spellings, connections, time. */

const without = (headers: readonly string[], name: string) => changedHeader(headers, name, () => null);
const always = () => true;

export const gzipped: Answer = answer(
  'content-coding',
  'gzip',
  delivering((_usual, response, answered, headers, call) => {
    if (!/\bgzip\b/.test(String(call.request.headers['accept-encoding']))) {
      response.writeHead(answered.status, [...headers, 'Vary', 'Accept-Encoding']);
      response.end(answered.text);
      return;
    }
    const body = gzipSync(answered.text);
    const own = ['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding'];
    const length = String(body.length);
    response.writeHead(answered.status, [...changedHeader(headers, 'content-length', () => length), ...own]);
    response.end(body);
  }),
);

/** Bodies in chunks of a few bytes, none of which respects a character's end. */
export const chunked: Answer = answer(
  'transfer-coding',
  'chunked',
  delivering((_usual, response, answered, headers) => {
    response.writeHead(answered.status, without(headers, 'content-length'));
    const body = Buffer.from(answered.text);
    for (let at = 0; at < body.length; at += 211) response.write(body.subarray(at, at + 211));
    response.end();
  }),
);

/** The second half of a body comes a moment after the first. */
export const inTwoHalves: Answer = answer(
  'delivery',
  'in-two-halves',
  delivering((_usual, response, answered, headers) => {
    response.writeHead(answered.status, headers);
    const body = Buffer.from(answered.text);
    const middle = Math.floor(body.length / 2);
    response.write(body.subarray(0, middle));
    setTimeout(() => response.end(body.subarray(middle)), 20);
  }),
);

export const latency = (from: number, to: number): Answer =>
  answer(
    'latency',
    `${from}-${to}-ms`,
    heldBack(() => randomInt(from, to + 1)),
  );

/** Whoever reads header fields as ASCII cannot read such a request, and closes. */
export const asciiHeadersOnly: Answer = answer(
  'headers-beyond-ascii',
  'closes',
  closing((_answer, { authorization }) => /[\x80-\xff]/.test(authorization ?? '')),
);

export const lowerCaseHeaders: Answer = answer(
  'header-case',
  'lower',
  sendingHeaders((usual, answered, call) =>
    usual(answered, call).map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text)),
  ),
);

export const charsetParameter: Answer = answer(
  'media-type-parameter',
  'charset=utf-8',
  header('Content-Type', always, (value) => `${value}; charset=utf-8`),
);
/** A media type is compared without case (RFC 9110, 8.3.1). */
export const upperCaseMediaType: Answer = answer(
  'media-type-parameter',
  'Application/JSON;charset="UTF-8"',
  header('Content-Type', always, (value) =>
    value === 'application/json' ? 'Application/JSON;charset="UTF-8"' : value,
  ),
);

export const connectionClosed: Answer = answer(
  'connection',
  'close',
  headersAbsent(always, 'Connection'),
  addedHeader('Connection', 'close', always),
);

/** A clock that is off; everything that the server says of time goes by it. */
export function clockOffBy(seconds: number): Answer {
  return answer('clock', `${seconds}-seconds`, {
    recipe: ({ clock }) => ({ clock: shiftedClock(clock, seconds * 1000) }),
  });
}

export const afterTheRemoval: Answer = answer('clock', 'after-the-removal', afterRemoval);

/** A server whose loop stalls sends the text of an earlier second. */
export const oldDates: Answer = answer('date-header', 'old-at-times', () =>
  header('Date', everyNth(7, always), (_, { now }) => httpDate(now - 42_000)),
);

export const noDate: Answer = answer(
  'date-header',
  'none',
  headersAbsent(always, 'Date'),
  delivering((usual, response, answered, headers, call) => {
    response.sendDate = false;
    usual(response, answered, headers, call);
  }),
);

const announcing = (name: string, ...absent: readonly string[]): Answer =>
  answer(
    'deprecation-announcement',
    name,
    headersAbsent((_answered, { route }) => route.operation === 'getPet', ...absent),
  );
export const noAnnouncement = announcing('none', 'Deprecation', 'Sunset', 'Link');
export const deprecationOnly = announcing('deprecation', 'Sunset');
export const sunsetOnly = announcing('sunset', 'Deprecation', 'Link');
