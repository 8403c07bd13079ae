import { stringify } from 'lossless-json';
import { OPERATIONS, type OperationName } from '../../spec/operations.ts';
import type { HeaderList, Intent, Operation } from './exchange.ts';

/** A request before a key is put to it. */
export interface RequestSpec {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query relative to the base address, starting with a slash; sent as it is, not normalised. */
  readonly path: string;
  /** In addition to the client's own; one of the same name replaces the client's. */
  readonly headers?: HeaderList;
  /** No Accept is sent, which leaves the media type to the target (RFC 9110, 12.5.1). */
  readonly acceptsAnything?: boolean;
  /** Sent in UTF-8; Content-Type is among the headers. */
  readonly body?: string;
  /** What it is for, where that is not what its scene is for. */
  readonly intent?: Intent;
  /**
   * The same addition of another animal, for when the answer to this one is lost: this animal may have been added, and
   * the target may refuse a second one of its name. Without it an addition is not repeated.
   */
  readonly again?: () => RequestSpec;
}

/** What is put behind a name to make another one of it: nothing at first, then b, c, d … */
const ofAnother = (times: number) => (times === 0 ? '' : ` ${String.fromCharCode(97 + (times % 26))}`);

/**
 * An addition that may be repeated.
 *
 * @param add with nothing, or with what makes another name of its animal's name
 */
export function repeatable(add: (again: string) => RequestSpec, times = 0): RequestSpec {
  return { ...add(ofAnother(times)), again: () => repeatable(add, times + 1) };
}

/** A request of an operation. @param petId text too, so that ids that are no int64 can be asked for */
export function requestOf(operation: OperationName, petId: bigint | string = ''): RequestSpec {
  const { method, path } = OPERATIONS[operation];
  return { operation, method, path: path.replace('{petId}', () => `${petId}`) };
}

/** The query parameters of section 4.1; text so that values that the document does not allow can be sent too. */
export type ListQuery = {
  readonly [Name in (typeof OPERATIONS.listPets.query)[number]]?: Name extends 'limit'
    ? number | string
    : string;
};

/** GET /pets, the parameters in the order in which the query has them: a target must take either. */
export function listPets(query: ListQuery = {}): RequestSpec {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const spec = requestOf('listPets');
  const text = parameters.toString();
  return text === '' ? spec : { ...spec, path: `${spec.path}?${text}` };
}

/**
 * The same list asked for in other bytes: its values percent-encoded, which makes no other query of it (RFC 3986,
 * 6.2.2.2).
 */
export function percentEncoded(spec: RequestSpec): RequestSpec {
  const path = spec.path.replace(/(?<==)[^&]+/g, (value) =>
    [...Buffer.from(value)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  return { ...spec, path };
}

/** The request body of section 4.2. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

const JSON_BODY: HeaderList = [['content-type', 'application/json']];

/** POST /pets with any text as its body. */
export function addText(body: string | undefined, headers: HeaderList = JSON_BODY): RequestSpec {
  return { ...requestOf('createPet'), headers, ...(body === undefined ? {} : { body }) };
}

/** POST /pets with a JSON object; integers are written with every digit. */
export function addPet(pet: NewPet | Readonly<Record<string, unknown>>): RequestSpec {
  return addText(stringify(pet) ?? '');
}

/** GET /pets/{petId}. */
export const getPet = (id: bigint | string): RequestSpec => requestOf('getPet', id);
