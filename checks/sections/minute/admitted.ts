import type { Key } from '../../profile/key.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import type { RateReading } from '../../wire/rate-headers.ts';

/** Everything of the day's quota aside, an answer below 400 or one about the request itself was admitted. */
export const isAdmitted = ({ outcome }: AnsweredExchange): boolean => isAdmittedStatus(outcome.status);

export const isAdmittedStatus = (status: number): boolean =>
  status < 500 && ![401, 403, 429].includes(status);

/** What this run was admitted on a key since a moment, as a probe or a trace knows it. */
export const admittedOn = (known: Pick<Trace, 'readingsOf'>, key: Key, since?: number): RateReading[] =>
  known.readingsOf(key, since).filter(({ status }) => isAdmittedStatus(status));
