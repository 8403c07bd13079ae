import type { Variant } from './variant.ts';

/** Every conforming personality that the server can have instead of its usual one. */
export const VARIANTS: readonly Variant[] = [];
