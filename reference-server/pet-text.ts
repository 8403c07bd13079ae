import type { ListQuery, Pet, PetStore } from './pet-store.ts';

/** An animal as JSON. Digits stand as they were sent; `JSON.stringify` escapes what UTF-8 cannot carry. */
export function petText(pet: Pet): string {
  const status = pet.status === null ? '' : `,"status":"${pet.status}"`;
  return `{"id":${pet.id},"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${status}}`;
}

/** A body and its length in UTF-8. */
export interface Page {
  readonly text: string;
  readonly bytes: number;
}

/** Measures a body. */
export function page(text: string): Page {
  return { text, bytes: Buffer.byteLength(text) };
}

interface KeptPage extends Page {
  readonly storeSize: number;
}

/**
 * The lists' bodies, each kept until an animal is added. There are no more than 404 of them: 101 limits, 4 filters.
 */
export class PageCache {
  readonly #pages = { none: [], available: [], pending: [], sold: [] } as Record<string, KeptPage[]>;
  readonly #store: PetStore;
  readonly #render: (query: ListQuery) => string;

  constructor(store: PetStore, render: (query: ListQuery) => string) {
    this.#store = store;
    this.#render = render;
  }

  get(query: ListQuery): Page {
    const kept = this.#pages[query.status ?? 'none'];
    const known = kept?.[query.limit];
    if (known !== undefined && known.storeSize === this.#store.size) return known;
    const text = this.#render(query);
    const fresh = { text, bytes: Buffer.byteLength(text), storeSize: this.#store.size };
    if (kept !== undefined) kept[query.limit] = fresh;
    return fresh;
  }
}
