import { hash, randomBytes } from 'node:crypto';
import { DOCUMENTED_PLANS, isPlan, type Plan } from './plans.ts';

/** An issued key, without its value: who is calling. */
export interface ApiKey {
  readonly name: string;
  readonly plan: Plan;
}

export interface IssuedKey extends ApiKey {
  readonly value: string;
}

const keysOf = (plan: Plan, ...names: readonly string[]): ApiKey[] =>
  names.map((name) => ({ name: `${plan}-${name}`, plan }));

const DEMO_KEYS: readonly ApiKey[] = [
  ...Object.keys(DOCUMENTED_PLANS)
    .filter(isPlan)
    .flatMap((plan) => keysOf(plan, '1', ...(plan === 'free' ? ['2', 'ban'] : []))),
  ...keysOf('business', 'load'),
  ...keysOf('enterprise', 'load'),
];

/** The built-in keys. Their values are new in every run, so that a leaked one does not stay valid. */
export function demoKeys(): IssuedKey[] {
  return DEMO_KEYS.map((key) => ({ ...key, value: `pet_${randomBytes(24).toString('base64url')}` }));
}

export type KeyFinder = (token: string) => ApiKey | null;

/**
 * Finds keys by their SHA-256, so the time of a look-up reveals nothing about a key's characters, and an unknown token
 * leaves nothing behind.
 */
export function keyFinder(keys: readonly IssuedKey[]): KeyFinder {
  const byDigest = new Map(keys.map(({ name, plan, value }) => [hash('sha256', value), { name, plan }]));
  return (token) => byDigest.get(hash('sha256', token)) ?? null;
}

/** The token of a bearer credential (RFC 6750, 2.1), or null. The scheme has no case (RFC 9110, 11.1). */
export function bearerToken(authorization: string | null): string | null {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? null;
}
