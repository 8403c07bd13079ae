/** What a list was asked for, and how the checks of section 4.1 speak of what came. */
import { contract } from '../../../spec/contract.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';

const { minimum, maximum } = contract.limit;

/** Whether a parameter is refused as invalid; any other status is the operation's own answer. */
export const isRefused = ({ outcome }: AnsweredExchange) => [400, 413, 414, 422].includes(outcome.status);

/** limit and status of a list request, where they are ones that the document allows; undefined for any other list. */
export function allowedQuery(exchange: AnsweredExchange) {
  return exchange.request.operation !== 'listPets' || exchange.key === null
    ? undefined
    : queryOf(exchange.request.path);
}

/** limit and status that a path asks for, as allowedQuery. */
export function queryOf(path: string): { readonly limit?: number; readonly status?: string } | undefined {
  const query = new URL(path, 'http://target').searchParams;
  const limit = query.get('limit');
  const status = query.get('status');
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= minimum && Number(limit) <= maximum))
    return undefined;
  if (status !== null && !contract.statuses.includes(status)) return undefined;
  return { ...(limit === null ? {} : { limit: Number(limit) }), ...(status === null ? {} : { status }) };
}

/** A 429 or a ban is the rate limit's subject; anything else is the list's own answer. */
export const isOwnAnswer = (exchange: AnsweredExchange) =>
  ![401, 403, 429].includes(exchange.outcome.status) && !exchange.sentBy.startsWith('ban:');

export const pets = (count: number) => (count === 1 ? '1 animal' : `${count} animals`);
