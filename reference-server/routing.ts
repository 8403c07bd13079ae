import { methodNotAllowed, NO_SUCH_PATH, type Problem, UNREADABLE_ESCAPE } from './error-body.ts';

/** The base address's path: section 9, the version is part of it. */
export const BASE_PATH = '/v1';

/** The operation of a request, or the problem with its address. */
export type Route =
  | { readonly operation: 'listPets'; readonly search: string }
  | { readonly operation: 'createPet' }
  | { readonly operation: 'getPet'; readonly petId: string }
  | { readonly operation: 'none'; readonly problem: Problem };

const CREATE: Route = { operation: 'createPet' };
const NOWHERE: Route = { operation: 'none', problem: NO_SUCH_PATH };
const UNREADABLE: Route = { operation: 'none', problem: UNREADABLE_ESCAPE };
const PETS_METHODS: Route = { operation: 'none', problem: methodNotAllowed('GET, POST') };
const PET_METHODS: Route = { operation: 'none', problem: methodNotAllowed('GET') };

function unescaped(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    // An escaped slash is part of a segment, not a separator (RFC 3986, 2.2).
    return path
      .split('/')
      .map((segment) => decodeURIComponent(segment).replaceAll('/', '%2F'))
      .join('/');
  } catch {
    return null;
  }
}

/** Finds the operation of a request by its method and its target, which is a path or an absolute address (RFC 9112). */
export type Router = (method: string, target: string) => Route;

/** The router of a base path. */
export function routerOf(basePath: string): Router {
  const pets = `${basePath}/pets`;
  return (method, target) => {
    const question = target.indexOf('?');
    let path = question === -1 ? target : target.slice(0, question);
    const search = question === -1 ? '' : target.slice(question + 1);
    if (!path.startsWith('/')) path = path.replace(/^https?:\/\/[^/]*/i, '');
    const readable = unescaped(path);
    if (readable === null) return UNREADABLE;
    if (readable === pets) {
      if (method === 'GET') return { operation: 'listPets', search };
      return method === 'POST' ? CREATE : PETS_METHODS;
    }
    if (!readable.startsWith(`${pets}/`)) return NOWHERE;
    const petId = readable.slice(pets.length + 1);
    if (petId === '' || petId.includes('/')) return NOWHERE;
    return method === 'GET' ? { operation: 'getPet', petId } : PET_METHODS;
  };
}
