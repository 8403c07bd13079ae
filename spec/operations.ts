/**
 * The operations of section 4 of the document and what they take. Plain data, for the scripts that k6 runs too. The
 * schemas that it names are in petstore.openapi.yaml, which a test holds to say the same.
 */

/** Section 8, "Page size". */
export const LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** What becomes of the animals that a run adds: no operation removes one. */
export const ADDED_ANIMALS = 'they stay';

/** Section 2, PetStatus. */
export const PET_STATUSES: readonly string[] = ['available', 'pending', 'sold'];

/**
 * What the document says of each operation: a path has the names of its parameters in braces, `success` is a status,
 * `request` and `response` are the schemas of bodies, and `removal` is the day on which it is removed.
 */
export const OPERATIONS = {
  listPets: { method: 'GET', path: '/pets', success: 200, query: ['limit', 'status'], response: 'Pets' },
  createPet: { method: 'POST', path: '/pets', success: 201, query: [], request: 'NewPet', response: 'Pet' },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    success: 200,
    query: [],
    response: 'Pet',
    removal: '2030-12-05',
  },
} as const;

export type OperationName = keyof typeof OPERATIONS;
const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);
/** In the document's order. */
export const OPERATION_NAMES: readonly OperationName[] = Object.keys(OPERATIONS).filter(isOperation);
