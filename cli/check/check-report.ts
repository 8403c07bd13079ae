import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type CheckedTarget, checkTarget, JOURNAL_FILE } from '../../checks/check-target.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import type { Exchange } from '../../checks/wire/exchange.ts';
import { reportOf, requirementRow } from '../../reports/from-run.ts';
import type { Report, RequirementResult } from '../../reports/report.ts';
import { type Gate, gated } from '../../reports/verdict.ts';
import { requirement } from '../../spec/contract.ts';
import { interruptedBy } from '../shared/interruption.ts';
import { PROFILE_FILE } from './check-folder.ts';
import { type CheckOptions, commandOf } from './check-options.ts';
import type { CheckSubject } from './check-subject.ts';

/**
 * Checks the subject and makes the report.
 *
 * @param onDecided told of each row as soon as it is decided, with its decisive exchange; the end may still change it
 */
export async function judgedCheck(
  subject: CheckSubject,
  options: CheckOptions,
  baseline: Gate['baseline'],
  onDecided?: (row: RequirementResult, decisive: Exchange | undefined) => void,
): Promise<{ readonly report: Report; readonly checked: CheckedTarget }> {
  const { directory = '', embedded, traffic, signal } = subject;
  const gate = { required: options.require ?? [], baseline };
  const onEvent = (event: RunEvent) => {
    subject.onEvent?.(event);
    if (event.kind !== 'check-ended') return;
    const decided = requirementRow(requirement(event.id), event, subject.profile);
    for (const row of gated([decided], gate)) onDecided?.(row, event.evidence[0]);
  };
  const checked = await checkTarget({ ...subject, onEvent });
  // Who watches ends it so.
  const interrupted = traffic === undefined ? interruptedBy(signal) : undefined;
  const goesOn = interrupted !== undefined && !embedded && existsSync(join(directory, JOURNAL_FILE));
  const report = reportOf(checked, subject, {
    ...gate,
    command: commandOf(repeatable(options, subject)),
    profile: options.profile && relative('', options.profile),
    interrupted,
    resume: goesOn ? commandOf({ resume: directory, envFile: options.envFile }) : undefined,
  });
  return { report, checked };
}

/** The options that repeat a run. A stored run is repeated with the profile in its folder. */
function repeatable(options: CheckOptions, { stored, only, embedded }: CheckSubject): CheckOptions {
  if (stored === undefined) return options;
  const { resume, rejudge, header, ...more } = options;
  const profile = embedded ? undefined : join(stored, PROFILE_FILE);
  return { ...more, profile, only };
}
