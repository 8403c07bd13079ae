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

/** A NewPet plus its id. All pets are built here, so that they share one small hidden class. */
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

/**
 * The animals, in the order of their addition. There is also a list per status, so that the cost of a listing depends
 * on its limit and not on the store. The document has no update and no delete, so nothing ever leaves.
 */
export class PetStore {
  readonly #byId = new Map<string, Pet>();
  readonly #all: Pet[] = [];
  readonly #byStatus: Record<PetStatus, Pet[]> = { available: [], pending: [], sold: [] };
  readonly #nextId: IdSource;

  constructor(nextId: IdSource) {
    this.#nextId = nextId;
  }

  get size(): number {
    return this.#all.length;
  }

  /** Adds an animal with a new id. */
  add(animal: NewPet): Pet {
    return this.put(petOf(this.#nextId(), animal));
  }

  /** Adds an animal that already has an id. */
  put(pet: Pet): Pet {
    this.#byId.set(pet.id, pet);
    this.#all.push(pet);
    if (pet.status !== null) this.#byStatus[pet.status].push(pet);
    return pet;
  }

  find(id: string): Pet | null {
    return this.#byId.get(id) ?? null;
  }

  /** Every animal with a status, or every animal at all, oldest first. */
  having(status: PetStatus | null): readonly Pet[] {
    return status === null ? this.#all : this.#byStatus[status];
  }
}

/** The newest matching animals, newest first: a new animal is listed whatever the store's size. */
export function newestFirst(store: PetStore, query: ListQuery): Pet[] {
  const matching = store.having(query.status);
  const page: Pet[] = [];
  for (let at = matching.length - 1; at >= 0 && page.length < query.limit; at -= 1) {
    const pet = matching[at];
    if (pet !== undefined) page.push(pet);
  }
  return page;
}
