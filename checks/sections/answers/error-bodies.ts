/** Sections 2 and 7: every error response has an Error body. */
import { type Check, check, observes } from '../../run/check.ts';
import { errorStatusViolation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { integerOf, isJsonObject, JsonNumber } from '../../wire/lossless-json.ts';
import { bodyOf } from '../../wire/pets.ts';
import { errorBodyViolation } from '../answers.ts';
import { checksOfStatuses } from './by-status.ts';

/** The status that an Error body states. */
function statedStatus(exchange: AnsweredExchange): bigint | undefined {
  const body = bodyOf(exchange);
  const status = body.ok && isJsonObject(body.value) ? body.value['status'] : undefined;
  const integer = status instanceof JsonNumber ? integerOf(status) : undefined;
  return typeof integer === 'bigint' ? integer : undefined;
}

/** Whether the body of a success says that it is an error: a Pet has no number as its status. */
const isErrorOfSuccess = (exchange: AnsweredExchange): boolean =>
  exchange.outcome.status < 400 && (statedStatus(exchange) ?? 0n) >= 400n;

export const errorBodyChecks: readonly Check[] = [
  // 7: "All error responses have an Error body", one row for each status of the table and one for the rest.
  ...checksOfStatuses('error-body', 400, errorBodyViolation),
  // 2: Error.status is the HTTP status code: an Error under a success breaks it, and whatever else asked for an error.
  check('error-status-matches', {
    explains: isErrorOfSuccess,
    observe: observes(
      (exchange) =>
        exchange.outcome.status >= 400 || isErrorOfSuccess(exchange) ? statedStatus(exchange) : undefined,
      (stated, { outcome }) => errorStatusViolation(stated, outcome.status),
    ),
  }),
];
