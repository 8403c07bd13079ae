import { type Answer, methodNotAllowed, NO_SUCH_PATH, UNREADABLE_ESCAPE } from './answer.ts';
import type { Route } from './design.ts';
import { OPERATIONS, type Operation } from './operations.ts';

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
