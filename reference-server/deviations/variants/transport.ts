import { randomInt } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { httpDate } from '../../headers.ts';
import { closing, delivering, heldBack } from '../answers.ts';
import { afterRemoval, clockOffBy } from '../clock.ts';
import type { DeviationTable } from '../deviation.ts';
import { addedHeader, changedHeader, header, headersAbsent, headersAs } from '../headers.ts';
import { always, everyTime, on } from '../when.ts';

const gzipped = delivering((_usual, response, answered, headers, call) => {
  const isAccepted = /\bgzip\b/.test(String(call.request.headers['accept-encoding']));
  const body = isAccepted ? gzipSync(answered.text) : Buffer.from(answered.text);
  const own = changedHeader(headers, 'Content-Length', () => body.length);
  if (isAccepted) own.push('Content-Encoding', 'gzip');
  response.writeHead(answered.status, [...own, 'Vary', 'Accept-Encoding']).end(body);
});

/** Bodies in chunks of a few bytes, none of which respects a character's end. */
const chunked = delivering((_usual, response, answered, headers) => {
  const own = changedHeader(headers, 'Content-Length', () => null);
  response.writeHead(answered.status, own);
  const body = Buffer.from(answered.text);
  for (let at = 0; at < body.length; at += 211) response.write(body.subarray(at, at + 211));
  response.end();
});

/** The second half of a body comes a moment after the first. */
const inTwoHalves = delivering((_usual, response, answered, headers) => {
  response.writeHead(answered.status, headers);
  const body = Buffer.from(answered.text);
  const middle = Math.floor(body.length / 2);
  response.write(body.subarray(0, middle));
  setTimeout(() => response.end(body.subarray(middle)), 20);
});

const latency = (from: number, to: number) => heldBack(() => randomInt(from, to + 1));

const notAnnouncing = (...absent: readonly string[]) => headersAbsent(on('getPet'), ...absent);

/** HTTP itself, where every client should cope: codings, spellings, connections, time. */
// biome-ignore format: a table, a line for most answers
export const TRANSPORT_ANSWERS = {
  'content-coding': { gzip: gzipped },
  'transfer-coding': { chunked },
  delivery: { 'in-two-halves': inTwoHalves },
  latency: {
    '0-15-ms': latency(0, 15),
    '0-30-ms': latency(0, 30),
    '5-60-ms': latency(5, 60),
  },
  // Whoever reads header fields as ASCII cannot read such a request, and closes.
  'headers-beyond-ascii': {
    closes: closing(({ authorization }) => /[\x80-\xff]/.test(authorization ?? '')),
  },
  'header-case': {
    lower: headersAs((headers) => headers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text))),
  },
  'media-type-parameter': {
    'charset=utf-8': header('Content-Type', always, (value) => `${value}; charset=utf-8`),
    // A media type is compared without case (RFC 9110, 8.3.1).
    'Application/JSON;charset="UTF-8"': header('Content-Type', always, (value) =>
      value === 'application/json' ? 'Application/JSON;charset="UTF-8"' : value),
  },
  connection: { close: [headersAbsent(always, 'Connection'), addedHeader('Connection', 'close', always)] },
  clock: {
    '300-seconds': clockOffBy(() => 300_000),
    '-300-seconds': clockOffBy(() => -300_000),
    'after-the-removal': afterRemoval,
  },
  'date-header': {
    // A server whose loop stalls sends the text of an earlier second.
    'old-at-times': () => header('Date', everyTime(7), (_, { now }) => httpDate(now - 42_000)),
    none: [headersAbsent(always, 'Date'), delivering((usual, response, answered, headers, call) => {
      response.sendDate = false;
      usual(response, answered, headers, call);
    })],
  },
  'deprecation-announcement': {
    none: notAnnouncing('Deprecation', 'Sunset', 'Link'),
    deprecation: notAnnouncing('Sunset'),
    sunset: notAnnouncing('Deprecation', 'Link'),
  },
} as const satisfies DeviationTable;
