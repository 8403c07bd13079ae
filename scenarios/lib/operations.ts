/** The operations that a load sends: the interface may have more. */
import type { OperationName } from '../../spec/operations.ts';

/** In the document's order. */
export const LOAD_OPERATIONS = [
  'listPets',
  'createPet',
  'getPet',
] as const satisfies readonly OperationName[];
export type LoadOperation = (typeof LOAD_OPERATIONS)[number];
export const isLoadOperation = (name: string): name is LoadOperation =>
  LOAD_OPERATIONS.some((operation) => operation === name);
