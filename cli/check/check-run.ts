import { existsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JOURNAL_FILE, runClock } from '../../checks/check-target.ts';
import { pinnedProfileYaml, profileYaml } from '../../checks/profile/write-profile.ts';
import { decidedCase } from '../../reports/build-report.ts';
import { FORMATS } from '../../reports/formats.ts';
import { liveTap } from '../../reports/pipelines/tap.ts';
import type { Report } from '../../reports/report.ts';
import { renderTerminal } from '../../reports/terminal.ts';
import type { Gate } from '../../reports/verdict.ts';
import { shownLine } from '../../reports/visible-text.ts';
import { writeNamed, writeReports } from '../../reports/write-reports.ts';
import { gaps } from '../../spec/contract.ts';
import { wrap } from '../../spec/text-table.ts';
import { EXIT } from '../shared/exit-codes.ts';
import { untilInterrupted } from '../shared/interruption.ts';
import { screenOf } from '../shared/screen.ts';
import { PROFILE_FILE, pointLatest } from './check-folder.ts';
import type { CheckOptions } from './check-options.ts';
import { judgedCheck } from './check-report.ts';
import type { CheckSubject } from './check-subject.ts';
import { liveView } from './live-view.ts';

/** Checks the subject, shows the run and writes its results; returns the exit code. */
export async function runCheck(
  subject: CheckSubject & { readonly directory: string },
  options: CheckOptions,
  baseline: Gate['baseline'],
): Promise<number> {
  const { directory, resume } = subject;
  if (resume === undefined) keepProfile(directory, subject);
  if (resume?.damage !== undefined) warn(resume.damage);
  const view = liveView(process.stderr, runClock(subject), subject);
  const format = options.format ?? (process.stdout.isTTY ? 'human' : 'tap');
  const tap = format === 'tap' ? liveTap((text) => void process.stdout.write(text)) : undefined;
  const { signal, release } = untilInterrupted(
    () => view.note('stopping and saving what was measured; repeat the signal to end at once'),
    () => view.end(),
  );
  const run = { ...subject, signal, onEvent: view.onEvent };
  try {
    const { report, checked } = await judgedCheck(run, options, baseline, (row, decisive) =>
      tap?.decided(decidedCase(row, decisive)),
    ).finally(() => view.end());
    if (checked.nothingToJudge !== undefined) {
      const { interrupted } = report.run;
      const line =
        interrupted === undefined
          ? `Nothing to judge: ${shownLine(checked.nothingToJudge, 500)}`
          : `interrupted by ${interrupted} before anything was judged; what was exchanged so far is in ${join(directory, JOURNAL_FILE)}`;
      // A pipeline collects what is in the folder, even if there was nothing to judge. An earlier result stays.
      if (interrupted === undefined && resume === undefined) await writeReports(report, directory);
      tap?.bailOut(line);
      process.stderr.write(`error: ${line}\n`);
      return interrupted === undefined ? EXIT.nothingToJudge : EXIT.interrupted;
    }
    if (subject.offline !== true && !existsSync(join(directory, JOURNAL_FILE)))
      warn(
        `${directory} was removed during the run: its journal is lost, and it can be neither resumed nor rejudged`,
      );
    for (const warning of checked.warnings) warn(warning);
    const built = await writeReports(report, directory);
    pointLatest(directory);
    if (options.writeProfile !== undefined)
      await writeProfile(options.writeProfile, report, subject, options);
    tap?.end(built);
    const stream = tap === undefined ? process.stdout : process.stderr;
    const screen = screenOf(stream);
    const where = wrap(`results: ${directory} (${FORMATS.html.file} for a browser)`, screen, '  ').join('\n');
    stream.write(`${renderTerminal(built, screen)}${where}\n`);
    return report.run.interrupted === undefined ? EXIT_FOR[built.verdict] : EXIT.interrupted;
  } finally {
    release();
  }
}

/** Keeps the run's profile and permissions beside its journal, without the address of an embedded server. */
function keepProfile(directory: string, { profile, permissions: permit, embedded }: CheckSubject): void {
  // Whoever judges a stored run runs no code that its folder names.
  const text = profileYaml({ ...profile, target: embedded ? undefined : profile.target, permit, rules: [] });
  writeFileSync(join(directory, PROFILE_FILE), text, { mode: 0o600 });
}

const warn = (warning: string): void => void process.stderr.write(`warning: ${shownLine(warning, 300)}\n`);

const EXIT_FOR = {
  pass: EXIT.conformant,
  fail: EXIT.notConformant,
  inconclusive: EXIT.inconclusive,
} as const;

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
