import type { Answer, Behaviour } from './behaviour.ts';
import type { Call } from './call.ts';
import { badRequest, errorBody, type Problem, problem } from './error-body.ts';
import type { ListQuery } from './list-query.ts';
import type { PetStore } from './pet-store.ts';
import type { ReceivedBody } from './request-body.ts';

/** How a server answers. */
export interface Service {
  readonly behaviour: Behaviour;
  readonly store: PetStore;
  /** Writes the body of a list. */
  readonly lists: (query: ListQuery, call: Call) => string;
}

export type OperationName = 'listPets' | 'createPet' | 'getPet';

/** An operation of section 4: where it is, and how it is answered once the caller is admitted. */
export interface Operation {
  readonly name: OperationName;
  readonly method: string;
  readonly path: string;
  /** Whether it waits for the request's body. */
  readonly readsBody: boolean;
  answer(call: Call, service: Service, body: ReceivedBody): Answer;
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
const TOO_LARGE = problem(413, 'payload_too_large', 'The request body is larger than 1 MiB.');
const STORE_FULL = problem(507, 'store_full', 'The store holds as many animals as it can.');

/** An answer with an Error body. */
export function refusal(refused: Problem, more: readonly string[] = []): Answer {
  return { status: refused.status, text: errorBody(refused), headers: [...(refused.headers ?? []), ...more] };
}

/** The operations: whatever else there is to know of one is here. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'listPets',
    method: 'GET',
    path: '/pets',
    readsBody: false,
    answer(call, { behaviour, lists }) {
      const read = behaviour.readListQuery(call.route.search, call);
      if ('problem' in read) return refusal(read.problem);
      return { status: 200, text: lists(read.query, call), headers: [] };
    },
  },
  {
    name: 'createPet',
    method: 'POST',
    path: '/pets',
    readsBody: true,
    answer(call, { behaviour, store }, body) {
      if (body.kind === 'too-large') return refusal(TOO_LARGE);
      const unlabelled = body.kind === 'unlabelled' ? behaviour.refuseMediaType(call) : null;
      if (unlabelled !== null) return refusal(unlabelled);
      if (body.kind === 'not-utf8')
        return refusal(badRequest('malformed_json', 'The request body is not UTF-8.'));
      const read = behaviour.readNewPet(body.text, call);
      if ('problem' in read) return refusal(read.problem);
      if (store.isFull) return refusal(STORE_FULL);
      const pet = behaviour.addPet(read.animal, call);
      return { status: 201, text: behaviour.petText(pet, call), headers: [] };
    },
  },
  {
    name: 'getPet',
    method: 'GET',
    path: '/pets/{petId}',
    readsBody: false,
    answer(call, { behaviour }) {
      if (call.now >= REMOVAL) return refusal(REMOVED, DEPRECATION_HEADERS);
      const found = behaviour.findPet(call.route.petId, call);
      if (found === null) return refusal(NO_SUCH_ANIMAL, DEPRECATION_HEADERS);
      if ('code' in found) return refusal(found, DEPRECATION_HEADERS);
      return { status: 200, text: behaviour.petText(found, call), headers: DEPRECATION_HEADERS };
    },
  },
];

/**
 * Writes lists. Bodies are kept until the store changes, where a list depends on nothing but its query and the store:
 * at most 400 of them, 100 limits with 4 filters.
 */
export function listWriter(
  { select, petText }: Behaviour,
  store: PetStore,
  isKept: boolean,
): Service['lists'] {
  const kept = new Map<string, string>();
  let changes = store.changes;
  return (query, call) => {
    if (!isKept || changes !== store.changes) kept.clear();
    changes = store.changes;
    const asked = `${query.limit} ${query.status}`;
    const list = kept.get(asked) ?? `[${select(query, call).map((pet) => petText(pet, call))}]`;
    kept.set(asked, list);
    return list;
  };
}
