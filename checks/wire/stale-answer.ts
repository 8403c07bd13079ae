/** Answers that a proxy delivers once more, in place of those that were asked for. */
import { hash } from 'node:crypto';
import type { Answer, Dispatched, Line } from './connections.ts';
import type { FailureOutcome } from './exchange.ts';

/** Answers of a connection that later ones are compared with. */
const MOST_ANSWERS = 8;

/**
 * The least and the most time, in milliseconds, for the right answer to follow one that came once more. TCP may keep a
 * short one back until what came before it is acknowledged, which takes 40 ms (RFC 9293, 3.7.4 and 3.8.6.3).
 */
const [LEAST_WAIT, MOST_WAIT] = [100, 1000];

/** Statuses that a key, or the lack of one, is answered with again and again, the same to the byte. */
const ALIKE = [401, 429];

const STALE: FailureOutcome = {
  kind: 'failure',
  reason: 'malformed-response',
  message: 'an earlier answer was repeated in place of this one, on a connection that was out of sync',
};

/**
 * Whether a response is an earlier one of the same connection once more: byte for byte the same, and followed by bytes
 * that no request explains. Of answers that are the same for good reason there are few, for X-RateLimit-Remaining
 * falls; they cost the wait.
 *
 * @param earlier what had come on the connection when the request was sent
 * @param key the name of the one that it was sent with
 * @returns the failure that it is then
 */
export async function staleAnswer(
  connection: Line,
  earlier: readonly Answer[],
  key: string | null,
  { outcome, sentAt, receivedAt }: Dispatched,
): Promise<FailureOutcome | undefined> {
  if (outcome.kind === 'failure') return undefined;
  const { status, headers, bytes } = outcome;
  const digest = hash('sha1', `${status} ${headers.join('\n')}\n\n${bytes.toString('latin1')}`);
  connection.answers = [...earlier, { digest, key, took: receivedAt - sentAt }].slice(-MOST_ANSWERS);
  const first = earlier.find((answer) => answer.digest === digest);
  if (first === undefined || (ALIKE.includes(status) && first.key === key)) return undefined;
  const wait = Math.min(Math.max(first.took, LEAST_WAIT), MOST_WAIT);
  return (await connection.getsStray(wait)) ? STALE : undefined;
}
