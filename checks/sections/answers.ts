/** Judgements of single answers that several sections share. */
import { type Check, check, type Judge, observes } from '../run/check.ts';
import { NOTHING_SHOWN } from '../run/findings.ts';
import { Unsettled } from '../run/unsettled.ts';
import { schemaViolation, type Violation } from '../wire/answer.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { JsonValue, ParsedJson } from '../wire/lossless-json.ts';
import { bodyOf, described } from '../wire/pets.ts';
import { schemaProblem } from '../wire/schema.ts';

/**
 * Defines a check that judges every answer with one of these statuses.
 *
 * @param shownBy rows that explain why there is none
 */
export const checkOfStatus = (
  id: string,
  concerns: (status: number) => boolean,
  violation: (exchange: AnsweredExchange) => Violation | undefined,
  options: Pick<Check, 'permit' | 'conclude'>,
  shownBy: readonly string[] = [],
): Check =>
  check(
    id,
    {
      ...options,
      observe: observes((exchange) => (concerns(exchange.outcome.status) ? exchange : undefined), violation),
    },
    (_, judge, trace) => {
      if (
        shownBy.length > 0 &&
        !trace.readings.some(({ operation, status }) => operation !== 'other' && concerns(status))
      )
        judge.unsettled(`${NOTHING_SHOWN}${shownBy.map((row) => ` (see ${row})`).join('')}`);
    },
  );

/** The rows that are broken where an answer with this status does not come. */
export const SHOWN_BY: ReadonlyMap<number, readonly string[]> = new Map([
  [201, ['add-answers-201']],
  [404, ['get-unknown-404', 'get-until-removal', 'get-answers-200']],
]);

/** The rows that are broken where no X-RateLimit-Remaining can be read together with its limit. */
export const REMAINING_SHOWN_BY =
  ' (see rate-headers-on-200) (see rate-limit-value) (see rate-remaining-value)';

const SUCCESS = { listPets: 200, createPet: 201, getPet: 200 } as const;

/** Whether an answer is the success of this operation. */
export const isSuccess = (operation: keyof typeof SUCCESS, { request, outcome }: AnsweredExchange): boolean =>
  request.operation === operation && outcome.status === SUCCESS[operation];

/** The parsed body. @throws Unsettled if it exceeds what the harness can read, which is not the target's fault */
export function readBody(exchange: AnsweredExchange): ParsedJson {
  const body = bodyOf(exchange);
  if (!body.ok && body.kind === 'beyond-harness')
    throw new Unsettled(`the harness cannot read ${described(exchange)}: ${body.problem}`, [exchange]);
  return body;
}

/**
 * The JSON of a successful answer; undefined for other answers or other bodies. @throws Unsettled like {@link readBody}
 */
export function successBody(
  operation: keyof typeof SUCCESS,
  exchange: AnsweredExchange,
): JsonValue | undefined {
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
  else judge.breaks({ expected, actual: described(exchange) }, exchange, ...evidence);
}

/** 2: the body of a success has the fields of a Pet. A body that is not JSON is not judged here. */
export const observesPet = (operation: 'createPet' | 'getPet') =>
  observes(
    (exchange) => successBody(operation, exchange),
    (value) => schemaViolation('pet', schemaProblem.pet(value)),
  );

/** 7: an error response has an Error body. @throws Unsettled like {@link readBody} */
export function errorBodyViolation(exchange: AnsweredExchange): Violation | undefined {
  const body = readBody(exchange);
  return schemaViolation(
    'error',
    body.ok ? schemaProblem.error(body.value) : `${described(exchange)}: ${body.problem}`,
  );
}
