import type { Answer, Call } from '../design.ts';
import { type Deviation, deciding } from './deviation.ts';
import type { When } from './when.ts';

export const delivering = deciding('deliver');

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
