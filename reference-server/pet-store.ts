/** PetStatus of section 2. */
export const STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof STATUSES)[number];

/** Whether a text is exactly a PetStatus. */
export function isStatus(text: string): text is PetStatus {
  return text === 'available' || text === 'pending' || text === 'sold';
}

/** NewPet of section 2; an absent status is null. */
export interface NewPet {
  readonly name: string;
  /** Digits of an int64. */
  readonly categoryId: string;
  readonly status: PetStatus | null;
}

/** Pet of section 2. */
export interface Pet extends NewPet {
  /** Digits of an int64. */
  readonly id: string;
}

/** A NewPet plus its id. */
export function petOf(id: string, { name, categoryId, status }: NewPet): Pet {
  return { id, name, categoryId, status };
}

/** The query of a list. */
export interface ListQuery {
  readonly limit: number;
  readonly status: PetStatus | null;
}

/** Returns a new id, as digits of an int64; never the same one twice. */
export type IdSource = () => string;

/** Ids in ascending order from a first one. */
export function ascendingIds(first: bigint): IdSource {
  let next = first;
  return () => String(next++);
}

/** Animals of a store in the order of their addition, each made when it is asked for. */
export interface Animals extends Iterable<Pet> {
  readonly length: number;
  /** As `Array.at`. */
  at(place: number): Pet | undefined;
}

/**
 * The animals, in the order of their addition. There is also a list per status, so that the cost of a listing depends
 * on its limit and not on the store. The document has no update and no delete, so nothing ever leaves.
 *
 * Each field is kept in a list of its own: a million objects would need as much memory again, and time to collect
 * garbage among them.
 */
export class PetStore {
  readonly #ids: string[] = [];
  readonly #names: string[] = [];
  readonly #categoryIds: string[] = [];
  readonly #statuses: (PetStatus | null)[] = [];
  readonly #placeOf = new Map<string, number>();
  readonly #placesBy: Record<PetStatus, number[]> = { available: [], pending: [], sold: [] };
  readonly #nextId: IdSource;

  constructor(nextId: IdSource) {
    this.#nextId = nextId;
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Adds an animal with a new id. */
  add(animal: NewPet): Pet {
    return this.put(petOf(this.#nextId(), animal));
  }

  /** Adds an animal that already has an id. */
  put(pet: Pet): Pet {
    const place = this.#ids.push(pet.id) - 1;
    this.#names.push(pet.name);
    this.#categoryIds.push(pet.categoryId);
    this.#statuses.push(pet.status);
    this.#placeOf.set(pet.id, place);
    if (pet.status !== null) this.#placesBy[pet.status].push(place);
    return pet;
  }

  find(id: string): Pet | null {
    return this.#at(this.#placeOf.get(id)) ?? null;
  }

  /** Every animal with a status, or every animal at all, oldest first. */
  having(status: PetStatus | null): Animals {
    const places = status === null ? undefined : this.#placesBy[status];
    const length = places?.length ?? this.size;
    const at = (place: number) => {
      const counted = place < 0 ? length + place : place;
      return this.#at(places === undefined ? counted : places[counted]);
    };
    return {
      length,
      at,
      *[Symbol.iterator]() {
        for (let place = 0; place < length; place += 1) {
          const pet = at(place);
          if (pet !== undefined) yield pet;
        }
      },
    };
  }

  #at(place = -1): Pet | undefined {
    const id = this.#ids[place];
    const name = this.#names[place];
    const categoryId = this.#categoryIds[place];
    if (id === undefined || name === undefined || categoryId === undefined) return undefined;
    return { id, name, categoryId, status: this.#statuses[place] ?? null };
  }
}

/** The newest matching animals, newest first: a new animal is listed whatever the store's size. */
export function newestFirst(store: PetStore, query: ListQuery): Pet[] {
  const matching = store.having(query.status);
  const page: Pet[] = [];
  for (let at = matching.length - 1; at >= 0 && page.length < query.limit; at -= 1) {
    const pet = matching.at(at);
    if (pet !== undefined) page.push(pet);
  }
  return page;
}
