import type { ServerResponse } from 'node:http';
import type { ApiKey } from './api-keys.ts';
import type { Call, RefusedBy } from './call.ts';
import type { Problem } from './error-body.ts';
import type { ListQuery } from './list-query.ts';
import type { NewPet, Pet } from './pet-store.ts';
import type { Quota } from './rate-limiter.ts';

/** A response before its headers are put together. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Additional headers of this answer, as a flat list of names and values. */
  readonly headers: readonly string[];
}

/** Whether a valid key's request is served, and the contents of the rate headers in either case. */
export interface Gate {
  readonly quota: Quota;
  readonly refusedBy: RefusedBy | null;
  readonly refusal: Problem | null;
}

/**
 * The seams of the server: each decision is one function. `conforming.ts` decides as the document says.
 */
export interface Behaviour {
  /** The key that the request carries, or null. */
  identify(call: Call): ApiKey | null;
  /** Counts the request against its key. */
  admit(key: ApiKey, call: Call): Gate;
  readListQuery(search: string, call: Call): { query: ListQuery } | { problem: Problem };
  /** The animals of a list, in their order. */
  select(query: ListQuery, call: Call): readonly Pet[];
  /** Why a body that is not labelled as JSON is refused, or null if it is read anyway. */
  refuseMediaType(call: Call): Problem | null;
  readNewPet(body: string, call: Call): { animal: NewPet } | { problem: Problem };
  addPet(animal: NewPet, call: Call): Pet;
  /** The animal in a path's last segment, the problem with that segment, or null if there is no such animal. */
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
