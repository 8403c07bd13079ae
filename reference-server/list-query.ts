import { badRequest, type Problem, UNREADABLE_ESCAPE } from './error-body.ts';
import { isStatus, type ListQuery } from './pet-store.ts';

const DEFAULT: ListQuery = { limit: 20, status: null };

function once(name: string): { problem: Problem } {
  return { problem: badRequest('duplicate_parameter', `${name} is to be given once.`) };
}

// `+` may mean a space in a query, and a number or status has neither a plus nor a space: both readings refuse it.
function decoded(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Reads the query of section 4.1. limit is 1 to 100 in plain digits without leading zeros, status one of the three
 * values; each at most once. Unknown parameters are ignored, but must be readable.
 *
 * @param search the text after the question mark
 */
export function readListQuery(search: string): { query: ListQuery } | { problem: Problem } {
  if (search === '') return { query: DEFAULT };
  let limit: number | null = null;
  let status: ListQuery['status'] = null;
  for (const pair of search.split('&')) {
    const equals = pair.indexOf('=');
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decoded(pair.slice(equals + 1));
    if (name === null || value === null) return { problem: UNREADABLE_ESCAPE };
    if (name === 'limit') {
      if (limit !== null) return once('limit');
      if (!/^(?:[1-9]\d?|100)$/.test(value)) {
        return { problem: badRequest('invalid_limit', 'limit must be an integer from 1 to 100.') };
      }
      limit = Number(value);
    } else if (name === 'status') {
      if (status !== null) return once('status');
      if (!isStatus(value)) {
        return { problem: badRequest('invalid_status', 'status must be available, pending or sold.') };
      }
      status = value;
    }
  }
  return { query: { limit: limit ?? DEFAULT.limit, status } };
}
