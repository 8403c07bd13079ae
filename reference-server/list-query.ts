import { type Answer, badRequest, UNREADABLE_ESCAPE } from './answer.ts';
import { isStatus, type NewPet, type Pet, type PetStatus, type PetStore } from './pet-store.ts';

/** The query of a list. */
export interface ListQuery {
  readonly limit: number;
  readonly status: PetStatus | null;
}

/** The query of a list without a filter. */
export const unfiltered = (limit: number): ListQuery => ({ limit, status: null });

/** Whether an animal matches the filter of a query. */
export const isAskedFor = ({ status }: ListQuery, pet: NewPet): boolean =>
  status === null || pet.status === status;

const USUAL = unfiltered(20);

/**
 * Reads the query of section 4.1. limit is 1 to 100 in plain digits without leading zeros, status one of the three
 * values; each at most once. Unknown parameters are ignored, but must be readable.
 *
 * @param search the text after the question mark
 */
export function readListQuery(search: string): ListQuery | Answer {
  if (search === '') return USUAL;
  try {
    decodeURIComponent(search);
  } catch {
    return UNREADABLE_ESCAPE;
  }
  const given = new URLSearchParams(search);
  let refused: Answer | undefined;
  /** The value of a parameter; `accepted` gives undefined for one that is not allowed. */
  const read = <T>(name: string, usual: T, rule: string, accepted: (text: string) => T | undefined): T => {
    const [text, second] = given.getAll(name);
    if (text === undefined) return usual;
    if (second !== undefined) refused ??= badRequest('duplicate_parameter', `${name} is to be given once.`);
    const value = accepted(text);
    if (value === undefined) refused ??= badRequest(`invalid_${name}`, `${name} must be ${rule}.`);
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
  return refused ?? query;
}

/** The newest matching animals, newest first: a new animal is listed whatever the store's size. */
export function newestFirst({ all }: PetStore, query: ListQuery): Pet[] {
  const page: Pet[] = [];
  for (let at = all.length - 1; at >= 0 && page.length < query.limit; at -= 1) {
    const pet = all[at];
    if (pet !== undefined && isAskedFor(query, pet)) page.push(pet);
  }
  return page;
}
