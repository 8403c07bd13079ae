import { NumberColumn, TextColumn } from './columns.ts';

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

/** An animal in its store: id, categoryId, status and name. */
const RECORD = /^(\S+) (\S+) (\S*) (.*)$/s;

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
 * An animal is kept as one text: a million objects would need three times the memory, and every collection of garbage
 * would be slower for them.
 */
export class PetStore {
  readonly #records = new TextColumn();
  /** The places of each status. */
  readonly #placesBy: Record<PetStatus, NumberColumn>;
  /** The hash of each id. */
  readonly #hashes = new NumberColumn();
  /** A hash table with open addressing: the place of an animal and 1 more, or 0. At most half of it is in use. */
  #slots = new Uint32Array(32);
  readonly #nextId: IdSource;

  constructor(nextId: IdSource) {
    this.#nextId = nextId;
    this.#placesBy = { available: new NumberColumn(), pending: new NumberColumn(), sold: new NumberColumn() };
  }

  get size(): number {
    return this.#hashes.length;
  }

  /** Adds an animal with a new id. */
  add(animal: NewPet): Pet {
    return this.put(petOf(this.#nextId(), animal));
  }

  /** Adds an animal that already has an id. */
  put(pet: Pet): Pet {
    const place = this.size;
    this.#records.push(`${pet.id} ${pet.categoryId} ${pet.status ?? ''} ${pet.name}`);
    this.#hashes.push(hashOf(pet.id));
    if (pet.status !== null) this.#placesBy[pet.status].push(place);
    if (2 * this.size > this.#slots.length) {
      this.#slots = new Uint32Array(2 * this.#slots.length);
      for (let each = 0; each < place; each += 1) this.#index(each);
    }
    this.#index(place);
    return pet;
  }

  find(id: string): Pet | null {
    return this.#at((this.#slots[this.#slotOf(hashOf(id), () => id)] ?? 0) - 1) ?? null;
  }

  /** Every animal with a status, or every animal at all, oldest first. */
  having(status: PetStatus | null): Animals {
    const places = status === null ? undefined : this.#placesBy[status];
    const length = places?.length ?? this.size;
    const at = (place: number) => {
      const counted = place < 0 ? length + place : place;
      return this.#at(places === undefined ? counted : places.at(counted));
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
    const [, id, categoryId, status = '', name] = RECORD.exec(this.#records.at(place) ?? '') ?? [];
    if (id === undefined || categoryId === undefined || name === undefined) return undefined;
    return { id, name, categoryId, status: isStatus(status) ? status : null };
  }

  #index(place: number): void {
    const slot = this.#slotOf(this.#hashes.at(place) ?? 0, () => this.#at(place)?.id);
    this.#slots[slot] = place + 1;
  }

  /** The slot of the animal with this id, or the free one where it would be. */
  #slotOf(hash: number, id: () => string | undefined): number {
    for (let slot = hash; ; slot += 1) {
      const wrapped = slot & (this.#slots.length - 1);
      const place = (this.#slots[wrapped] ?? 0) - 1;
      if (place < 0 || (this.#hashes.at(place) === hash && this.#at(place)?.id === id())) return wrapped;
    }
  }
}

/** FNV-1a in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
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
