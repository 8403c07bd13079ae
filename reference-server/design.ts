import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import type { ApiKey, IssuedKey } from './api-keys.ts';
import type { Clock } from './clock.ts';
import type { ListQuery } from './list-query.ts';
import type { IdSource, NewPet, Pet, PetStore } from './pet-store.ts';
import type { LimiterPolicy, Quota, RateLimiter } from './rate-limiter.ts';

/** Why a request with a valid key is refused. */
export type RefusedBy = 'minute' | 'day' | 'ban';

/** What a request asks for, by its method and its address. */
export interface Route {
  /** The name of the operation; `none` where the address has none. */
  readonly operation: string;
  /** What the path names; empty if it names no animal. */
  readonly petId: string;
  /** The text after the question mark. */
  readonly search: string;
}

/** One request while it is being answered. */
export interface Call {
  readonly service: Service;
  readonly route: Route;
  /** Time of arrival, in milliseconds since 1970 by the server's clock. */
  readonly now: number;
  /** The Authorization field; null if there is none, or more than one. */
  readonly authorization: string | null;
  readonly request: IncomingMessage;
  /** The request's body; empty until it is read. */
  body: string;
  /** The caller; null until a valid key is found. */
  key: ApiKey | null;
  quota: Quota;
  refusedBy: RefusedBy | null;
}

/** Whether a valid key's request is served, and the contents of the rate headers in either case. */
export interface Gate {
  readonly quota: Quota;
  readonly refusedBy: RefusedBy | null;
  readonly refusal: Answer | null;
}

/** Each decision of a server, as one function. */
export interface Decisions {
  /** The key that the request carries, or null. */
  identify(call: Call): ApiKey | null;
  /** Counts the request against its key. */
  admit(key: ApiKey, call: Call): Gate;
  /** The query, or why it is refused. */
  readListQuery(search: string, call: Call): ListQuery | Answer;
  /** The animals of a list, in their order. */
  select(query: ListQuery, call: Call): readonly Pet[];
  /** Why a body that is not labelled as JSON is refused, or null if it is read anyway. */
  refuseMediaType(call: Call): Answer | null;
  /** The animal, or why it is refused. */
  readNewPet(body: string, call: Call): NewPet | Answer;
  addPet(animal: NewPet, call: Call): Pet;
  /** The animal in a path's last segment, why that segment is refused, or null if there is no such animal. */
  findPet(petId: string, call: Call): Pet | Answer | null;
  /** An animal as JSON, in a list or alone. */
  petText(pet: Pet, call: Call): string;
  /** The last word on status and body. */
  finish(answer: Answer, call: Call): Answer;
  /** All headers, as a flat list of names and values. */
  headers(answer: Answer, call: Call): string[];
  /** Puts the answer on the wire. */
  deliver(response: ServerResponse, answer: Answer, headers: string[], call: Call): void;
}

/** What a server is made from, and how it decides: its seams. `conforming.ts` has them as the document says. */
export interface Design extends LimiterPolicy, Decisions {
  /** Path of the base address. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly keys: readonly IssuedKey[];
  /** How many requests after a 429, with none admitted in between, lead to a ban; and how long it lasts. */
  readonly ban: { readonly threshold: number; readonly seconds: number };
  /** Makes the ids of added animals. */
  readonly nextId: IdSource;
  readonly seed: (store: PetStore, animals: number) => void;
}

/** A design at work. */
export interface Service extends Design {
  readonly store: PetStore;
  readonly limiter: RateLimiter;
  /** Writes the body of a list. */
  readonly lists: (query: ListQuery, call: Call) => string;
}
