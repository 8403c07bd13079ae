/** Sections 2 and 7: every error response has an Error body. */
import type { Check } from '../../run/check.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { integerOf, isJsonObject, JsonNumber, type JsonValue } from '../../wire/lossless-json.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';

function errorProblem(exchange: AnsweredExchange): string | undefined {
  const body = bodyOf(exchange);
  if (!body.ok) return `${described(exchange)}: ${body.problem}`;
  return schemaProblem.error(body.value);
}

function errorBody(id: string, concerns: (status: number) => boolean): Check {
  return {
    id,
    observe(exchange, judge) {
      if (!concerns(exchange.outcome.status)) return;
      const problem = errorProblem(exchange);
      if (problem === undefined) judge.holds(exchange);
      else
        judge.breaks({ expected: 'an Error body with code, message and status', actual: problem }, exchange);
    },
    conclude(_history, judge) {
      // No other error has to occur; where none did, nothing is left to judge.
      if (id === 'error-body-other') judge.notApplicable('no other error occurred');
    },
  };
}

const NAMED = [400, 401, 404, 429];

function statusField(value: JsonValue): bigint | undefined {
  const status = isJsonObject(value) ? value['status'] : undefined;
  const integer = status instanceof JsonNumber ? integerOf(status) : undefined;
  return typeof integer === 'bigint' ? integer : undefined;
}

export const errorBodyChecks: readonly Check[] = [
  // 7: "All error responses have an Error body", one row for each status of the table and one for the rest.
  ...NAMED.map((status) => errorBody(`error-body-${status}`, (actual) => actual === status)),
  errorBody('error-body-other', (status) => status >= 400 && !NAMED.includes(status)),
  {
    // 2: Error.status is the HTTP status code.
    id: 'error-status-matches',
    observe(exchange, judge) {
      const { status } = exchange.outcome;
      if (status < 400) return;
      const body = bodyOf(exchange);
      const field = body.ok ? statusField(body.value) : undefined;
      if (field === undefined) return;
      if (field === BigInt(status)) judge.holds(exchange);
      else
        judge.breaks(
          {
            expected: `status ${status} in the body of a ${status}`,
            actual: `status ${field} in the body of a ${status}`,
          },
          exchange,
        );
    },
  },
];
