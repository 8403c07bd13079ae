import type { IncomingMessage } from 'node:http';
import type { ApiKey } from './api-keys.ts';
import { MINUTE, type Quota } from './rate-limiter.ts';
import type { Route, Router } from './routing.ts';

/** What stands between a valid key and an answer. */
export type RefusedBy = 'minute' | 'day' | 'ban';

/** One request while it is being answered. */
export interface Call {
  readonly method: string;
  readonly target: string;
  readonly route: Route;
  /** When it arrived, in milliseconds since 1970 by the server's clock. */
  readonly now: number;
  /** The Authorization field; null where there is none, or more than one. */
  readonly authorization: string | null;
  /** How many Host fields it has. */
  readonly hosts: number;
  readonly request: IncomingMessage;
  /** Who calls; null until a valid key was found. */
  key: ApiKey | null;
  /** What the rate headers will say. */
  quota: Quota;
  /** Why a valid key was refused; null where it was not. */
  refusedBy: RefusedBy | null;
}

/**
 * What the rate headers say to a caller without a valid key: it has no requests, and the next minute brings none
 * either. It is the same for every such caller, so that a flood of wrong keys leaves nothing behind.
 */
export function noQuota(now: number): Quota {
  return { limit: 0, remaining: 0, resetAt: Math.floor(now / MINUTE) * MINUTE + MINUTE };
}

/**
 * Reads what every request has. The raw headers are walked once: building the object of all headers costs more than
 * everything else here.
 */
export function openCall(request: IncomingMessage, now: number, router: Router): Call {
  const raw = request.rawHeaders;
  let authorization: string | null = null;
  let authorizations = 0;
  let hosts = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') {
      authorization = raw[at + 1] ?? null;
      authorizations += 1;
    }
  }
  const method = request.method ?? '';
  const target = request.url ?? '';
  return {
    method,
    target,
    route: router(method, target),
    now,
    authorization: authorizations === 1 ? authorization : null,
    hosts,
    request,
    key: null,
    quota: noQuota(now),
    refusedBy: null,
  };
}
