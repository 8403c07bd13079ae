/** Tells the answer to a banned key from a refusal by the rate limit. */

import { MINUTE, SECOND } from '../../limits/time.ts';
import { type Clocked, toldEnd } from '../../limits/told-time.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { isJsonObject } from '../../wire/lossless-json.ts';
import { bodyOf } from '../../wire/pets.ts';
import { refusesKey } from './admitted.ts';

function codeOf(exchange: AnsweredExchange): string | undefined {
  const body = bodyOf(exchange);
  const code = body.ok && isJsonObject(body.value) ? body.value['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Whether a refusal is a ban rather than the rate limit: 401 or 403 for a valid key, a different code from the first
 * refusal's, or a wait longer than the exceeded window.
 */
export function isBan(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  const { status } = exchange.outcome;
  if (status !== 429 && !refusesKey(exchange)) return false;
  if (status !== first.outcome.status) return true;
  if (codeOf(exchange) !== codeOf(first)) return true;
  const end = toldEnd(clocked, exchange);
  const windowEnd = toldEnd(clocked, first);
  // Both are whole seconds, rounded up, and count from some moment between sending and receipt.
  return (
    end !== undefined &&
    windowEnd !== undefined &&
    end - (exchange.receivedAt - exchange.sentAt) >
      Math.max(windowEnd, first.receivedAt + SECOND) + 2 * SECOND
  );
}

/**
 * Whether a refusal after a refill is the rate limit's again: answered like the first one, and with a wait that a new
 * window explains.
 */
export function isSameLimit(clocked: Clocked, exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  if (answersOtherwise(exchange, first)) return false;
  const end = toldEnd(clocked, exchange);
  // One second for rounding up, one for the rounding of Date.
  return end === undefined || end <= exchange.receivedAt + MINUTE + 2 * SECOND;
}

/** Whether the answer differs from the rate limit's: 401 or 403 for a valid key, or another code. */
export function answersOtherwise(exchange: AnsweredExchange, first: AnsweredExchange): boolean {
  return refusesKey(exchange) || (exchange.outcome.status === 429 && codeOf(exchange) !== codeOf(first));
}
