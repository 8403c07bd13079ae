import type { Static } from '@sinclair/typebox';
import type { Frozen } from '../../spec/json-schema.ts';
import { type AnsweredExchange, type HeaderList, header, headerValues } from './exchange.ts';
import type { ReadingShape } from './exchange-shape.ts';
import { readLast } from './read-last.ts';

/** What a header that should hold one number holds. */
export type NumberHeader =
  | { readonly kind: 'absent' }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'unreadable'; readonly text: string };

export const RATE_HEADER_NAMES = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;

/** The three headers of section 8, as they came. */
export type RateHeaders = Readonly<Record<keyof typeof RATE_HEADER_NAMES, NumberHeader>>;

/** A whole number; Reset may have decimals, since a Unix timestamp may. Repetitions that agree are one value. */
function numberHeader(headers: HeaderList, name: string, form: RegExp): NumberHeader {
  const values = headerValues(headers, name).map((value) => value.trim());
  const [text] = values;
  if (text === undefined) return { kind: 'absent' };
  if (values.some((value) => value !== text))
    return { kind: 'unreadable', text: [...new Set(values)].join(', ') };
  return form.test(text) ? { kind: 'number', value: Number(text) } : { kind: 'unreadable', text };
}

const WHOLE = /^-?\d{1,15}$/;
const TIMESTAMP = /^-?\d{1,15}(\.\d{1,9})?$/;

/** The rate headers of a response. */
export const rateHeaders = readLast(
  (headers: HeaderList): RateHeaders => ({
    limit: numberHeader(headers, RATE_HEADER_NAMES.limit, WHOLE),
    remaining: numberHeader(headers, RATE_HEADER_NAMES.remaining, WHOLE),
    reset: numberHeader(headers, RATE_HEADER_NAMES.reset, TIMESTAMP),
  }),
);

/** The value of a header that holds one number, else undefined. */
export function numberOf(field: NumberHeader): number | undefined {
  return field.kind === 'number' ? field.value : undefined;
}

/** How long a Retry-After asks to wait. The document leaves unit and format open; these are the known ones. */
export type RetryAfter =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'delay';
      readonly format: 'seconds' | 'milliseconds' | 'duration';
      readonly milliseconds: number;
      readonly text: string;
    }
  | {
      readonly kind: 'date';
      readonly format: 'http-date' | 'iso-date' | 'unix-time';
      readonly time: number;
      readonly text: string;
    }
  | { readonly kind: 'unreadable'; readonly text: string };

const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{4} \d{2}:\d{2}:\d{2} GMT$|^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, \d{2}-[A-Z][a-z]{2}-\d{2} /;
/** The oldest of the three forms that a recipient must accept (RFC 9110, 5.6.7); it names no zone and means UTC. */
const ASCTIME_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
/** Numbers with their units, from hours to milliseconds: `55 seconds`, `1m0.5s` as Go writes it, `PT55S` (ISO 8601). */
const DURATION =
  /^(?=.*\d)(?:PT)?(?:(\d{1,9}) ?h(?:ours?)? ?)?(?:(\d{1,9}) ?m(?:in(?:ute)?s?)? ?)?(?:(\d{1,9}(?:\.\d{1,9})?) ?s(?:ec(?:ond)?s?)? ?)?(?:(\d{1,15}(?:\.\d{1,9})?) ?m(?:illi)?s(?:econds?)?)?$/i;
/** In milliseconds: a server may add a margin of a twentieth to the wait. */
const GENEROUS_SECOND = 1050;
/** No delay is this long in seconds or milliseconds of a day; a Unix time of our age is longer. */
const UNIX_TIME_FROM = 1_000_000_000;

/**
 * Reads Retry-After. A number is taken as seconds unless, as seconds, it exceeds `longest` by an order of magnitude
 * and, as milliseconds, it does not: the unit is one of the document's gaps, a wait beyond every window is not.
 *
 * @param longest the longest wait that makes sense here, in seconds: the window that was exceeded, or a ban
 */
export function retryAfter(headers: HeaderList, longest: number): RetryAfter {
  const values = [...new Set(headerValues(headers, 'retry-after').map((value) => value.trim()))];
  const [text] = values;
  if (text === undefined) return { kind: 'absent' };
  if (values.length > 1) return { kind: 'unreadable', text: values.join(', ') };
  if (/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) {
    const value = Number(text);
    if (value >= UNIX_TIME_FROM && value < UNIX_TIME_FROM * 10) {
      return { kind: 'date', format: 'unix-time', time: value * 1000, text };
    }
    const inMilliseconds = value > longest * 10 && value <= longest * GENEROUS_SECOND;
    return inMilliseconds
      ? { kind: 'delay', format: 'milliseconds', milliseconds: value, text }
      : { kind: 'delay', format: 'seconds', milliseconds: value * 1000, text };
  }
  const duration = DURATION.exec(text);
  if (duration !== null) {
    const [, hours = '0', minutes = '0', seconds = '0', milliseconds = '0'] = duration;
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return { kind: 'delay', format: 'duration', milliseconds: whole * 1000 + Number(milliseconds), text };
  }
  const asctime = ASCTIME_DATE.test(text);
  // Not the zone of the machine that this runs on.
  const namesNoZone = asctime || /\d{2}:\d{2}:\d{2}$/.test(text);
  const time = Date.parse(namesNoZone ? `${text} GMT` : text);
  if (!Number.isNaN(time) && (asctime || HTTP_DATE.test(text)))
    return { kind: 'date', format: 'http-date', time, text };
  if (!Number.isNaN(time) && ISO_DATE.test(text)) return { kind: 'date', format: 'iso-date', time, text };
  return { kind: 'unreadable', text };
}

/** One exchange as the rate limit saw it: small enough to keep a hundred thousand of. */
export type RateReading = Frozen<Static<typeof ReadingShape>> & {
  // What the trace knows of it beside the answer.
  listed?: number;
  afterLost?: true;
};

/** The time that a Date says; a second's answers bear the same. */
const timeOf = readLast((date: string): number | undefined => {
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
});

/** The rate limit's view of an exchange. */
export const rateReading = readLast((exchange: AnsweredExchange): RateReading => {
  const { id, key, intent, sentAt, receivedAt, request, outcome } = exchange;
  const { limit, remaining, reset } = rateHeaders(outcome.headers);
  const seconds = numberOf(reset);
  return {
    ...{ id, key, intent, sentAt, receivedAt, status: outcome.status },
    ...{ operation: request.operation, path: request.path },
    limit: numberOf(limit),
    remaining: numberOf(remaining),
    reset: seconds === undefined ? undefined : seconds * 1000,
    date: timeOf(header(outcome.headers, 'date') ?? ''),
  };
});
