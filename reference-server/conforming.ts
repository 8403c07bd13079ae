import { bearerToken, type KeyRing } from './api-keys.ts';
import type { BanList } from './ban-list.ts';
import type { Answer, Behaviour, Gate } from './behaviour.ts';
import type { Call } from './call.ts';
import type { Clock } from './clock.ts';
import { NOT_JSON, type Problem } from './error-body.ts';
import { int64FromPath } from './int64.ts';
import { readListQuery } from './list-query.ts';
import { readNewPet } from './new-pet.ts';
import { newestFirst, type PetStore } from './pet-store.ts';
import { petText } from './pet-text.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** What a server is made of; every server has its own. */
export interface Parts {
  readonly clock: Clock;
  readonly keys: KeyRing;
  readonly store: PetStore;
  readonly limiter: RateLimiter;
  readonly bans: BanList;
}

/** Seconds to wait, rounded up: a client that waits exactly as told is served. */
export function secondsUntil(time: number, now: number): string {
  return String(Math.max(1, Math.ceil((time - now) / 1000)));
}

function overLimit(window: 'minute' | 'day', retryAt: number, now: number): Problem {
  const code = window === 'minute' ? 'rate_limit_exceeded' : 'daily_quota_exceeded';
  const message = `The requests of this ${window} are used up; retry after the time in Retry-After.`;
  return { status: 429, code, message, headers: ['Retry-After', secondsUntil(retryAt, now)] };
}

function banned(servedAt: number, now: number): Problem {
  const message = 'This key kept sending after 429 and is banned until the time in Retry-After has passed.';
  return { status: 429, code: 'key_banned', message, headers: ['Retry-After', secondsUntil(servedAt, now)] };
}

/**
 * Ban, then limit. Retry-After is the time at which the key is served again, whichever of ban, minute and day ends
 * last, so that waiting for it is always enough.
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

let dateSecond = -1;
let dateText = '';

/** The Date header's form of a time (RFC 9110, 5.6.7); written once a second. */
export function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** Section 8: the three rate headers on every response, beside what HTTP asks for. */
export function standardHeaders(answer: Answer, call: Pick<Call, 'now' | 'quota'>): string[] {
  const { quota } = call;
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(answer.wire.length),
    'Date',
    httpDate(call.now),
    'X-RateLimit-Limit',
    String(quota.limit),
    'X-RateLimit-Remaining',
    String(quota.remaining),
    'X-RateLimit-Reset',
    String(Math.ceil(quota.resetAt / 1000)),
  ];
  for (const text of answer.headers) headers.push(text);
  return headers;
}

/** The server as the document describes it. */
export function conformingBehaviour(parts: Parts): Behaviour {
  const { keys, store } = parts;
  return {
    identify(call) {
      const token = bearerToken(call.authorization);
      return token === null ? null : keys.find(token);
    },
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
      response.end(answer.wire, 'latin1');
    },
  };
}
