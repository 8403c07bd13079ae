import { type Answer, methodNotAllowed, NO_SUCH_PATH, refusal, UNREADABLE_ESCAPE } from './answer.ts';
import type { Call, Route, Service } from './design.ts';

export type OperationName = 'listPets' | 'createPet' | 'getPet';

/** An operation of section 4: where it is, and how it is answered once the caller is admitted. */
interface Operation {
  readonly name: OperationName;
  readonly method: string;
  /** Below the base address; what it captures is the id of an animal. */
  readonly path: RegExp;
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
const REMOVED = refusal(
  410,
  'operation_removed',
  'This operation was removed on 5 December 2030. Use GET /pets with the status filter.',
);

const NO_SUCH_ANIMAL = refusal(404, 'not_found', 'No animal has this id.');
const STORE_FULL = refusal(507, 'store_full', 'The store holds as many animals as it can.');

/** The operations: whatever else there is to know of one is here. */
const OPERATIONS: readonly Operation[] = [
  {
    name: 'listPets',
    method: 'GET',
    path: /^\/pets$/,
    answer(call) {
      const read = call.service.readListQuery(call.route.search, call);
      return 'text' in read ? read : { status: 200, text: call.service.lists(read, call), headers: [] };
    },
  },
  {
    name: 'createPet',
    method: 'POST',
    path: /^\/pets$/,
    answer(call) {
      const { service } = call;
      const read = service.readNewPet(call.body, call);
      if ('text' in read) return read;
      if (service.store.isFull) return STORE_FULL;
      const pet = service.addPet(read, call);
      return { status: 201, text: service.petText(pet, call), headers: [] };
    },
  },
  {
    name: 'getPet',
    method: 'GET',
    path: /^\/pets\/([^/]+)$/,
    answer(call) {
      const { service, route } = call;
      const found = call.now >= REMOVAL ? REMOVED : (service.findPet(route.petId, call) ?? NO_SUCH_ANIMAL);
      const answer =
        'text' in found ? found : { status: 200, text: service.petText(found, call), headers: [] };
      return { ...answer, headers: [...answer.headers, ...DEPRECATION_HEADERS] };
    },
  },
];

function unescaped(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    // An escaped slash is part of a segment, not a separator (RFC 3986, 2.2).
    return path.replace(/[^/]+/g, (segment) => decodeURIComponent(segment).replaceAll('/', '%2F'));
  } catch {
    return null;
  }
}

/** Finds the operation of a request by its method and its target, which is a path or an absolute address (RFC 9112). */
export function routeOf(
  basePath: string,
  method: string,
  target: string,
): Route & { readonly found: Operation | Answer } {
  const question = target.includes('?') ? target.indexOf('?') : target.length;
  const search = target.slice(question + 1);
  const path = unescaped(target.slice(0, question).replace(/^https?:\/\/[^/]*/i, ''));
  const below = path?.startsWith(`${basePath}/`) === true ? path.slice(basePath.length) : '';
  const here = OPERATIONS.filter((operation) => operation.path.test(below));
  const petId = here[0]?.path.exec(below)?.[1] ?? '';
  const found = here.find((operation) => operation.method === method);
  if (found !== undefined) return { operation: found.name, petId, search, found };
  const allowed = here.map((operation) => operation.method).join(', ');
  const nowhere = path === null ? UNREADABLE_ESCAPE : NO_SUCH_PATH;
  return { operation: 'none', petId, search, found: allowed === '' ? nowhere : methodNotAllowed(allowed) };
}

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
