import { FAULTS, LOAD_FAULTS } from './deviations/faults/index.ts';
import { named } from './deviations/named.ts';
import { type Personality, together } from './deviations/personality.ts';
import { VARIANTS } from './deviations/variants/index.ts';
import { type ReferenceServer, type ServerOptions, startServer } from './server.ts';

/** How a reference server is started; everything has a default. */
export interface StartOptions extends Omit<ServerOptions, 'recipe' | 'behaviour'> {
  /** The name of a fault, or of several; see `faults/`. */
  readonly fault?: string | readonly string[];
  /** The name of a conforming variant; see `variants/`. */
  readonly variant?: string;
}

/**
 * Starts a reference server on loopback. If both are named, the fault is applied on top of the variant.
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
