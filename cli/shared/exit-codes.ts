/** What the exit codes of the commands mean; k6's own 99 and its other codes are the load command's. */
export const EXIT = {
  conformant: 0,
  notConformant: 1,
  usage: 2,
  inconclusive: 3,
  /** The target was not reached, is not the service, or refused every key. */
  nothingToJudge: 4,
  /** `EX_SOFTWARE` of sysexits.h: the harness itself is broken, which says nothing about the target. */
  crash: 70,
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
