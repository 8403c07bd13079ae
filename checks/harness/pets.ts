import { type AnsweredExchange, header } from './exchange.ts';
import { int64Of, isJsonObject, type JsonValue, parseJson } from './lossless-json.ts';

/** An animal as far as a response tells; a field that is missing or of another type is undefined. */
export interface SeenPet {
  readonly id: bigint | undefined;
  readonly name: string | undefined;
  readonly categoryId: bigint | undefined;
  readonly status: string | undefined;
  /** Names of all fields, the document's or not. */
  readonly fields: readonly string[];
}

const bodies = new WeakMap<AnsweredExchange, ReturnType<typeof parseJson>>();

/** The body as JSON, every digit kept; parsed once an exchange. */
export function bodyOf(exchange: AnsweredExchange): ReturnType<typeof parseJson> {
  const known = bodies.get(exchange);
  if (known !== undefined) return known;
  const { body, bodyProblem } = exchange.outcome;
  const parsed = bodyProblem === undefined ? parseJson(body) : ({ ok: false, problem: bodyProblem } as const);
  bodies.set(exchange, parsed);
  return parsed;
}

function seenPet(value: JsonValue): SeenPet | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, name, categoryId, status } = value;
  return {
    id: id === undefined ? undefined : int64Of(id),
    name: typeof name === 'string' ? name : undefined,
    categoryId: categoryId === undefined ? undefined : int64Of(categoryId),
    status: typeof status === 'string' ? status : undefined,
    fields: Object.keys(value),
  };
}

const lists = new WeakMap<AnsweredExchange, readonly SeenPet[] | 'none'>();

/** The animals of a list; undefined where the answer is no 200 with an array of objects. Read once an exchange. */
export function listedPets(exchange: AnsweredExchange): readonly SeenPet[] | undefined {
  let listed = lists.get(exchange);
  if (listed === undefined) {
    listed = readList(exchange) ?? 'none';
    lists.set(exchange, listed);
  }
  return listed === 'none' ? undefined : listed;
}

function readList(exchange: AnsweredExchange): SeenPet[] | undefined {
  const body = bodyOf(exchange);
  if (exchange.outcome.status !== 200 || !body.ok || !Array.isArray(body.value)) return undefined;
  const pets = body.value.map(seenPet);
  return pets.every((pet) => pet !== undefined) ? pets : undefined;
}

/** The animal of a 200 or 201; undefined where the answer is none. */
export function answeredPet(exchange: AnsweredExchange): SeenPet | undefined {
  const body = bodyOf(exchange);
  const { status } = exchange.outcome;
  return (status === 200 || status === 201) && body.ok ? seenPet(body.value) : undefined;
}

/** Media type of a response without its parameters, in lower case. */
export function mediaType(exchange: AnsweredExchange): string | undefined {
  return header(exchange.outcome.headers, 'content-type')?.split(';')[0]?.trim().toLowerCase();
}

/** A response in a few words: `404 text/html, 1,204 bytes`. */
export function described(exchange: AnsweredExchange): string {
  const { status, bodyBytes } = exchange.outcome;
  return bodyBytes === 0
    ? `${status} with an empty body`
    : `${status} ${mediaType(exchange) ?? 'without a media type'}, ${bodyBytes.toLocaleString('en')} bytes`;
}
