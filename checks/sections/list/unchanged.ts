/** Only a run knows its animals, and no operation changes one: every answer must show it as it was created. */
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

/**
 * The fields of an animal that differ between two showings of it.
 *
 * @param change a change of status by itself, which is not a difference
 */
export function differences(created: SeenPet, shown: SeenPet, change?: StatusChange): string[] {
  const fields = ['name', 'categoryId', ...(change === undefined ? (['status'] as const) : [])] as const;
  return fields.flatMap((field) =>
    created[field] === shown[field]
      ? []
      : [`${field} ${inWords(created[field])} became ${inWords(shown[field])}`],
  );
}

/** A status that differs from the one in the answer to the addition. */
export interface StatusChange {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether list and retrieval agree on it; if not, one of them was not requested since. */
  readonly isAgreed: boolean;
  readonly evidence: readonly AnsweredExchange[];
}

/**
 * Judges one showing of an animal of the run.
 *
 * @param change a change of status by itself, which does not count against the target
 * @returns whether it is unchanged
 */
export function judgeUnchanged(
  judge: Judge,
  { pet, exchange: creation }: Showing,
  shown: SeenPet,
  exchange: AnsweredExchange,
  change?: StatusChange,
): boolean {
  const changed = differences(pet, shown, change);
  if (changed.length === 0 && change?.isAgreed === false)
    judge.unsettled(
      `the status of animal ${pet.id} became ${inWords(change.to)}, according only to lists or only to retrievals`,
      ...change.evidence,
    );
  if (changed.length === 0) return true;
  judge.breaks(
    { expected: `animal ${pet.id} as it was created`, actual: changed.join(', ') },
    exchange,
    creation,
  );
  return false;
}
