import type { OperationName } from '../../spec/operations.ts';

/** The operations of the interface; `other` is any request outside it (an unknown path, for a gap). */
export type Operation = OperationName | 'other';

/** Header fields in the order and spelling of the wire; a field sent twice stands twice. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What was sent. The key's value never enters it: `Authorization` is recorded with a placeholder. */
export interface ExchangeRequest {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query relative to the base address, starting with a slash: `/pets?limit=1`. */
  readonly path: string;
  readonly headers: HeaderList;
  /** The body as text; absent where none was sent. */
  readonly body?: string;
}

/** Why a body's text is not faithful. */
export const BODY_PROBLEMS = [
  'invalid-utf8',
  'undecodable-encoding',
  'unknown-encoding',
  'truncated-in-record',
] as const;

/** A complete response, whatever it says. */
export interface ResponseOutcome {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: HeaderList;
  /** The body as text after decoding, invalid UTF-8 replaced (see `bodyProblem`). */
  readonly body: string;
  /** Size of the body on the wire after content decoding, in bytes. */
  readonly bodyBytes: number;
  /** Why `body` is not the faithful text of what was sent, where it is not. */
  readonly bodyProblem?: (typeof BODY_PROBLEMS)[number];
}

/** Why no complete response came. A broken response is the target's (or the network's) doing, never a check's. */
export const FAILURE_REASONS = [
  'unresolved',
  'refused',
  'unreachable',
  'tls',
  'reset',
  'connect-timeout',
  'headers-timeout',
  'body-timeout',
  'malformed-response',
  'too-large',
  'unavailable',
  'interrupted',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** No complete response: the reason and one line for a person. */
export interface FailureOutcome {
  readonly kind: 'failure';
  readonly reason: FailureReason;
  readonly message: string;
}

/** What a request is for, where that decides how its answer is judged. */
export type Intent =
  /** No more than what it asks. */
  | 'ordinary'
  /** Asks, before the run, whether the service is there and its keys are taken. */
  | 'preflight'
  /** One of those that use up a minute. */
  | 'fill'
  /** Sent when nothing should be left of the minute: a 429 is what is asked for. */
  | 'over-limit'
  /** Goes on after a 429, so that the key may be banned. */
  | 'ban'
  /** One of those that use up a day. */
  | 'day'
  /** One that the document allows the target to refuse: an answer of 400 is no surprise. */
  | 'refusable';

/** One request and what came of it: the unit of evidence. */
export interface Exchange {
  /** Unique within a run: the scene that sent it and a counter, `retrievals#2`. */
  readonly id: string;
  /** The scene that sent it. */
  readonly sentBy: string;
  /** What it is for; absent where it is `ordinary`, see {@link intentOf}. */
  readonly intent?: Intent;
  /** The number of the process that sent it, where it is not the first that worked at the run. */
  readonly session?: number;
  /** Name of the key in the profile; null where no valid key was sent. */
  readonly key: string | null;
  /** Milliseconds since 1970 by the harness's clock, when the request was handed to the connection. */
  readonly sentAt: number;
  /** Milliseconds since 1970 by the harness's clock, when the response was complete or had failed. */
  readonly receivedAt: number;
  readonly request: ExchangeRequest;
  readonly outcome: ResponseOutcome | FailureOutcome;
}

/** An exchange that brought a complete response. */
export interface AnsweredExchange extends Exchange {
  readonly outcome: ResponseOutcome;
}

/** Narrows to exchanges that brought a complete response. */
export function isAnswered(exchange: Exchange): exchange is AnsweredExchange {
  return exchange.outcome.kind === 'response';
}

/** Whether an exchange was given up because the run ended: it shows nothing of the target. */
export const wasInterrupted = ({ outcome }: Exchange): boolean =>
  outcome.kind === 'failure' && outcome.reason === 'interrupted';

/** What a request was for. */
export const intentOf = ({ intent }: Pick<Exchange, 'intent'>): Intent => intent ?? 'ordinary';

/** All values of a header field, in order; field names compare without case (RFC 9110, 5.1). */
export function headerValues(headers: HeaderList, name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  // A loop, since every check of every answer comes by here; most names already differ in length.
  for (const [field, value] of headers)
    if (field.length === wanted.length && field.toLowerCase() === wanted) values.push(value);
  return values;
}

/** The value of a header field; the first one where it was sent more than once. */
export function header(headers: HeaderList, name: string): string | undefined {
  return headerValues(headers, name)[0];
}
