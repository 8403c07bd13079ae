import { type Answer, refusal } from '../answer.ts';
import type { Call } from '../design.ts';
import type { OperationName } from '../operations.ts';
import { type Deviation, deciding } from './deviation.ts';
import { on, type When, where } from './when.ts';

const finishing = deciding('finish');
export const delivering = deciding('deliver');

/** Matches answers with a status, of one operation or of all. */
export const answers = (status: number, operation?: OperationName): When =>
  where(on(operation), (_call, answer) => answer.status === status);

/** Matches successful answers of one operation. */
export const succeeds = (operation: OperationName): When =>
  where(on(operation), (_call, { status }) => status < 300);

/** Matches errors of the three operations that the document's table does not name: 410, 413 and 415 here. */
export const otherErrors: When = ({ route }, { status }) =>
  status >= 400 && ![400, 401, 404, 429].includes(status) && route.operation !== 'none';

/** Status and text of an Error. */
export const errorOf = (status: number) => ({
  status,
  text: refusal(status, 'refused', 'The request was refused.').text,
});

/** Changes the answers that match: their status, their text, the headers that are theirs. */
export const answering = (
  when: When,
  change: Partial<Answer> | ((answer: Answer, call: Call) => Partial<Answer>),
): Deviation =>
  finishing((usual, answer, call) => {
    const last = usual(answer, call);
    if (!when(call, last)) return last;
    return { ...last, ...(typeof change === 'function' ? change(last, call) : change) };
  });

/** Answers with another status, and an Error body to match. */
export const failing = (status: number, ...when: readonly When[]): Deviation =>
  answering(where(...when), errorOf(status));

/** Changes the text of the answers that match. */
export const rewriting = (when: When, change: (text: string, answer: Answer) => string): Deviation =>
  answering(when, (answer) => ({ text: change(answer.text, answer) }));

/** An Error with another status, which its body says too. */
export const restated = (answer: Answer, status: number): Answer => ({
  ...answer,
  status,
  text: answer.text.replace(/"status":\d+/, `"status":${status}`),
});

/**
 * Holds answers back.
 *
 * @param delay how long, in real milliseconds
 * @param release called before an answer that was held back is sent
 */
export const heldBack = (
  delay: (call: Call, answer: Answer) => number,
  release: (call: Call) => void = () => {},
): Deviation =>
  delivering((usual, response, answer, headers, call) => {
    const milliseconds = delay(call, answer);
    if (milliseconds === 0) return usual(response, answer, headers, call);
    setTimeout(() => {
      release(call);
      usual(response, answer, headers, call);
    }, milliseconds);
  });

/** Closes the connection in place of the answers that match. */
export const closing = (when: When): Deviation =>
  delivering((usual, response, answer, headers, call) => {
    if (when(call, answer)) response.destroy();
    else usual(response, answer, headers, call);
  });
