import { readFile } from 'node:fs/promises';
import { checkTarget, runClock } from '../../checks/check-target.ts';
import { pinnedProfileYaml } from '../../checks/profile/write-profile.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import type { Report } from '../../reports/report.ts';
import type { BaselineEntry } from '../../reports/verdict.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { writePrivately, writeReports } from '../../reports/write-reports.ts';
import { gaps } from '../../spec/contract.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { untilInterrupted } from '../shared/interruption.ts';
import { print } from '../shared/standard-output.ts';
import { keepProfile, pointLatest } from './check-folder.ts';
import { type CheckOptions, commandOf } from './check-options.ts';
import { humanSummary, journalHint, tapResult } from './check-output.ts';
import { judgedRun } from './check-report.ts';
import type { CheckSubject } from './check-subject.ts';
import { type LiveView, liveView, silentView } from './live-view.ts';

/** Where and how a run's results come out. */
export interface CheckOutput {
  readonly directory: string;
  readonly format: 'human' | 'tap';
  readonly baseline: readonly BaselineEntry[];
  /** Real milliseconds that the run may take. */
  readonly timeLimit: number;
}

/** Checks the subject, shows the run while it goes on, writes its results; returns the exit code. */
export async function runCheck(
  subject: CheckSubject,
  options: CheckOptions,
  output: CheckOutput,
): Promise<number> {
  const { directory, format } = output;
  const { stored, only } = subject;
  if (stored === undefined) keepProfile(directory, subject);
  else for (const warning of aboutStored(stored)) warn(warning);
  const view = viewOf(subject, format);
  const interruption = untilInterrupted(
    () => view.note('stopping, and writing down what was measured; once more ends at once'),
    () => view.end(),
  );
  try {
    const checked = await checkTarget({
      profile: subject.profile,
      values: subject.values,
      permissions: subject.permissions,
      signal: interruption.signal,
      timeLimit: { longest: output.timeLimit, taken: performance.now() },
      onEvent: (event) => view.onEvent(event),
      ...(only === undefined ? {} : { only }),
      ...(subject.clock === undefined ? {} : { clock: subject.clock }),
      ...(stored === undefined ? { directory } : { resume: stored.journal, offline: stored.offline }),
      ...(stored?.offline === false ? { directory } : {}),
    }).finally(() => view.end());
    if (checked.kind === 'not-ready') return await notReady(checked.message, interruption.by(), output);
    const report = judgedRun(checked, subject, {
      command: commandOf(options),
      baseline: output.baseline,
      ...(options.require === undefined
        ? {}
        : { required: options.require.includes('all') ? 'all' : options.require }),
      interrupted: interruption.by(),
    });
    for (const warning of checked.warnings) warn(warning);
    await writeReports(report, directory);
    pointLatest(directory);
    if (options.writeProfile !== undefined)
      await writeProfile(options.writeProfile, report, subject, options);
    await print(format === 'tap' ? await tapResult(report) : humanSummary(report, directory));
    return exitCode(report);
  } finally {
    interruption.release();
  }
}

const warn = (warning: string): void => void process.stderr.write(`warning: ${shownLine(warning, 300)}\n`);

/** Of a journal that is damaged altogether so many lines are told. */
const MOST_DAMAGES = 5;

/** What whoever judges a stored run should know of it. */
function aboutStored({ journal: { header, warnings } }: NonNullable<CheckSubject['stored']>): string[] {
  const { harnessVersion = HARNESS_VERSION } = header;
  const more = warnings.length - MOST_DAMAGES;
  return [
    ...warnings.slice(0, MOST_DAMAGES),
    ...(more > 0 ? [`… and ${more} more of the journal’s lines`] : []),
    ...(harnessVersion === HARNESS_VERSION
      ? []
      : [
          `the stored run was begun by petstore-harness ${harnessVersion}, and this is ${HARNESS_VERSION}: where the two ask otherwise nothing is judged`,
        ]),
  ];
}

/** TAP is for a program: progress goes to the person beside it, where there is one. */
function viewOf({ profile, only, stored, clock }: CheckSubject, format: CheckOutput['format']): LiveView {
  const stream = process.stderr;
  if (stored?.offline === true || (format === 'tap' && !stream.isTTY)) return silentView;
  return liveView(stream, {
    clock: clock ?? runClock({ profile, ...(stored === undefined ? {} : { resume: stored.journal }) }),
    checks: only?.length ?? allChecks.length,
  });
}

async function notReady(
  message: string,
  interrupted: string | undefined,
  { directory, format }: CheckOutput,
): Promise<number> {
  const line =
    interrupted === undefined
      ? shownLine(message, 500)
      : `interrupted by ${interrupted} before anything was judged; ${journalHint(directory)}`;
  if (format === 'tap') await print((await import('../../checks/conformance.tap.ts')).bailedOut(line));
  process.stderr.write(`error: ${line}\n`);
  return interrupted === undefined ? EXIT.nothingToJudge : EXIT.interrupted;
}

function exitCode({ run, verdict }: Report): number {
  if (run.interrupted !== undefined) return EXIT.interrupted;
  return {
    conformant: EXIT.conformant,
    'not-conformant': EXIT.notConformant,
    inconclusive: EXIT.inconclusive,
  }[verdict];
}

async function writeProfile(
  file: string,
  report: Report,
  { profile, embedded }: CheckSubject,
  options: CheckOptions,
): Promise<void> {
  if (report.run.interrupted !== undefined) {
    process.stderr.write(`${file} is not written: the run did not see every answer\n`);
    return;
  }
  const written = options.profile === undefined ? undefined : await readFile(options.profile, 'utf8');
  const varying = new Set(gaps.flatMap(({ id, heldTo }) => (heldTo === undefined ? [] : [id])));
  const observed = report.gaps.flatMap(({ id, question, observed: answer }) =>
    answer === null || varying.has(id) ? [] : [{ id, question, answer }],
  );
  // Nothing is at the embedded server's address once it has ended.
  const lasting = embedded ? { ...profile, target: undefined } : profile;
  await writePrivately(file, pinnedProfileYaml(written, lasting, observed));
  process.stderr.write(`${file}: ${observed.length} answers pinned\n`);
}
