import { type CheckedTarget, checkTarget } from '../../checks/check-target.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import type { Exchange } from '../../checks/wire/exchange.ts';
import { type Asked, reportOf, requirementRow } from '../../reports/from-run.ts';
import type { Report, RequirementResult } from '../../reports/report.ts';
import { gated } from '../../reports/verdict.ts';
import { requirement } from '../../spec/contract.ts';
import { interruptedBy } from '../shared/interruption.ts';
import type { CheckSubject } from './check-subject.ts';

/** What is asked of a run beside its checks. */
export interface AskedOfRun extends Omit<Asked, 'resume' | 'interrupted'> {
  /** The command that continues a run that was cut short, if its journal is there. */
  readonly resume?: () => string | undefined;
  /** Told of each row as soon as it is decided, with its decisive exchange. The end of the run may still change it. */
  readonly onDecided?: (row: RequirementResult, decisive: Exchange | undefined) => void;
}

/** Checks the subject and makes the report. */
export async function judgedCheck(
  subject: CheckSubject,
  { onDecided, resume, ...asked }: AskedOfRun,
): Promise<{ readonly report: Report; readonly checked: CheckedTarget }> {
  const onEvent = (event: RunEvent) => {
    subject.onEvent?.(event);
    if (event.kind !== 'check-ended') return;
    const decided = requirementRow(requirement(event.id), event, subject.profile);
    for (const row of gated([decided], asked)) onDecided?.(row, event.evidence[0]);
  };
  const checked = await checkTarget({ ...subject, onEvent });
  // Who watches ends it so.
  const interrupted = subject.traffic === undefined ? interruptedBy(subject.signal) : undefined;
  const told = { ...asked, interrupted, resume: interrupted && resume?.() };
  return { report: reportOf(checked, subject, told), checked };
}
