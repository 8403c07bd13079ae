import { FAULTS, LOAD_FAULTS } from './deviations/faults/index.ts';
import { named } from './deviations/named.ts';
import { type Personality, together } from './deviations/personality.ts';
import { VARIANTS } from './deviations/variants/index.ts';
import { type ReferenceServer, type ServerOptions, startServer } from './server.ts';

/** How a reference server is started; everything has a default. */
export interface StartOptions extends Omit<ServerOptions, 'recipe' | 'behaviour'> {
  /** Name of the one thing that it does wrong, or of several; see `faults/`. */
  readonly fault?: string | readonly string[];
  /** Name of the conforming personality that it has instead of the usual one; see `variants/`. */
  readonly variant?: string;
}

/**
 * Starts a reference server on loopback. A fault comes on top of a variant where both are named.
 *
 * @example
 * ```ts
 * const server = await startReferenceServer({ fault: 'filter-ignored' });
 * await fetch(`${server.baseUrl}/pets`, { headers: { authorization: `Bearer ${server.keys[0]?.value}` } });
 * await server.close();
 * ```
 * @throws UnknownNameError for a fault or variant that does not exist
 */
export async function startReferenceServer(options: StartOptions = {}): Promise<ReferenceServer> {
  const personalities: Personality[] = [];
  if (options.variant !== undefined) personalities.push(named('variant', options.variant, VARIANTS));
  for (const fault of [options.fault ?? []].flat())
    personalities.push(named('fault', fault, [...FAULTS, ...LOAD_FAULTS]));
  return startServer({ ...options, ...together(...personalities) });
}
