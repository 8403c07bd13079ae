import { randomBytes } from 'node:crypto';
import type { Plan } from './plans.ts';

/** An issued key, without its value: who is calling. */
export interface ApiKey {
  readonly name: string;
  readonly plan: Plan;
}

export interface IssuedKey extends ApiKey {
  readonly value: string;
}

const DEMO_KEYS: readonly ApiKey[] = [
  { name: 'free-1', plan: 'free' },
  { name: 'free-2', plan: 'free' },
  { name: 'free-ban', plan: 'free' },
  { name: 'pro-1', plan: 'pro' },
  { name: 'business-1', plan: 'business' },
  { name: 'business-load', plan: 'business' },
  { name: 'enterprise-1', plan: 'enterprise' },
  { name: 'enterprise-load', plan: 'enterprise' },
];

/** The built-in keys. Their values are new in every run, so that a leaked one does not stay valid. */
export const demoKeys = (): IssuedKey[] =>
  DEMO_KEYS.map((key) => ({ ...key, value: `pet_${randomBytes(24).toString('base64url')}` }));

/** The token of a bearer credential (RFC 6750, 2.1), or null. The scheme has no case (RFC 9110, 11.1). */
export function bearerToken(authorization: string | null): string | null {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? null;
}
