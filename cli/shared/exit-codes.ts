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

/** Nothing can be judged: the target was not reached, is not the service, or refused every key. */
export class NothingToJudge extends Error {
  override readonly name = 'NothingToJudge';
}

/**
 * The exit codes of errors that are no defect of the harness, by their names: importing their classes would load too
 * much. Their messages have a line for each problem.
 */
export const EXIT_OF: Readonly<Record<string, number>> = {
  UsageError: EXIT.usage,
  UnknownNameError: EXIT.usage,
  TargetNotReady: EXIT.inconclusive,
  K6Unavailable: EXIT.inconclusive,
  NothingToJudge: EXIT.nothingToJudge,
};
