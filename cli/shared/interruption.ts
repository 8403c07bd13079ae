import { EXIT } from './exit-codes.ts';

/** How a run is asked to end. */
export interface Interruption {
  /** Fires with the first signal. */
  readonly signal: AbortSignal;
  /** The first signal's name; undefined until one came. */
  readonly by: () => string | undefined;
  /** Stops listening for signals. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets a run end in order at the first signal, and ends the process at the second.
 *
 * @param onFirst tells the user what happens now
 * @param onSecond leaves the terminal clean
 */
export function untilInterrupted(onFirst = () => {}, onSecond = () => {}): Interruption {
  const controller = new AbortController();
  let by: string | undefined;
  const react = (name: string) => {
    if (by !== undefined) {
      onSecond();
      process.exit(EXIT.interrupted);
    }
    by = name;
    onFirst();
    controller.abort(new Error(name));
  };
  for (const name of SIGNALS) process.on(name, react);
  return {
    signal: controller.signal,
    by: () => by,
    release: () => {
      for (const name of SIGNALS) process.off(name, react);
    },
  };
}
