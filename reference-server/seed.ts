import type { NewPet, PetStatus, PetStore } from './pet-store.ts';

const NAMES = ['Bello', 'Mia', 'Ζωή', 'Мурка', 'たま', '구름', 'سمسم', 'Zoë 🐈', "O'Malley", 'Rex "the" Dog'];

const STATUSES: readonly (PetStatus | null)[] = ['available', 'sold', 'available', 'pending', null];

// Includes categories that a client gets wrong if it rounds to 53 bits.
const CATEGORIES = ['1', '2', '3', '9007199254740993', '4', '9223372036854775807', '5'];

/** One of the initial animals of a store. */
export function seeded(ordinal: number): NewPet {
  return {
    // `join` makes one flat string; a template would keep its pieces and use half as much memory again.
    name: [NAMES[ordinal % NAMES.length], ordinal + 1].join(' '),
    categoryId: CATEGORIES[ordinal % CATEGORIES.length] ?? '1',
    status: STATUSES[ordinal % STATUSES.length] ?? null,
  };
}

/** The second half of the initial ids begins here, where a double can no longer tell integers apart. */
export const FIRST_ID_BEYOND_DOUBLES = 9_007_199_254_740_993n;

/**
 * Fills a store with animals. The first one has the largest possible id. The others count from 1, and the second half
 * from 2^53 + 1; ids of later additions continue from there.
 */
export function seedWithMixedIds(store: PetStore, animals: number): void {
  const half = Math.ceil(animals / 2);
  for (let ordinal = 0; ordinal < animals; ordinal += 1) {
    if (ordinal >= half) store.add(seeded(ordinal));
    else store.put({ id: ordinal === 0 ? '9223372036854775807' : String(ordinal), ...seeded(ordinal) });
  }
}
