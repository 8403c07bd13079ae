import type { Answer, Call } from '../design.ts';
import type { OperationName } from '../operations.ts';

/** Whether a deviation shows in an answer; most look at the call alone. */
export type When = (call: Call, answer: Answer) => boolean;

/** Matches what each of these does. */
export const where =
  (...tests: readonly When[]): When =>
  (call, answer) =>
    tests.every((test) => test(call, answer));

export const always = () => true;

/** Whether a call is to an operation; to any, if none is named. */
export const on =
  (operation?: OperationName) =>
  ({ route }: Call): boolean =>
    operation === undefined || route.operation === operation;

/** Whether the query of a call contains `status=`. */
export const asksForStatus = (call: Call): boolean => call.route.search.includes('status=');

/** Whether the raw query of a list contains this parameter. */
export const queried =
  (text: string) =>
  ({ route }: Call): boolean =>
    route.operation === 'listPets' && route.search.split('&').includes(text);
