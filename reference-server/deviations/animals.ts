import type { Call } from '../design.ts';
import type { OperationName } from '../operations.ts';
import type { Pet } from '../pet-store.ts';
import { type Deviation, deciding } from './deviation.ts';
import { on } from './when.ts';

export const writing = deciding('petText');

/** Changes a field of an animal before it is written, in one operation or in all. */
export const shown = <Field extends keyof Pet>(
  field: Field,
  change: (value: Pet[Field], call: Call) => Pet[Field],
  operation?: OperationName,
): Deviation =>
  writing((usual, pet, call) =>
    usual(on(operation)(call) ? { ...pet, [field]: change(pet[field], call) } : pet, call),
  );

/** Digits as they are where they were a double. */
export const rounded = (digits: string) => BigInt(Number(digits)).toString();

/** Changes an animal's JSON, in one operation or in all. */
export const petWritten = (
  change: (text: string, pet: Pet, call: Call) => string,
  operation?: OperationName,
): Deviation =>
  writing((usual, pet, call) => {
    const text = usual(pet, call);
    return on(operation)(call) ? change(text, pet, call) : text;
  });
