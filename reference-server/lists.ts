import type { Behaviour } from './behaviour.ts';
import type { Call } from './call.ts';
import { type ListQuery, type PetStatus, type PetStore, STATUSES } from './pet-store.ts';
import { type Body, bodyOf } from './pet-text.ts';

/** Builds the body of a list. */
export type Lists = (query: ListQuery, call: Call) => Body;

/** Builds every body anew. */
export function freshLists({ select, petText }: Pick<Behaviour, 'select' | 'petText'>): Lists {
  return (query, call) =>
    bodyOf(
      `[${select(query, call)
        .map((pet) => petText(pet, call))
        .join(',')}]`,
    );
}

/**
 * Caches bodies until an animal is added: a list depends only on its query and the store. There are at most 400 of
 * them, 100 limits with 4 filters.
 */
export function keptLists(store: PetStore, fresh: Lists): Lists {
  const kept = new Map<PetStatus | null, (Body | undefined)[]>();
  for (const status of [null, ...STATUSES]) kept.set(status, []);
  let storeSize = store.size;
  return (query, call) => {
    if (storeSize !== store.size) {
      for (const bodies of kept.values()) bodies.length = 0;
      storeSize = store.size;
    }
    const bodies = kept.get(query.status);
    const known = bodies?.[query.limit];
    if (known !== undefined) return known;
    const made = fresh(query, call);
    if (bodies !== undefined) bodies[query.limit] = made;
    return made;
  };
}
