/** The exit codes of the commands. `load` also passes on those of k6. */
export const EXIT = {
  conformant: 0,
  /** For a comparison: the newer one is worse. */
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

/** Wrong usage, an invalid profile, results that cannot be written: a line for each problem, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Names of errors that are wrong usage. Importing their classes would load too much. */
const WRONG_USAGE = new Set([
  'UsageError',
  'ResultUnreadable',
  'MergeRefused',
  'LoadRefused',
  'SloError',
  'UnknownNameError',
  'UnwritableReport',
]);

/** Whether the user can correct the error. The message has a line for each problem. */
export function isWrongUsage(error: unknown): error is Error {
  return error instanceof Error && WRONG_USAGE.has(error.name);
}
