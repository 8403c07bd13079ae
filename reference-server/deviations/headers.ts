import type { Call } from '../design.ts';
import { refusedBy } from './admission.ts';
import { type Deviation, deciding } from './deviation.ts';
import type { When } from './when.ts';

export const sendingHeaders = deciding('headers');

/** The names of the three headers of section 8. */
export const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/** Changes a header that holds a number. */
const numberIn =
  (name: string) =>
  (when: When, change: (value: number, call: Call) => HeaderValue): Deviation =>
    header(name, when, (value, call) => change(Number(value), call));

export const limitShown = numberIn('X-RateLimit-Limit');
export const remainingShown = numberIn('X-RateLimit-Remaining');
export const resetShown = numberIn('X-RateLimit-Reset');

/** Changes Retry-After, by default of refusals for the minute. */
export const retryAfter = (
  change: Parameters<typeof resetShown>[1],
  when: When = refusedBy('minute'),
): Deviation => numberIn('Retry-After')(when, change);

/** What a header is to say; null removes it. */
type HeaderValue = string | number | null;

/** Changes the value of one header in matching answers. */
export const header = (
  name: string,
  when: When,
  change: (value: string, call: Call) => HeaderValue,
): Deviation =>
  sendingHeaders((usual, answer, call) => {
    const headers = usual(answer, call);
    return when(call, answer) ? changedHeader(headers, name, (value) => change(value, call)) : headers;
  });

/** Leaves headers out of matching answers. */
export const headersAbsent = (when: When, ...names: readonly string[]): Deviation =>
  names.map((name) => header(name, when, () => null));

/** Headers with another value of one of them. */
export function changedHeader(
  headers: readonly string[],
  name: string,
  change: (value: string) => HeaderValue,
): string[] {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const field = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    const kept = field.toLowerCase() === name.toLowerCase() ? change(value) : value;
    if (kept !== null) changed.push(field, String(kept));
  }
  return changed;
}

/** Adds a header to matching answers. */
export const addedHeader = (name: string, value: string, when: When): Deviation =>
  sendingHeaders((usual, answer, call) => [
    ...usual(answer, call),
    ...(when(call, answer) ? [name, value] : []),
  ]);
