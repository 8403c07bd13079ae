import { type Clocked, toldEnd } from '../limits/told-time.ts';
import type { Permission } from '../profile/permissions.ts';
import type { KeyRole, PlanName } from '../profile/target-profile.ts';
import type { AnsweredExchange } from '../wire/exchange.ts';

/** Which key a profile lacks for a requirement. */
export interface KeyWanted {
  readonly role?: KeyRole;
  readonly plan?: PlanName;
  /** How many keys at least. */
  readonly count?: number;
  /** Only a key whose plan admits no more requests a minute. */
  readonly perMinuteAtMost?: number;
}

/**
 * Why a row has its verdict, as data: whatever decides by it reads these fields, and reports make the sentence. `what` is
 * what was seen, in words; `blames` are the ids of the rows that explain this one where they did not pass.
 */
export type Reason =
  | { readonly kind: 'held'; readonly times: number }
  | { readonly kind: 'broken'; readonly times: number }
  | { readonly kind: 'not-permitted'; readonly permission: Permission }
  | { readonly kind: 'left-out' }
  | { readonly kind: 'no-key'; readonly wanted: KeyWanted }
  /** The requirement does not bind this target. */
  | { readonly kind: 'unbound'; readonly what: string }
  /** Our reading of the document, which the profile declines: what was seen of it. */
  | { readonly kind: 'declined'; readonly what: string }
  /** No exchange of the run is about it. */
  | { readonly kind: 'not-shown'; readonly blames?: readonly string[] }
  /** It was asked for, and what came does not tell. */
  | { readonly kind: 'not-told'; readonly what: string; readonly blames?: readonly string[] }
  /** An answer that was needed did not come. */
  | { readonly kind: 'lost'; readonly what: string }
  /** Somebody else used the key. */
  | { readonly kind: 'interference'; readonly what: string; readonly key?: string }
  /** The key has no requests left for its day, as far as its refusals tell; `until` is when it has again, by our clock. */
  | { readonly kind: 'day-spent'; readonly what: string; readonly key: string; readonly until?: number }
  /** Nothing more was sent. */
  | {
      readonly kind: 'ended';
      readonly by: 'interruption' | 'time-limit' | 'target-gone' | 'bill';
      readonly what: string;
    }
  /** A stored run lacks a scene. */
  | { readonly kind: 'not-stored'; readonly scene: string }
  /** Something makes the whole run doubtful as evidence. */
  | { readonly kind: 'in-doubt'; readonly what: string };

/** Words alone say what was seen and does not tell. */
export const reasonOf = (reason: Reason | string): Reason =>
  typeof reason === 'string' ? { kind: 'not-told', what: reason } : reason;

/** No exchange of the run is about it, and these rows explain why. */
export const notShown = (...blames: readonly string[]): Reason => ({ kind: 'not-shown', blames });

/** What came does not tell, and these rows explain why. */
export const notTold = (what: string, ...blames: readonly string[]): Reason => ({
  kind: 'not-told',
  what,
  blames,
});

/** A key was refused for its day, as far as the refusal tells. */
export function daySpent(clocked: Clocked, refusal: AnsweredExchange): Reason {
  const key = refusal.key ?? '';
  const until = toldEnd(clocked, refusal);
  const again =
    until === undefined ? '' : `, and has again at ${new Date(until).toISOString().slice(0, 16)}Z`;
  const what = `key ${key} has no requests left for its day, as it seems${again}`;
  return { kind: 'day-spent', what, key, ...(until === undefined ? {} : { until }) };
}
