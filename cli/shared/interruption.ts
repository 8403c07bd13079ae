import { EXIT } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A run that the user may end. */
export interface Interruption {
  /** Fires with the first signal. */
  readonly signal: AbortSignal;
  /** Stops listening for signals. */
  readonly release: () => void;
}

/**
 * Lets a run end in order at the first signal, and ends the process at the second.
 *
 * @param onFirst tells the user what happens now
 * @param onSecond leaves the terminal clean
 */
export function untilInterrupted(onFirst = () => {}, onSecond = () => {}): Interruption {
  const controller = new AbortController();
  const { signal } = controller;
  const react = (name: string) => {
    if (signal.aborted) {
      onSecond();
      process.exit(EXIT.interrupted);
    }
    onFirst();
    controller.abort(new Error(name));
  };
  for (const name of SIGNALS) process.on(name, react);
  const release = () => {
    for (const name of SIGNALS) process.off(name, react);
  };
  return { signal, release };
}

/** The name of the operating system's signal that ended a run, once it came. */
export const interruptedBy = (signal: AbortSignal | undefined): string | undefined =>
  signal?.reason instanceof Error ? signal.reason.message : undefined;
