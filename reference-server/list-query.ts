import { badRequest, type Problem, UNREADABLE_ESCAPE } from './error-body.ts';
import { isStatus, type ListQuery, unfiltered } from './pet-store.ts';

const USUAL = unfiltered(20);

/**
 * Reads the query of section 4.1. limit is 1 to 100 in plain digits without leading zeros, status one of the three
 * values; each at most once. Unknown parameters are ignored, but must be readable.
 *
 * @param search the text after the question mark
 */
export function readListQuery(search: string): { query: ListQuery } | { problem: Problem } {
  if (search === '') return { query: USUAL };
  try {
    decodeURIComponent(search);
  } catch {
    return { problem: UNREADABLE_ESCAPE };
  }
  const given = new URLSearchParams(search);
  let problem: Problem | undefined;
  /** The value of a parameter; `accepted` gives undefined for one that is not allowed. */
  const read = <T>(name: string, usual: T, rule: string, accepted: (text: string) => T | undefined): T => {
    const [text, second] = given.getAll(name);
    if (text === undefined) return usual;
    if (second !== undefined) problem ??= badRequest('duplicate_parameter', `${name} is to be given once.`);
    const value = accepted(text);
    if (value === undefined) problem ??= badRequest(`invalid_${name}`, `${name} must be ${rule}.`);
    return value ?? usual;
  };
  const query: ListQuery = {
    limit: read('limit', USUAL.limit, 'an integer from 1 to 100', (text) =>
      /^(?:[1-9]\d?|100)$/.test(text) ? Number(text) : undefined,
    ),
    status: read('status', USUAL.status, 'available, pending or sold', (text) =>
      isStatus(text) ? text : undefined,
    ),
  };
  return problem === undefined ? { query } : { problem };
}
