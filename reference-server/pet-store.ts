/** PetStatus of section 2. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** Whether a text is exactly a PetStatus. */
export const isStatus = (text: string): text is PetStatus => /^(?:available|pending|sold)$/.test(text);

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

/** Returns a new id, as digits of an int64; never the same one twice. */
export type IdSource = () => string;

/** Ids in ascending order from a first one. */
export function ascendingIds(first: bigint): IdSource {
  let next = first;
  return () => String(next++);
}

/** What a store holds at most. A client that adds for ever is refused before the memory is used up. */
export const MOST_ANIMALS = 1_000_000;
const MOST_CHARACTERS_OF_NAMES = 100_000_000;

/** The animals. The document has no update and no delete, so nothing ever leaves. */
export class PetStore {
  /** In the order of their addition. */
  readonly all: Pet[] = [];
  readonly #byId = new Map<string, Pet>();
  readonly #nextId: IdSource;
  #charactersOfNames = 0;

  constructor(nextId: IdSource) {
    this.#nextId = nextId;
  }

  get isFull(): boolean {
    return this.all.length >= MOST_ANIMALS || this.#charactersOfNames >= MOST_CHARACTERS_OF_NAMES;
  }

  /** Adds an animal with a new id. */
  add(animal: NewPet): Pet {
    return this.put({ id: this.#nextId(), ...animal });
  }

  /** Adds an animal that already has an id. */
  put(pet: Pet): Pet {
    this.all.push(pet);
    this.#byId.set(pet.id, pet);
    this.#charactersOfNames += pet.name.length;
    return pet;
  }

  find(id: string): Pet | null {
    return this.#byId.get(id) ?? null;
  }
}
