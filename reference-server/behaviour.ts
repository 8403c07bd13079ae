import type { ServerResponse } from 'node:http';
import type { ApiKey } from './api-keys.ts';
import type { Call, RefusedBy } from './call.ts';
import type { Problem } from './error-body.ts';
import type { ListQuery, NewPet, Pet } from './pet-store.ts';
import type { Body } from './pet-text.ts';
import type { Quota } from './rate-limiter.ts';

/** A response before its headers are put together. */
export interface Answer extends Body {
  readonly status: number;
  /** Headers of this answer alone, as a flat list of names and values. */
  readonly headers: readonly string[];
}

/** Whether a valid key's request is served, and what the rate headers say either way. */
export interface Gate {
  readonly quota: Quota;
  readonly refusedBy: RefusedBy | null;
  readonly refusal: Problem | null;
}

/**
 * The seams of the server: each decision that the document leaves to a server is one function. `conforming.ts` takes
 * them as the document has them.
 */
export interface Behaviour {
  /** Whose key the request carries, or null. */
  identify(call: Call): ApiKey | null;
  /** Counts the request against its key. */
  admit(key: ApiKey, call: Call): Gate;
  readListQuery(search: string, call: Call): { query: ListQuery } | { problem: Problem };
  /** The animals of a list, in their order. */
  select(query: ListQuery, call: Call): readonly Pet[];
  /** Why a body that is not labelled as JSON is refused, or null where it is read all the same. */
  refuseMediaType(call: Call): Problem | null;
  readNewPet(body: string, call: Call): { animal: NewPet } | { problem: Problem };
  addPet(animal: NewPet, call: Call): Pet;
  /** The animal that a path's last segment names, why there can be none, or null. */
  findPet(petId: string, call: Call): Pet | Problem | null;
  /** An animal as JSON, in a list or alone. */
  petText(pet: Pet, call: Call): string;
  /** The last word on status and body. */
  finish(answer: Answer, call: Call): Answer;
  /** All headers, as a flat list of names and values. */
  headers(answer: Answer, call: Call): string[];
  /** Puts the answer on the wire. */
  deliver(response: ServerResponse, answer: Answer, headers: string[], call: Call): void;
}
