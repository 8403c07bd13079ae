import type { Socket } from 'node:net';
import { type ApiKey, bearerToken } from './api-keys.ts';
import type { Behaviour, Gate } from './behaviour.ts';
import type { RefusedBy } from './call.ts';
import { type Problem, problem } from './error-body.ts';
import { secondsUntil, standardHeaders } from './headers.ts';
import { int64FromPath } from './int64.ts';
import { newestFirst, readListQuery } from './list-query.ts';
import { readNewPet } from './new-pet.ts';
import type { Pet } from './pet-store.ts';
import type { Parts, Recipe } from './recipe.ts';

/** Section 5. A connection usually repeats its credential, which is then recognised without another digest. */
function identification({ findKey }: Parts): Behaviour['identify'] {
  const callers = new WeakMap<Socket, { readonly authorization: string | null; readonly key: ApiKey }>();
  return ({ authorization, request: { socket } }) => {
    const caller = callers.get(socket);
    if (caller?.authorization === authorization) return caller.key;
    const token = bearerToken(authorization);
    const key = token === null ? null : findKey(token);
    if (key !== null) callers.set(socket, { authorization, key });
    return key;
  };
}

const REFUSALS = {
  minute: ['rate_limit_exceeded', 'The requests of this minute are used up'],
  day: ['daily_quota_exceeded', 'The requests of this day are used up'],
  ban: ['key_banned', 'This key kept sending after 429 and is banned'],
} as const;

/** A refusal of a key, with the time at which it is served again. */
export function refused(by: RefusedBy, retryAt: number, now: number): Problem {
  const [code, why] = REFUSALS[by];
  const message = `${why}; retry after the time in Retry-After.`;
  return problem(429, code, message, 'Retry-After', secondsUntil(retryAt, now));
}

/**
 * Section 8: ban, then limit. A key that keeps sending after a 429 is banned for a time. The first 429 does not count,
 * requests during a ban do not prolong it, and an admitted request clears the record. Retry-After is the time until the
 * last of ban, minute and day ends, so that waiting for it is always enough.
 */
function gatekeeper({ limiter }: Parts, { ban }: Recipe): Behaviour['admit'] {
  const records = new Map<string, { readonly refusals: number; readonly bannedUntil: number }>();
  return (key, { now }) => {
    const banned = (until: number): Gate => {
      const servedAt = Math.max(until, limiter.freeAt(key, now));
      return { quota: limiter.closed(key, now), refusedBy: 'ban', refusal: refused('ban', servedAt, now) };
    };
    const { refusals, bannedUntil } = records.get(key.name) ?? { refusals: 0, bannedUntil: 0 };
    if (now < bannedUntil) return banned(bannedUntil);
    const { quota, refusedBy } = limiter.admit(key, now);
    if (refusedBy === null) {
      records.delete(key.name);
      return { quota, refusedBy, refusal: null };
    }
    const inRow = bannedUntil === 0 ? refusals + 1 : 1;
    const banEnd = inRow > ban.threshold ? now + ban.seconds * 1000 : 0;
    records.set(key.name, { refusals: inRow, bannedUntil: banEnd });
    if (banEnd > 0) return banned(banEnd);
    return { quota, refusedBy, refusal: refused(refusedBy, limiter.freeAt(key, now), now) };
  };
}

/** An animal as JSON. Digits are written as they were sent; `JSON.stringify` escapes what UTF-8 cannot encode. */
export function petText({ id, name, categoryId, status }: Pet): string {
  const ending = status === null ? '' : `,"status":"${status}"`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${ending}}`;
}

const NOT_JSON = problem(415, 'unsupported_media_type', 'The body must be application/json in UTF-8.');

/** The server as the document describes it. */
export function conformingBehaviour(parts: Parts, recipe: Recipe): Behaviour {
  const { store } = parts;
  return {
    identify: identification(parts),
    admit: gatekeeper(parts, recipe),
    readListQuery,
    select: (query) => newestFirst(store, query),
    refuseMediaType: () => NOT_JSON,
    readNewPet,
    addPet: (animal) => store.add(animal),
    findPet(petId) {
      const id = int64FromPath(petId);
      return id === null ? null : store.find(id);
    },
    petText,
    finish: (answer) => answer,
    headers: standardHeaders,
    deliver: (response, { status, text }, headers) => void response.writeHead(status, headers).end(text),
  };
}
