import type { Socket } from 'node:net';
import { type ApiKey, bearerToken } from './api-keys.ts';
import type { Behaviour, Gate } from './behaviour.ts';
import { NOT_JSON, type Problem } from './error-body.ts';
import { secondsUntil, standardHeaders } from './headers.ts';
import { int64FromPath } from './int64.ts';
import { readListQuery } from './list-query.ts';
import { readNewPet } from './new-pet.ts';
import { newestFirst } from './pet-store.ts';
import { petText } from './pet-text.ts';
import type { Parts } from './recipe.ts';

/**
 * Section 5. A connection usually repeats the credential of its last request, which is then recognised without another
 * digest. The comparison is only with what the connection itself sent, so its time reveals nothing about other keys.
 */
function identification({ keys }: Parts): Behaviour['identify'] {
  const callers = new WeakMap<Socket, { readonly authorization: string; readonly key: ApiKey }>();
  return ({ authorization, request: { socket } }) => {
    const caller = callers.get(socket);
    if (caller !== undefined && caller.authorization === authorization) return caller.key;
    const token = bearerToken(authorization);
    const key = token === null ? null : keys.find(token);
    if (key !== null && authorization !== null) callers.set(socket, { authorization, key });
    return key;
  };
}

/** A refusal for the requests of a window. */
export function overLimit(window: 'minute' | 'day', retryAt: number, now: number): Problem {
  const code = window === 'minute' ? 'rate_limit_exceeded' : 'daily_quota_exceeded';
  const message = `The requests of this ${window} are used up; retry after the time in Retry-After.`;
  return { status: 429, code, message, headers: ['Retry-After', secondsUntil(retryAt, now)] };
}

function banned(servedAt: number, now: number): Problem {
  const message = 'This key kept sending after 429 and is banned until the time in Retry-After has passed.';
  return { status: 429, code: 'key_banned', message, headers: ['Retry-After', secondsUntil(servedAt, now)] };
}

/**
 * Section 8: ban, then limit. Retry-After is the time until the last of ban, minute and day ends, so that waiting for
 * it is always enough.
 */
function gatekeeper({ limiter, bans }: Parts): Behaviour['admit'] {
  return (key, { now }): Gate => {
    const bannedUntil = bans.empty ? null : bans.bannedUntil(key, now);
    if (bannedUntil !== null) {
      const servedAt = Math.max(bannedUntil, limiter.freeAt(key, now));
      return { quota: limiter.closed(key, now), refusedBy: 'ban', refusal: banned(servedAt, now) };
    }
    const { quota, refusedBy, retryAt } = limiter.admit(key, now);
    if (refusedBy === null) {
      if (!bans.empty) bans.admitted(key);
      return { quota, refusedBy, refusal: null };
    }
    const banEnd = bans.refused(key, now);
    if (banEnd !== null) return { quota, refusedBy: 'ban', refusal: banned(Math.max(banEnd, retryAt), now) };
    return { quota, refusedBy, refusal: overLimit(refusedBy, retryAt, now) };
  };
}

/** The server as the document describes it. */
export function conformingBehaviour(parts: Parts): Behaviour {
  const { store } = parts;
  return {
    identify: identification(parts),
    admit: gatekeeper(parts),
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
    deliver(response, answer, headers) {
      response.writeHead(answer.status, headers);
      response.write(answer.wire, 'latin1');
      response.end();
    },
  };
}
