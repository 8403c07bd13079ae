/** Rows of the answers with each status: those that the document names, and one for the rest. */
import { type Check, check, observes } from '../../run/check.ts';
import { notShown } from '../../run/reason.ts';
import { inTurn, scene } from '../../run/scene.ts';
import { errorStatusViolation, type Violation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { int64Of } from '../../wire/lossless-json.ts';
import { addText, type RequestSpec } from '../../wire/requests.ts';
import { errorBodyViolation, objectIn } from '../answers.ts';
import { judgeAbsence } from '../quota/minute.ts';

/**
 * What targets answer with statuses that the document does not name: a method that a path does not have, which without a
 * body cannot change anything, and an addition that is no JSON. Neither can add an animal.
 */
const unusualRequests = scene('unusual-requests', {}, (run) =>
  inTurn<RequestSpec, AnsweredExchange>(
    [
      { operation: 'other', method: 'PATCH', path: '/pets' },
      ...(run.facts.permissions.has('writes')
        ? [{ ...addText('name: Rex', [['content-type', 'text/plain']]), intent: 'refusable' as const }]
        : []),
    ],
    (spec) => run.send(spec),
  ),
);

/** The statuses that the document names. */
const NAMED = [200, 201, 400, 401, 404, 429];
/** The rows that explain why no answer had one of them. */
const SHOWN_BY: Readonly<Record<number, readonly string[]>> = {
  201: ['add-answers-201'],
  404: ['get-unknown-404', 'get-until-removal', 'get-answers-200'],
};

/**
 * Defines a check of the answers with each status that the document names, and one of those with any other status.
 *
 * @param rows with what their ids begin
 * @param from the least status that is judged
 */
export function checksOfStatuses(
  rows: string,
  from: number,
  violation: (exchange: AnsweredExchange) => Violation | undefined,
): readonly Check[] {
  const of = (concerns: (status: number) => boolean) =>
    observes((exchange) => (concerns(exchange.outcome.status) ? exchange : undefined), violation);
  return [
    ...NAMED.filter((status) => status >= from).map((status) =>
      check(`${rows}-${status}`, { observe: of((actual) => actual === status) }, (judge, { trace }) => {
        const isShown = trace.readings.some((one) => one.operation !== 'other' && one.status === status);
        const blames = SHOWN_BY[status];
        if (blames !== undefined && !isShown) judge.inconclusive(notShown(...blames));
        if (status === 429) judgeAbsence(judge, trace);
      }),
    ),
    // Other statuses need not occur; without one there is nothing to judge.
    check(
      `${rows}-other`,
      {
        scenes: [unusualRequests],
        observe: of((status) => status >= from && !NAMED.includes(status)),
        conclude: (judge) => judge.notApplicable('no other status occurred'),
      },
      () => undefined,
    ),
  ];
}

/** The status that an Error body states. */
const statedStatus = (exchange: AnsweredExchange): bigint | undefined =>
  int64Of(objectIn(exchange)?.['status']);

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
  // 2: code is machine-readable and message human-readable, which an empty text is not. A reading.
  check('error-texts-not-empty', {
    observe: observes(
      (exchange) => (exchange.outcome.status >= 400 ? objectIn(exchange) : undefined),
      (error) => {
        const empty = ['code', 'message'].find((field) => error[field] === '');
        if (empty === undefined) return undefined;
        const expected = `a ${empty} of one character or more`;
        return { expected, actual: `${empty} is empty`, at: [`body/${empty}`] };
      },
    ),
  }),
];
