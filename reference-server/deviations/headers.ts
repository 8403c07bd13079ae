import type { Answer } from '../answer.ts';
import type { Call } from '../design.ts';
import { refusedBy } from './admission.ts';
import { type Deviation, deciding } from './deviation.ts';
import type { When } from './when.ts';

export const sendingHeaders = deciding('headers');

/** Changes the headers of an answer, which are a flat list of names and values. */
export const headersAs = (change: (headers: string[], answer: Answer, call: Call) => string[]): Deviation =>
  sendingHeaders((usual, answer, call) => change(usual(answer, call), answer, call));

/** The names of the three headers of section 8. */
export const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/** What a header is to say in place of a value; null removes it. */
export type Rewrite<Value> = (value: Value, call: Call) => string | number | null;

/** Changes a header that holds a number. */
export const numberIn =
  (name: string) =>
  (when: When, change: Rewrite<number>): Deviation =>
    header(name, when, (value, call) => change(Number(value), call));

/** Changes Retry-After, by default of refusals for the minute. */
export const retryAfter = (change: Rewrite<number>, when: When = refusedBy('minute')): Deviation =>
  numberIn('Retry-After')(when, change);

/** Changes the value of one header in matching answers. */
export const header = (name: string, when: When, change: Rewrite<string>): Deviation =>
  headersAs((headers, answer, call) =>
    when(call, answer) ? changedHeader(headers, name, (value) => change(value, call)) : headers,
  );

/** Leaves headers out of matching answers. */
export const headersAbsent = (when: When, ...names: readonly string[]): Deviation =>
  names.map((name) => header(name, when, () => null));

/** Headers with another value of one of them. */
export const changedHeader = (
  headers: readonly string[],
  name: string,
  change: (value: string) => ReturnType<Rewrite<string>>,
): string[] =>
  headers.flatMap((field, at) => {
    if (at % 2 === 1) return [];
    const value = headers[at + 1] ?? '';
    const kept = field.toLowerCase() === name.toLowerCase() ? change(value) : value;
    return kept === null ? [] : [field, String(kept)];
  });

/** Adds a header to matching answers. */
export const addedHeader = (name: string, value: string, when: When): Deviation =>
  headersAs((headers, answer, call) => (when(call, answer) ? [...headers, name, value] : headers));
