import type { Static } from '@sinclair/typebox';
import type { Frozen } from '../../spec/json-schema.ts';
import type { ExchangeShape } from './exchange-shape.ts';

/**
 * One request and what came of it: the unit of evidence. The key's value never enters it: `Authorization` is recorded
 * with a placeholder.
 */
export type Exchange = Frozen<Static<typeof ExchangeShape>>;

/** Header fields in the order and spelling of the wire; a field sent twice stands twice. */
export type HeaderList = Exchange['request']['headers'];

/** The operations of the interface; `other` is any request outside it (an unknown path, for a gap). */
export type Operation = Exchange['request']['operation'];

/** A complete response, whatever it says. */
export type ResponseOutcome = Extract<Exchange['outcome'], { readonly kind: 'response' }>;

/** No complete response: the reason, and one line for a person. It is the target's or the network's doing. */
export type FailureOutcome = Extract<Exchange['outcome'], { readonly kind: 'failure' }>;
export type FailureReason = FailureOutcome['reason'];

/**
 * What a request is for, where that decides how its answer is judged: `preflight` asks, before the run, whether the
 * service is there and its keys are taken; `fill` and `day` use up a minute and a day; `over-limit` is sent when nothing
 * should be left of the minute; `ban` goes on after a 429; `refusable` may be refused with 400;
 * `foreign` was sent by a client that is not ours.
 */
export type Intent = Exchange['intent'];

/** An exchange that brought a complete response. */
export interface AnsweredExchange extends Exchange {
  readonly outcome: ResponseOutcome;
}

/** Narrows to exchanges that brought a complete response. */
export function isAnswered(exchange: Exchange): exchange is AnsweredExchange {
  return exchange.outcome.kind === 'response';
}

const NEVER_SENT: ReadonlySet<FailureReason> = new Set([
  'unresolved',
  'refused',
  'unreachable',
  'connect-timeout',
  'tls',
  'proxy',
]);

/** Whether no connection was made. */
export const wasNeverSent = ({ reason }: FailureOutcome): boolean => NEVER_SENT.has(reason);

/** Whether the request may have reached the target. */
export const mayHaveArrived = ({ outcome }: Exchange): boolean =>
  outcome.kind === 'response' || !wasNeverSent(outcome);

/** Whether an exchange was given up because the run ended: it shows nothing of the target. */
export const wasInterrupted = ({ outcome }: Exchange): boolean =>
  outcome.kind === 'failure' && outcome.reason === 'interrupted';

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
