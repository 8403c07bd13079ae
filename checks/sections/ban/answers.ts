/** What tells the answer to a banned key from a refusal of the rate limit. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { isJsonObject } from '../../wire/lossless-json.ts';
import { bodyOf } from '../../wire/pets.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { type Clocked, toldEnd } from '../minute/told-time.ts';

function codeOf(exchange: AnsweredExchange): string | undefined {
  const body = bodyOf(exchange);
  const code = body.ok && isJsonObject(body.value) ? body.value['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Whether a refusal is a ban and no longer the rate limit: 401 or 403 for a valid key, another code than the first
 * refusal had, or a wait that goes beyond the window that was exceeded.
 */
export function isBan(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  if (isAdmitted(exchange) || ![401, 403, 429].includes(status)) return false;
  if (status !== first.outcome.status) return true;
  if (codeOf(exchange) !== codeOf(first)) return true;
  const end = toldEnd(clocked, exchange);
  const windowEnd = toldEnd(clocked, first);
  // Whole seconds, rounded up on both, and counted from a moment between the request and its answer's receipt.
  return (
    end !== undefined &&
    windowEnd !== undefined &&
    end - (exchange.receivedAt - exchange.sentAt) >
      Math.max(windowEnd, first.receivedAt + SECOND) + 2 * SECOND
  );
}

/**
 * Whether a refusal after quota was given back is the rate limit's again: answered as the first one was, and with a
 * wait that a window of its own explains.
 */
export function isSameLimit(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  if (answersOtherwise(exchange, first)) return false;
  const end = toldEnd(clocked, exchange);
  // Whole seconds, rounded up, and the rounding of Date.
  return end === undefined || end <= exchange.receivedAt + MINUTE + 2 * SECOND;
}

/** Another answer than the rate limit's: 401 or 403 for a valid key, or another code. */
export function answersOtherwise(exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  return status === 401 || status === 403 || (status === 429 && codeOf(exchange) !== codeOf(first));
}
