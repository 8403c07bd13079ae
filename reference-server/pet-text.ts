import type { Behaviour } from './behaviour.ts';
import type { Call } from './call.ts';
import { type ListQuery, type Pet, type PetStatus, type PetStore, STATUSES } from './pet-store.ts';

/** An animal as JSON. Digits stand as they were sent; `JSON.stringify` escapes what UTF-8 cannot carry. */
export function petText(pet: Pet): string {
  const status = pet.status === null ? '' : `,"status":"${pet.status}"`;
  return `{"id":${pet.id},"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${status}}`;
}

/** A body, as it is read and as it is sent. */
export interface Page {
  readonly text: string;
  /**
   * The body in UTF-8, one character for each byte: node:http writes such a string in one piece with the headers, and
   * its length is the Content-Length.
   */
  readonly wire: string;
}

/** Encodes a body. */
export function page(text: string): Page {
  const isAscii = Buffer.byteLength(text) === text.length;
  return { text, wire: isAscii ? text : Buffer.from(text).toString('latin1') };
}

/** Makes the body of a list. */
export type Pages = (query: ListQuery, call: Call) => Page;

/** Bodies that are made anew for every request. */
export function freshPages({ select, petText: asText }: Pick<Behaviour, 'select' | 'petText'>): Pages {
  return (query, call) =>
    page(
      `[${select(query, call)
        .map((pet) => asText(pet, call))
        .join(',')}]`,
    );
}

/**
 * Bodies that are kept until an animal is added: what a list says depends on nothing but its query and the store.
 * There are no more than 400 of them, 100 limits with 4 filters.
 */
export function keptPages(store: PetStore, fresh: Pages): Pages {
  const kept = new Map<PetStatus | null, (Page | undefined)[]>();
  for (const status of [null, ...STATUSES]) kept.set(status, []);
  let storeSize = store.size;
  return (query, call) => {
    if (storeSize !== store.size) {
      for (const pages of kept.values()) pages.length = 0;
      storeSize = store.size;
    }
    const pages = kept.get(query.status);
    const known = pages?.[query.limit];
    if (known !== undefined) return known;
    const made = fresh(query, call);
    if (pages !== undefined) pages[query.limit] = made;
    return made;
  };
}
