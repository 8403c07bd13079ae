import { isAdmittedStatus } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { notTold, type Reason } from '../../run/reason.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, type Exchange, isAnswered, mayHaveArrived } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';

/** Whether the minute admitted a request: its answer is below 400, or an error about the request itself. */
export const isAdmitted = ({ outcome }: AnsweredExchange): boolean => isAdmittedStatus(outcome.status);

/** Why nothing can be told of what follows a refusal: a plan's minute that is too large explains it. */
export const neverRefused = ({ name, plan }: Key): Reason =>
  notTold(`no request of key ${name} was refused`, `rate-minute-${plan}`);

/** Whether a request with a valid key was refused for the key itself, as a banned one is. */
export const refusesKey = ({ outcome }: AnsweredExchange): boolean =>
  outcome.status === 401 || outcome.status === 403;

/** The first of some refusals: answers may overtake each other, and a 429 of the limit precedes a ban with another status. */
export const firstRefusal = (refused: readonly AnsweredExchange[]): AnsweredExchange | undefined =>
  refused.find(({ outcome }) => outcome.status === 429) ?? refused[0];

/** The admitted requests of this run on a key since a moment, from a run or a trace. */
export const admittedOn = (known: Pick<Trace, 'readingsOf'>, key: Key, since?: number): RateReading[] =>
  known.readingsOf(key, since).filter(({ status }) => isAdmittedStatus(status));

/** The requests on a key that got no answer, may have been counted, and were under way between two moments. */
export const lostOn = (
  { exchanges }: Pick<Trace, 'exchanges'>,
  key: string | null,
  since: number,
  until = Number.POSITIVE_INFINITY,
): readonly Exchange[] =>
  exchanges.filter(
    (exchange) =>
      exchange.key === key &&
      !isAnswered(exchange) &&
      mayHaveArrived(exchange) &&
      exchange.receivedAt >= since &&
      exchange.sentAt <= until,
  );
