/** What the exit codes of the commands mean; those of k6 are the load command's. */
export const EXIT = {
  conformant: 0,
  /** Of a comparison: the newer one is worse. */
  notConformant: 1,
  usage: 2,
  inconclusive: 3,
  /** The target was not reached, is not the service, or refused every key. */
  nothingToJudge: 4,
  /** `EX_SOFTWARE` of sysexits.h: the harness itself is broken, which says nothing about the target. */
  crash: 70,
  /** k6's own code for a threshold that was crossed. */
  thresholdBroken: 99,
  interrupted: 130,
} as const;

/** Wrong usage, a profile that is not valid, results that cannot be written: one line each, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Errors that are wrong usage, by name: the class of each comes with all that throws it. */
const WRONG_USAGE = new Set([
  'UsageError',
  'ResultUnreadable',
  'MergeRefused',
  'LoadRefused',
  'SloError',
  'UnknownNameError',
  'KeyFileError',
  'UnwritableReport',
]);

/** Whether whoever called the command can mend it; the message has a line for each problem. */
export function isWrongUsage(error: unknown): error is Error {
  return error instanceof Error && WRONG_USAGE.has(error.name);
}
