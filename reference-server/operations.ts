import type { Answer, Call, Service } from './design.ts';
import { errorBody, type Problem, problem } from './error-body.ts';

export type OperationName = 'listPets' | 'createPet' | 'getPet';

/** An operation of section 4: where it is, and how it is answered once the caller is admitted. */
export interface Operation {
  readonly name: OperationName;
  readonly method: string;
  /** Below the base address; what it captures is the id of an animal. */
  readonly path: RegExp;
  /** Whether it waits for the request's body. */
  readonly readsBody: boolean;
  answer(call: Call): Answer;
}

/** Section 4.3: GET /pets/{petId} will be removed on 5 December 2030. */
export const REMOVAL = Date.UTC(2030, 11, 5);

// RFC 9745, RFC 8594 and RFC 5829. The document does not say since when; here it is deprecated since five years before.
const DEPRECATION_HEADERS = [
  ...['Deprecation', `@${Date.UTC(2025, 11, 5) / 1000}`],
  ...['Sunset', new Date(REMOVAL).toUTCString()],
  ...['Link', '<../pets>; rel="successor-version"'],
];
const REMOVED = problem(
  410,
  'operation_removed',
  'This operation was removed on 5 December 2030. Use GET /pets with the status filter.',
);

const NO_SUCH_ANIMAL = problem(404, 'not_found', 'No animal has this id.');
const STORE_FULL = problem(507, 'store_full', 'The store holds as many animals as it can.');

/** An answer with an Error body. */
export function refusal(refused: Problem, more: readonly string[] = []): Answer {
  return { status: refused.status, text: errorBody(refused), headers: [...refused.headers, ...more] };
}

/** The operations: whatever else there is to know of one is here. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'listPets',
    method: 'GET',
    path: /^\/pets$/,
    readsBody: false,
    answer(call) {
      const read = call.service.readListQuery(call.route.search, call);
      if ('problem' in read) return refusal(read.problem);
      return { status: 200, text: call.service.lists(read.query, call), headers: [] };
    },
  },
  {
    name: 'createPet',
    method: 'POST',
    path: /^\/pets$/,
    readsBody: true,
    answer(call) {
      const { service } = call;
      const read = service.readNewPet(call.body, call);
      if ('problem' in read) return refusal(read.problem);
      if (service.store.isFull) return refusal(STORE_FULL);
      const pet = service.addPet(read.animal, call);
      return { status: 201, text: service.petText(pet, call), headers: [] };
    },
  },
  {
    name: 'getPet',
    method: 'GET',
    path: /^\/pets\/([^/]+)$/,
    readsBody: false,
    answer(call) {
      if (call.now >= REMOVAL) return refusal(REMOVED, DEPRECATION_HEADERS);
      const found = call.service.findPet(call.route.petId, call);
      if (found === null) return refusal(NO_SUCH_ANIMAL, DEPRECATION_HEADERS);
      if ('code' in found) return refusal(found, DEPRECATION_HEADERS);
      return { status: 200, text: call.service.petText(found, call), headers: DEPRECATION_HEADERS };
    },
  },
];

/**
 * Writes lists. Bodies are kept until the store changes, where a list depends on nothing but its query and the store:
 * at most 400 of them, 100 limits with 4 filters.
 */
export function listWriter(isKept: boolean): Service['lists'] {
  const kept = new Map<string, string>();
  let animals = 0;
  return (query, call) => {
    const { store, select, petText } = call.service;
    if (!isKept || animals !== store.all.length) kept.clear();
    animals = store.all.length;
    const asked = `${query.limit} ${query.status}`;
    const list = kept.get(asked) ?? `[${select(query, call).map((pet) => petText(pet, call))}]`;
    kept.set(asked, list);
    return list;
  };
}
