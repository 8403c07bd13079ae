import { type Answer, refusal } from './answer.ts';
import { bearerToken, demoKeys, type IssuedKey } from './api-keys.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Decisions, Design, Gate, RefusedBy } from './design.ts';
import { secondsUntil, standardHeaders, utf8 } from './headers.ts';
import { int64FromPath } from './int64.ts';
import { newestFirst, readListQuery } from './list-query.ts';
import { readNewPet } from './new-pet.ts';
import { ascendingIds, type Pet } from './pet-store.ts';
import { DOCUMENTED_PLANS, type PlanLimits } from './plans.ts';
import { quotaOf, windowFromFirst } from './rate-limiter.ts';
import { FIRST_ID_BEYOND_DOUBLES, seedWithMixedIds } from './seed.ts';

/** The user's choices about the service; everything has a default. */
export interface ServiceOptions {
  /** Default: the system's clock at `clockSpeed`. */
  readonly clock?: Clock;
  /** From 1, the default, to 100,000; ignored if `clock` is given. */
  readonly clockSpeed?: number;
  /** Default: the demo keys, with new values in every run. */
  readonly keys?: readonly IssuedKey[];
  /** The plan that the document leaves custom; default 5,000 a minute and 1,000,000 a day. */
  readonly enterprise?: PlanLimits;
  /** Default 10 requests after the first 429, and 60 seconds. */
  readonly ban?: Partial<Design['ban']>;
}

/** Section 5. An unknown token leaves nothing behind. */
function identification(keys: readonly IssuedKey[]): Decisions['identify'] {
  const byValue = new Map(keys.map((key) => [key.value, key]));
  return ({ authorization }) => byValue.get(bearerToken(authorization) ?? '') ?? null;
}

const REFUSALS = {
  minute: ['rate_limit_exceeded', 'The requests of this minute are used up'],
  day: ['daily_quota_exceeded', 'The requests of this day are used up'],
  ban: ['key_banned', 'This key kept sending after 429 and is banned'],
} as const;

/** A refusal of a key, with the time at which it is served again. */
function refused(by: RefusedBy, retryAt: number, now: number): Answer {
  const [code, why] = REFUSALS[by];
  const message = `${why}; retry after the time in Retry-After.`;
  return refusal(429, code, message, 'Retry-After', secondsUntil(retryAt, now));
}

/**
 * Section 8: ban, then limit. A key that keeps sending after a 429 is banned for a time. The first 429 does not count,
 * requests during a ban do not prolong it, and an admitted request clears the record. Retry-After is the time until the
 * last of ban, minute and day ends, so that waiting for it is always enough.
 */
function gatekeeper(): Decisions['admit'] {
  const records = new Map<string, { readonly refusals: number; readonly bannedUntil: number }>();
  return (key, { now, service: { limiter, ban } }) => {
    const banned = (until: number): Gate => {
      const servedAt = Math.max(until, limiter.freeAt(key, now));
      // Nothing is spent, and nothing of the minute can be used.
      const quota = quotaOf(limiter.metersOf(key).minute, 0, now);
      return { quota, refusedBy: 'ban', refusal: refused('ban', servedAt, now) };
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

const NOT_JSON = refusal(415, 'unsupported_media_type', 'The body must be application/json in UTF-8.');

/** The server that the document describes. */
export function conformingDesign(options: ServiceOptions): Design {
  const { clockSpeed, clock = systemClock(clockSpeed), keys = demoKeys() } = options;
  const { enterprise = DOCUMENTED_PLANS.enterprise } = options;
  return {
    // Section 9: the version is part of the base address.
    basePath: '/v1',
    clock,
    keys,
    limitsOf: ({ plan }) => (plan === 'enterprise' ? enterprise : DOCUMENTED_PLANS[plan]),
    accountOf: (key) => key.name,
    minuteMeter: windowFromFirst,
    dayMeter: windowFromFirst,
    ban: { threshold: 10, seconds: 60, ...options.ban },
    nextId: ascendingIds(FIRST_ID_BEYOND_DOUBLES),
    seed: seedWithMixedIds,
    identify: identification(keys),
    admit: gatekeeper(),
    readListQuery,
    select: (query, { service }) => newestFirst(service.store, query),
    refuseMediaType: () => NOT_JSON,
    readNewPet,
    addPet: (animal, { service }) => service.store.add(animal),
    findPet(petId, { service }) {
      const id = int64FromPath(petId);
      return id === null ? null : service.store.find(id);
    },
    petText,
    finish: (answer) => answer,
    headers: standardHeaders,
    deliver: (response, { status, text }, headers) =>
      void response.writeHead(status, headers).end(utf8(text), 'latin1'),
  };
}
