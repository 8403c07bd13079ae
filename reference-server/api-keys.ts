import { hash, randomBytes } from 'node:crypto';
import type { Plan } from './plans.ts';

/** An issued key, without its value: who is calling. */
export interface ApiKey {
  readonly name: string;
  readonly plan: Plan;
}

/** A key with its value, as configured. */
export interface IssuedKey extends ApiKey {
  readonly value: string;
}

const DEMO_KEYS: readonly ApiKey[] = [
  { name: 'free-1', plan: 'free' },
  { name: 'free-2', plan: 'free' },
  { name: 'free-ban', plan: 'free' },
  { name: 'pro-1', plan: 'pro' },
  { name: 'business-1', plan: 'business' },
  { name: 'enterprise-1', plan: 'enterprise' },
  { name: 'business-load', plan: 'business' },
  { name: 'enterprise-load', plan: 'enterprise' },
];

/** The built-in keys. Their values are new in every run, so that a leaked one does not stay valid. */
export function demoKeys(): IssuedKey[] {
  return DEMO_KEYS.map((key) => ({ ...key, value: `pet_${randomBytes(24).toString('base64url')}` }));
}

function digest(value: string): string {
  return hash('sha256', value, 'base64');
}

/**
 * Finds the key for a token. Keys are stored by their SHA-256, so the time of a look-up reveals nothing about a key's
 * characters, and an unknown token leaves nothing behind.
 */
export class KeyRing {
  readonly #byDigest = new Map<string, ApiKey>();

  constructor(keys: readonly IssuedKey[]) {
    for (const { name, plan, value } of keys) this.#byDigest.set(digest(value), { name, plan });
  }

  find(token: string): ApiKey | null {
    return this.#byDigest.get(digest(token)) ?? null;
  }

  all(): ApiKey[] {
    return [...this.#byDigest.values()];
  }
}

/**
 * The token of a bearer credential (RFC 6750, 2.1), or null. The scheme is case-insensitive (RFC 9110, 11.1), the token
 * is not.
 */
export function bearerToken(authorization: string | null): string | null {
  if (authorization === null || authorization.length < 8) return null;
  if (!authorization.startsWith('Bearer ') && authorization.slice(0, 7).toLowerCase() !== 'bearer ')
    return null;
  const token =
    authorization.charCodeAt(7) === 32 ? authorization.slice(7).trimStart() : authorization.slice(7);
  return token === '' ? null : token;
}
