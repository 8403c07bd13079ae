import { deviating } from './deviations/deviation.ts';
import { EVERY_FAULT } from './deviations/faults/index.ts';
import { named } from './deviations/named.ts';
import { EVERY_VARIANT } from './deviations/variants/index.ts';
import { type ReferenceServer, type ServerOptions, startServer } from './server.ts';

/** How a reference server is started; everything has a default. */
export interface StartOptions extends Omit<ServerOptions, 'design'> {
  /** The name of a fault, or of several; see `faults/`. */
  readonly fault?: string | readonly string[];
  /** The name of a conforming variant; see `variants/`. */
  readonly variant?: string;
}

/**
 * Starts a reference server on loopback. If both are named, the fault is applied on top of the variant.
 *
 * @throws UnknownNameError for a fault or variant that does not exist
 */
export async function startReferenceServer(options: StartOptions = {}): Promise<ReferenceServer> {
  const variants = [options.variant ?? []].flat().map((name) => named('variant', name, EVERY_VARIANT));
  const faults = [options.fault ?? []].flat().map((name) => named('fault', name, EVERY_FAULT));
  const deviations = [...variants, ...faults].map(({ deviation }) => deviation);
  return startServer({ ...options, design: (usual) => deviating(usual, deviations) });
}
