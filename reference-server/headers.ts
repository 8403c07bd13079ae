import type { Answer } from './behaviour.ts';
import type { Call } from './call.ts';

let dateSecond = -1;
let dateText = '';

/** A time as in the Date header (RFC 9110, 5.6.7); formatted once a second. */
export function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** Seconds to wait, rounded up: a client that waits exactly as told is served. */
export function secondsUntil(time: number, now: number): string {
  return String(Math.max(1, Math.ceil((time - now) / 1000)));
}

/** Section 8: the three rate headers on every response, and the headers that HTTP requires. */
export function standardHeaders(answer: Answer, call: Pick<Call, 'now' | 'quota'>): string[] {
  const { quota } = call;
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(answer.wire.length),
    'Date',
    httpDate(call.now),
    'X-RateLimit-Limit',
    String(quota.limit),
    'X-RateLimit-Remaining',
    String(quota.remaining),
    'X-RateLimit-Reset',
    String(Math.ceil(quota.resetAt / 1000)),
  ];
  for (const text of answer.headers) headers.push(text);
  return headers;
}
