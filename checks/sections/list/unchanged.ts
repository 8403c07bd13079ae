/** Nobody but a run knows its animals, and no operation changes one: each showing is of the animal as it was created. */
import type { Judge } from '../../run/check.ts';
import { quoted } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import type { SeenPet } from '../../wire/pets.ts';

/** An animal, and the exchange that showed it. */
export interface Showing {
  readonly pet: SeenPet;
  readonly exchange: AnsweredExchange;
}

const inWords = (value: string | bigint | undefined) =>
  typeof value === 'string' ? quoted(value) : (value ?? '(none)');

/** Which fields of an animal differ between two showings of it. */
export function differences(created: SeenPet, shown: SeenPet): string[] {
  const fields = ['name', 'categoryId', 'status'] as const;
  return fields.flatMap((field) =>
    created[field] === shown[field]
      ? []
      : [`${field} ${inWords(created[field])} became ${inWords(shown[field])}`],
  );
}

/**
 * Judges a showing of an animal of the run.
 *
 * @returns whether it is unchanged
 */
export function judgeUnchanged(
  judge: Judge,
  { pet, exchange: creation }: Showing,
  shown: SeenPet,
  exchange: AnsweredExchange,
): boolean {
  const changed = differences(pet, shown);
  if (changed.length === 0) return true;
  judge.breaks(
    { expected: `animal ${pet.id} as it was created`, actual: changed.join(', ') },
    exchange,
    creation,
  );
  return false;
}
