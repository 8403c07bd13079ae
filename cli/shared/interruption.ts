import { EXIT } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets a run end in order at the first signal, and ends the process at the second.
 *
 * @param onFirst tells the user what happens now
 * @param onSecond leaves the terminal clean
 * @returns what fires with the first signal, and what stops listening
 */
export function untilInterrupted(
  onFirst = () => {},
  onSecond = () => {},
): { readonly signal: AbortSignal; readonly release: () => void } {
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
