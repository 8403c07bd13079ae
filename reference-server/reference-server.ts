import { type ReferenceServer, type ReferenceServerOptions, startServer } from './server.ts';

/** How a reference server is started; everything has a default. */
export interface StartOptions extends Omit<ReferenceServerOptions, 'personalities'> {
  /** Name of the one thing that it does wrong; see `--list-faults`. */
  readonly fault?: string;
  /** Name of the conforming personality that it has instead of the usual one; see `--list-variants`. */
  readonly variant?: string;
}

/** Starts a reference server on loopback. */
export function startReferenceServer(options: StartOptions = {}): Promise<ReferenceServer> {
  return startServer(options);
}
