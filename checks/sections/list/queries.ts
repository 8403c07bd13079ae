/** The query of a list, and the words for it in the checks of section 4.1. */
import { contract } from '../../../spec/contract.ts';
import type { Violation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { readOnce, type SeenPet } from '../../wire/pets.ts';
import { readLast } from '../../wire/read-last.ts';

const { minimum, maximum } = contract.limit;

/** Whether a parameter is refused as invalid; any other status is the operation's own answer. */
export const isRefused = ({ outcome }: AnsweredExchange) => [400, 413, 414, 422].includes(outcome.status);

/** limit and status of a list request, if the document allows them; undefined for any other request. */
export const allowedQuery = readOnce((exchange) =>
  exchange.request.operation !== 'listPets' || exchange.key === null
    ? undefined
    : queryOf(exchange.request.path),
);

interface AllowedQuery {
  readonly limit?: number;
  readonly status?: string;
}

/** limit and status in a path, if the document allows them. The requests of a burst have one path. */
export const queryOf = readLast((path: string): AllowedQuery | undefined => {
  const query = new URL(path, 'http://target').searchParams;
  const limit = query.get('limit');
  const status = query.get('status');
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= minimum && Number(limit) <= maximum))
    return undefined;
  if (status !== null && !contract.statuses.includes(status)) return undefined;
  return { ...(limit === null ? {} : { limit: Number(limit) }), ...(status === null ? {} : { status }) };
});

/** Whether an answer is the list's own: a 429 or a ban is for the rate limit checks. */
export const isOwnAnswer = (exchange: AnsweredExchange) =>
  ![401, 403, 429].includes(exchange.outcome.status) && !exchange.sentBy.startsWith('ban:');

export const pets = (count: number) => (count === 1 ? '1 animal' : `${count} animals`);

/** What is said of a list that does not show an animal, which it should. @param list the list in words */
export const missingFrom = (
  listed: readonly SeenPet[] | undefined,
  animal: string,
  list: string,
): Violation => ({
  expected: `animal ${animal} in ${list}`,
  actual: `${pets(listed?.length ?? 0)} without it`,
});
