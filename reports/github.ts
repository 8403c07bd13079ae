import { byReason, driftLine, failureLine, outcome, unexplainedVerdict } from './outcome.ts';
import type { Report } from './report.ts';
import { shownLine } from './visible-text.ts';
import { workflowCommand } from './workflow-command.ts';

/**
 * Workflow commands that GitHub Actions shows as annotations: `::error` for what is broken or drifted, `::warning` for
 * what was not verified, `::notice` for known failures. Of each kind GitHub shows the first ten of a step, so rows
 * that were not verified for the same reason share one.
 */
export function renderGithubAnnotations(report: Report): string {
  const { broken, drifted, notVerified, known, headline } = outcome(report);
  const problem = unexplainedVerdict(report);
  return [
    ...(problem === undefined ? [] : [workflowCommand('error', shownLine(headline), shownLine(problem))]),
    ...broken.map((row) =>
      workflowCommand(
        'error',
        `${row.id} (section ${row.section}): ${shownLine(row.title)}`,
        [
          shownLine(failureLine(row), 400),
          `The document asks: ${shownLine(row.statement, 500)}`,
          ...(row.actual === undefined ? [] : [`What came back: ${shownLine(row.actual, 500)}`]),
          ...(row.curl === undefined ? [] : [shownLine(row.curl, 1_000)]),
        ].join('\n'),
      ),
    ),
    ...drifted.map((gap) =>
      workflowCommand('error', `${gap.id} (section ${gap.section}) has drifted`, shownLine(driftLine(gap))),
    ),
    ...byReason(notVerified).map(({ reason, rows }) =>
      workflowCommand(
        'warning',
        `Not verified: ${rows.length} of ${report.requirements.length} requirements`,
        `${shownLine(reason, 300)}\n${rows.map(({ id }) => id).join(', ')}`,
      ),
    ),
    ...known.map((row) => workflowCommand('notice', `Known failure: ${row.id}`, shownLine(row.reason, 300))),
  ].join('');
}
