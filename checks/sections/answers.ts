/** Judgements of single answers that several sections share. */
import { type Check, check, type Judge, observes } from '../run/check.ts';
import { NOTHING_SHOWN } from '../run/findings.ts';
import { Unsettled } from '../run/unsettled.ts';
import { schemaViolation, type Violation } from '../wire/answer.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';
import type { JsonValue, ParsedJson } from '../wire/lossless-json.ts';
import { bodyOf, described } from '../wire/pets.ts';
import { schemaProblem } from '../wire/schema.ts';

/** The statuses that the document names: what a run needs to provoke them, and the rows that explain why none came. */
const NAMED: ReadonlyMap<number, Pick<Check, 'permit'> & { readonly shownBy?: string }> = new Map([
  [200, {}],
  [201, { permit: 'writes', shownBy: '(see add-answers-201)' }],
  [400, {}],
  [401, {}],
  [404, { shownBy: '(see get-unknown-404) (see get-until-removal) (see get-answers-200)' }],
  [429, { permit: 'exhaust' }],
]);

/**
 * Defines a check of the answers with each status that the document names, and one of those with any other status.
 *
 * @param from the least status that is judged
 * @param noneOther what is said where no other status came
 */
export function checksOfStatuses(
  idOf: (status: number | 'other') => string,
  from: number,
  violation: (exchange: AnsweredExchange) => Violation | undefined,
  noneOther: string,
): readonly Check[] {
  const of = (concerns: (status: number) => boolean) =>
    observes((exchange) => (concerns(exchange.outcome.status) ? exchange : undefined), violation);
  const named = [...NAMED].filter(([status]) => status >= from);
  return [
    ...named.map(([status, { shownBy, ...options }]) =>
      check(idOf(status), { ...options, observe: of((actual) => actual === status) }, (_, judge, trace) => {
        const isShown = trace.readings.some((one) => one.operation !== 'other' && one.status === status);
        if (shownBy !== undefined && !isShown) judge.unsettled(`${NOTHING_SHOWN} ${shownBy}`);
      }),
    ),
    // Other statuses need not occur; without one there is nothing to judge.
    check(idOf('other'), {
      observe: of((status) => status >= from && !NAMED.has(status)),
      conclude: (_, judge) => judge.notApplicable(noneOther),
    }),
  ];
}

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
