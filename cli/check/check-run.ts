import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JOURNAL_FILE, runClock } from '../../checks/check-target.ts';
import { pinnedProfileYaml } from '../../checks/profile/write-profile.ts';
import { allChecks } from '../../checks/sections/all-checks.ts';
import { buildReport, decidedCase } from '../../reports/build-report.ts';
import { FORMATS } from '../../reports/formats.ts';
import { reportOfNothing } from '../../reports/from-run.ts';
import { LiveTap } from '../../reports/pipelines/tap.ts';
import type { Report } from '../../reports/report.ts';
import { renderTerminal, wrap } from '../../reports/terminal.ts';
import { type BaselineEntry, gated } from '../../reports/verdict.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { writeNamed, writeReports } from '../../reports/write-reports.ts';
import { gaps } from '../../spec/contract.ts';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { untilInterrupted } from '../shared/interruption.ts';
import { screenOf } from '../shared/screen.ts';
import { print } from '../shared/standard-output.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { keepProfile, PROFILE_FILE, pointLatest } from './check-folder.ts';
import { type CheckOptions, commandOf } from './check-options.ts';
import { type DecidedEvent, decidedRow, factsOf, type JudgedCheck, judgedCheck } from './check-report.ts';
import type { CheckSubject } from './check-subject.ts';
import { type LiveView, liveView, silentView } from './live-view.ts';

/** Where a run's results go, and in which form. */
export interface CheckOutput {
  readonly directory: string;
  readonly format: 'human' | 'tap';
  readonly baseline: readonly BaselineEntry[];
  /** Real milliseconds that the run may take. */
  readonly timeLimit: number;
  /** More requests are not sent. */
  readonly mostRequests: number;
}

/** Checks the subject, shows the run and writes its results; returns the exit code. */
export async function runCheck(
  subject: CheckSubject,
  options: CheckOptions,
  output: CheckOutput,
): Promise<number> {
  const { directory, format } = output;
  const { stored } = subject;
  if (stored === undefined) keepProfile(directory, subject);
  else for (const warning of aboutStored(stored)) warn(warning);
  const command = commandOf(repeatable(options, subject));
  const { envFile } = options;
  const resume = commandOf(withoutUndefined({ resume: directory, envFile }));
  const view = viewOf(subject);
  const tap = format === 'tap' ? new LiveTap((text) => void process.stdout.write(text)) : undefined;
  const required = options.require?.includes('all') ? 'all' : (options.require ?? []);
  const decided = (event: DecidedEvent) => {
    if (tap === undefined) return;
    for (const row of gated([decidedRow(event, subject)], { required, baseline: output.baseline }))
      tap.decided(decidedCase(row, event.evidence?.[0]));
  };
  const interruption = untilInterrupted(
    () => view.note('stopping and saving what was measured; repeat the signal to end at once'),
    () => view.end(),
  );
  try {
    const judged = await judgedCheck(subject, {
      signal: interruption.signal,
      timeLimit: { longest: output.timeLimit, taken: performance.now() },
      mostRequests: output.mostRequests,
      directory,
      onEvent: (event) => {
        view.onEvent(event);
        if (event.kind === 'check-ended') decided(event);
      },
      command,
      profile: options.profile,
      ...(subject.embedded ? {} : { resume }),
      baseline: output.baseline,
      required,
      interrupted: () => interruption.by(),
    }).finally(() => view.end());
    if (stored?.offline !== true && !existsSync(join(directory, JOURNAL_FILE)))
      warn(
        `${directory} was removed during the run: its journal is lost, and it can be neither resumed nor rejudged`,
      );
    if (typeof judged !== 'string') return await judgedResults(judged, subject, options, directory, tap);
    // A pipeline collects what is in the folder, even if there was nothing to judge. An earlier result stays.
    if (interruption.by() === undefined && stored === undefined)
      await writeReports(reportOfNothing(factsOf(subject, command), judged), directory);
    return await notReady(judged, interruption.by(), directory, tap);
  } finally {
    interruption.release();
  }
}

/** Writes and shows the results of a run; returns the exit code. */
async function judgedResults(
  { report, warnings }: Exclude<JudgedCheck, string>,
  subject: CheckSubject,
  options: CheckOptions,
  directory: string,
  tap: LiveTap | undefined,
): Promise<number> {
  for (const warning of warnings) warn(warning);
  await writeReports(report, directory);
  pointLatest(directory);
  if (options.writeProfile !== undefined) await writeProfile(options.writeProfile, report, subject, options);
  if (tap !== undefined) {
    tap.end(buildReport(report));
    await print('');
    process.stderr.write(humanSummary(report, directory, process.stderr));
  } else await print(humanSummary(report, directory, process.stdout));
  return exitCode(report);
}

/** The result for a person: one screen, and the folder of the rest. */
function humanSummary(report: Report, directory: string, stream: NodeJS.WriteStream): string {
  return `${renderTerminal(buildReport(report), screenOf(stream, 1))}  results: ${directory} (${FORMATS.html.file} for a browser)\n`;
}

/** The options that repeat a run. A stored run is repeated with the profile in its folder. */
function repeatable(options: CheckOptions, { stored, only, embedded }: CheckSubject): CheckOptions {
  if (stored === undefined) return options;
  const { resume, rejudge, ...more } = options;
  return {
    ...more,
    ...(embedded ? {} : { profile: options.profile ?? join(stored.directory, PROFILE_FILE) }),
    ...withoutUndefined({ only }),
  };
}

const warn = (warning: string): void => void process.stderr.write(`warning: ${shownLine(warning, 300)}\n`);

/** What a user should know of a stored run. */
function aboutStored({ journal: { header, damage } }: NonNullable<CheckSubject['stored']>): string[] {
  const { harnessVersion } = header;
  return [
    ...(damage === undefined ? [] : [damage]),
    ...(harnessVersion === HARNESS_VERSION
      ? []
      : [
          `the stored run was started by petstore-harness ${harnessVersion}, and this is ${HARNESS_VERSION}: checks whose requests differ between the two are not judged`,
        ]),
  ];
}

/** Progress is shown on standard error. A run that is rejudged shows none. */
function viewOf({ profile, only, stored, clock }: CheckSubject): LiveView {
  if (stored?.offline === true) return silentView;
  return liveView(process.stderr, {
    clock: clock ?? runClock({ profile, ...withoutUndefined({ resume: stored?.journal }) }),
    simulated: clock !== undefined,
    checks: only?.length ?? allChecks.length,
  });
}

async function notReady(
  message: string,
  interrupted: string | undefined,
  directory: string,
  tap: LiveTap | undefined,
): Promise<number> {
  const line =
    interrupted === undefined
      ? `Nothing to judge: ${shownLine(message, 500)}`
      : `interrupted by ${interrupted} before anything was judged; what was exchanged so far is in ${join(directory, JOURNAL_FILE)}`;
  tap?.bailOut(line);
  await print('');
  const columns = process.stderr.isTTY ? process.stderr.columns : Number.POSITIVE_INFINITY;
  process.stderr.write(`${wrap(line, { columns }, 'error: ').join('\n')}\n`);
  return interrupted === undefined ? EXIT.nothingToJudge : EXIT.interrupted;
}

function exitCode({ run, verdict }: Report): number {
  if (run.interrupted !== undefined) return EXIT.interrupted;
  return {
    conformant: EXIT.conformant,
    'nothing-broken': EXIT.conformant,
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
    process.stderr.write(`${file} was not written: the run did not observe every answer\n`);
    return;
  }
  const written = options.profile === undefined ? undefined : await readFile(options.profile, 'utf8');
  const varying = new Set(gaps.flatMap(({ id, heldTo }) => (heldTo === undefined ? [] : [id])));
  const observed = report.gaps.flatMap(({ id, question, observed: answer }) =>
    answer === null || varying.has(id) ? [] : [{ id, question, answer }],
  );
  // Nothing is at the embedded server's address once it has ended.
  const lasting = embedded ? { ...profile, target: undefined } : profile;
  await writeNamed(file, pinnedProfileYaml(written, lasting, observed));
  process.stderr.write(`${file}: ${observed.length} answers pinned\n`);
}
