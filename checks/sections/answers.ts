/** Judgements of single answers that several sections share. */
import { OPERATIONS, type OperationName } from '../../spec/operations.ts';
import { type GapAnswer, type Judge, observes } from '../run/check.ts';
import { Inconclusive } from '../run/reason.ts';
import { schemaViolation, type Violation } from '../wire/answer.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue, type ParsedJson } from '../wire/lossless-json.ts';
import { bodyOf, described } from '../wire/pets.ts';
import { schemaProblem } from '../wire/schema.ts';

/** The rows that are broken where no X-RateLimit-Remaining can be read together with its limit. */
export const REMAINING_SHOWN_BY = ['rate-headers-on-200', 'rate-limit-value', 'rate-remaining-value'];

/** Whether an answer is the success of this operation. */
export const isSuccess = (operation: OperationName, { request, outcome }: AnsweredExchange): boolean =>
  request.operation === operation && outcome.status === OPERATIONS[operation].success;

/** Whether a request is called invalid; any other status is the operation's own answer. */
export const isCalledInvalid = ({ outcome }: AnsweredExchange) =>
  [400, 413, 414, 422].includes(outcome.status);

/** Whether an answer is the operation's own: refusals for a key, for quota or by a ban are for other rows. */
export const isOwnAnswer = (exchange: AnsweredExchange) =>
  ![401, 403, 429].includes(exchange.outcome.status) && exchange.intent !== 'ban';

/** The parsed body. @throws Inconclusive if it exceeds what the harness can read, which is not the target's fault */
export function readBody(exchange: AnsweredExchange): ParsedJson {
  const body = bodyOf(exchange);
  if (!body.ok && body.kind === 'beyond-harness')
    throw new Inconclusive(`the harness cannot read ${described(exchange)}: ${body.problem}`, [exchange]);
  return body;
}

/** The object in an answer's body. */
export function objectIn(exchange: AnsweredExchange): JsonObject | undefined {
  const body = bodyOf(exchange);
  return body.ok && isJsonObject(body.value) ? body.value : undefined;
}

/** The machine-readable code of an error. */
export function codeOf(exchange: AnsweredExchange): string | undefined {
  const code = objectIn(exchange)?.['code'];
  return typeof code === 'string' ? code : undefined;
}

/** How a gap is answered, as one exchange shows it. @param asked what was asked for */
export const answered = (exchange: AnsweredExchange, asked: string, answer: string): GapAnswer => ({
  answer,
  detail: `${asked}: ${described(exchange)}`,
  evidence: [exchange],
});

/** An answer with another status than the one asked for. */
export const wrongStatus = (expected: string, exchange: AnsweredExchange): Violation => ({
  expected,
  actual: described(exchange),
  at: ['status'],
});

/**
 * The JSON of a successful answer; undefined for other answers or other bodies. @throws Inconclusive like {@link readBody}
 */
export function successBody(operation: OperationName, exchange: AnsweredExchange): JsonValue | undefined {
  if (!isSuccess(operation, exchange)) return undefined;
  const body = readBody(exchange);
  return body.ok ? body.value : undefined;
}

/** Says that an answer is as expected, or what came instead. */
export function judgeAnswer(
  judge: Judge,
  isExpected: boolean,
  expected: string,
  exchange: AnsweredExchange,
  ...evidence: readonly Exchange[]
): void {
  if (isExpected) judge.holds(exchange, ...evidence);
  else judge.breaks(wrongStatus(expected, exchange), exchange, ...evidence);
}

/** 2: the body of a success has the fields of a Pet. A body that is not JSON is not judged here. */
export const observesPet = (operation: 'createPet' | 'getPet') =>
  observes(
    (exchange) => successBody(operation, exchange),
    (value) => schemaViolation('pet', schemaProblem.pet(value)),
  );

/** 7: an error response has an Error body. @throws Inconclusive like {@link readBody} */
export function errorBodyViolation(exchange: AnsweredExchange): Violation | undefined {
  const body = readBody(exchange);
  return schemaViolation(
    'error',
    body.ok ? schemaProblem.error(body.value) : `${described(exchange)}: ${body.problem}`,
  );
}
