import type { Answer } from './answer.ts';
import type { Call } from './design.ts';

// Most answers of a busy server share their second with the one before.
let written = { second: Number.NaN, text: '' };

/** A time as in the Date header (RFC 9110, 5.6.7). */
export function httpDate(time: number): string {
  const second = Math.floor(time / 1000);
  if (second !== written.second) written = { second, text: new Date(time).toUTCString() };
  return written.text;
}

/** Seconds to wait, rounded up: a client that waits exactly as told is served. */
export const secondsUntil = (time: number, now: number): string =>
  String(Math.max(1, Math.ceil((time - now) / 1000)));

let sent = { text: '', bytes: '' };

/** A text in UTF-8, each byte a character: Node writes it as it is. A busy server sends the same list again and again. */
export function utf8(text: string): string {
  if (text !== sent.text) sent = { text, bytes: Buffer.from(text).toString('latin1') };
  return sent.bytes;
}

/** Section 8: the three rate headers on every response, and the headers that HTTP requires. */
export function standardHeaders(answer: Answer, { now, quota }: Pick<Call, 'now' | 'quota'>): string[] {
  const headers = ['Content-Type', 'application/json', 'Date', httpDate(now)];
  headers.push('Content-Length', String(utf8(answer.text).length));
  headers.push('X-RateLimit-Limit', String(quota.limit), 'X-RateLimit-Remaining', String(quota.remaining));
  headers.push('X-RateLimit-Reset', String(Math.ceil(quota.resetAt / 1000)), ...answer.headers);
  return headers;
}
