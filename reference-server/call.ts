import type { IncomingMessage } from 'node:http';
import type { ApiKey } from './api-keys.ts';
import { MINUTE, type Quota } from './rate-limiter.ts';

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
  readonly route: Route;
  /** Time of arrival, in milliseconds since 1970 by the server's clock. */
  readonly now: number;
  /** The Authorization field; null if there is none, or more than one. */
  readonly authorization: string | null;
  readonly request: IncomingMessage;
  /** The caller; null until a valid key is found. */
  key: ApiKey | null;
  quota: Quota;
  refusedBy: RefusedBy | null;
}

/** The rate headers of every caller without a valid key, so that a flood of wrong keys leaves nothing behind. */
export function noQuota(now: number): Quota {
  return { limit: 0, remaining: 0, resetAt: Math.floor(now / MINUTE) * MINUTE + MINUTE };
}
