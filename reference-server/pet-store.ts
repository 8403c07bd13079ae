/** PetStatus of section 2. */
export const STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof STATUSES)[number];

/** Whether a text is a PetStatus, to the letter. */
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

/** A NewPet plus its id; all are of one shape, the smallest. */
export function petOf(id: string, { name, categoryId, status }: NewPet): Pet {
  return { id, name, categoryId, status };
}

/** What a list asks for. */
export interface ListQuery {
  readonly limit: number;
  readonly status: PetStatus | null;
}

/** Gives every animal its id, as digits of an int64; never the same one twice. */
export type IdSource = () => string;

/** Ids that ascend from a first one. */
export function ascendingIds(first: bigint): IdSource {
  let next = first;
  return () => String(next++);
}

/**
 * The animals, in the order in which they came. Lists are kept per status as well, so that what a list costs depends
 * on its limit and not on the store. There is no update and no delete in the document, so nothing ever leaves.
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

  /** Adds an animal under an id of the store's choice. */
  add(animal: NewPet): Pet {
    return this.put(petOf(this.#nextId(), animal));
  }

  /** Takes in an animal that has its id already. */
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

/** The newest animals that match, newest first: one that was just added is in the list whatever the store's size. */
export function newestFirst(store: PetStore, query: ListQuery): Pet[] {
  const matching = store.having(query.status);
  const page: Pet[] = [];
  for (let at = matching.length - 1; at >= 0 && page.length < query.limit; at -= 1) {
    const pet = matching[at];
    if (pet !== undefined) page.push(pet);
  }
  return page;
}
