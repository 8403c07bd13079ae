import type { AnsweredExchange } from '../../wire/exchange.ts';

/** Everything of the day's quota aside, an answer below 400 or one about the request itself was admitted. */
export const isAdmitted = ({ outcome }: AnsweredExchange): boolean => isAdmittedStatus(outcome.status);

export const isAdmittedStatus = (status: number): boolean =>
  status < 500 && ![401, 403, 429].includes(status);
