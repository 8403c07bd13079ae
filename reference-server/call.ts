import type { IncomingMessage } from 'node:http';
import type { ApiKey } from './api-keys.ts';
import { MINUTE, type Quota } from './rate-limiter.ts';
import type { Route, Router } from './routing.ts';

/** Why a request with a valid key is refused. */
export type RefusedBy = 'minute' | 'day' | 'ban';

/** One request while it is being answered. */
export interface Call {
  readonly method: string;
  readonly target: string;
  readonly route: Route;
  /** Time of arrival, in milliseconds since 1970 by the server's clock. */
  readonly now: number;
  /** The Authorization field; null if there is none, or more than one. */
  readonly authorization: string | null;
  /** Number of Host fields. */
  readonly hosts: number;
  readonly request: IncomingMessage;
  /** The caller; null until a valid key is found. */
  key: ApiKey | null;
  /** The contents of the rate headers. */
  quota: Quota;
  /** Why a valid key was refused; null if it was not. */
  refusedBy: RefusedBy | null;
}

/**
 * The rate headers for a caller without a valid key: it has no requests, and the next minute brings none either. They
 * are the same for every such caller, so a flood of wrong keys leaves nothing behind.
 */
export function noQuota(now: number): Quota {
  return { limit: 0, remaining: 0, resetAt: Math.floor(now / MINUTE) * MINUTE + MINUTE };
}

/**
 * Reads the parts that every request has. The raw headers are scanned once, because building an object of all headers
 * would cost more than everything else here.
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
