import { mediaTypesIn, type SeenPet } from './answer.ts';
import { type AnsweredExchange, type Exchange, header, headerValues } from './exchange.ts';
import { int64Of, isJsonObject, type JsonValue, type ParsedJson, parseJson } from './lossless-json.ts';
import { rateHeaders } from './rate-headers.ts';
import { readLast } from './read-last.ts';

export type { SeenPet } from './answer.ts';

/**
 * What was read of a body is kept where the body has so many characters. To read a shorter one again is quicker than to
 * look it up. What is read of a longer one takes too much memory: up to fifty times the body's.
 */
const [SOONER_READ, KEPT_AS_READ] = [1024, 64 * 1024];

/** Reads an exchange once; of those from which little or much is read only the last one is remembered. */
export function readOnce<T>(read: (exchange: AnsweredExchange) => T): (exchange: AnsweredExchange) => T {
  const known = new WeakMap<AnsweredExchange, { readonly value: T }>();
  return readLast((exchange) => {
    const { length } = exchange.outcome.body;
    if (length < SOONER_READ || length > KEPT_AS_READ) return read(exchange);
    const entry = known.get(exchange) ?? { value: read(exchange) };
    known.set(exchange, entry);
    return entry.value;
  });
}

/** The answers of a burst have the same body. */
const parseLast = readLast(parseJson);

/** The body as JSON, every digit kept. */
export const bodyOf = readOnce((exchange): ParsedJson => {
  const { body, bodyProblem } = exchange.outcome;
  if (bodyProblem === undefined) return parseLast(body);
  const isOurs = bodyProblem === 'unknown-encoding' || bodyProblem === 'truncated-in-record';
  return { ok: false, kind: isOurs ? 'beyond-harness' : 'malformed', problem: bodyProblem };
});

/** An animal as far as a value tells; undefined where it is no object. */
export function seenPet(value: JsonValue): SeenPet | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, name, categoryId, status } = value;
  return {
    id: int64Of(id),
    name: typeof name === 'string' ? name : undefined,
    categoryId: int64Of(categoryId),
    status: typeof status === 'string' ? status : undefined,
    fields: Object.keys(value),
  };
}

/** The animals of a list; undefined where the answer is no 200 with an array of objects. */
export const listedPets = readOnce((exchange): readonly SeenPet[] | undefined => {
  const body = bodyOf(exchange);
  if (exchange.outcome.status !== 200 || !body.ok || !Array.isArray(body.value)) return undefined;
  const pets = body.value.map(seenPet);
  return pets.every((pet) => pet !== undefined) ? pets : undefined;
});

/** The animal of a 200 or 201; undefined where the answer is none. */
export const answeredPet = readOnce((exchange): SeenPet | undefined => {
  const { status } = exchange.outcome;
  if (status !== 200 && status !== 201) return undefined;
  const body = bodyOf(exchange);
  return body.ok ? seenPet(body.value) : undefined;
});

/** The animal in the body of an addition; undefined where it is none. */
export function sentPet({ request }: Exchange): SeenPet | undefined {
  const body = parseJson(request.body ?? '');
  return body.ok ? seenPet(body.value) : undefined;
}

/** Fields by which an object is recognised, whatever else is wrong with it. */
const RECOGNISABLE = [
  ['code', 'message', 'status'],
  ['id', 'name', 'categoryId'],
];

/** Whether an answer has any of the three rate headers. */
export function bearsRateHeader({ outcome: { headers } }: AnsweredExchange): boolean {
  return Object.values(rateHeaders(headers)).some(({ kind }) => kind !== 'absent');
}

/** Whether an answer shows any trace of the interface: a rate header, a JSON array, something like an Error or a Pet. */
export function looksLikeTheService(exchange: AnsweredExchange): boolean {
  if (bearsRateHeader(exchange)) return true;
  const body = bodyOf(exchange);
  const value = body.ok ? body.value : null;
  if (!isJsonObject(value)) return Array.isArray(value);
  return RECOGNISABLE.some((fields) => fields.filter((field) => field in value).length >= 2);
}

/** A response in a few words: `404 text/html, 1,204 bytes`, `302 to https://login.example.com/`. */
export function described(exchange: AnsweredExchange): string {
  const { status, bodyBytes, bodyProblem, headers } = exchange.outcome;
  const location = header(headers, 'location');
  if (status >= 300 && status < 400 && location !== undefined)
    return `${status} to ${location.slice(0, 200)}`;
  if (bodyBytes === 0)
    return `${status} with ${bodyProblem === 'truncated-in-record' ? 'a body that is not recorded' : 'an empty body'}`;
  const [type = 'without a media type'] = mediaTypesIn(headerValues(headers, 'content-type'));
  return `${status} ${type}, ${bodyBytes.toLocaleString('en')} bytes`;
}
