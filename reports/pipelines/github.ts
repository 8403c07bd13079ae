import { groupBy } from '../../spec/group-by.ts';
import { count } from '../facts.ts';
import { factLines, type TestCase, type TestRun } from '../test-run.ts';

/**
 * Workflow commands that GitHub Actions shows as annotations: `::error` for what is broken or drifted, `::warning` for
 * what was not verified, `::notice` for known failures and what was noted. GitHub shows only the first ten of each kind
 * in a step. So failures with one cause share an annotation, and so does what was not verified for one reason.
 */
export function renderGithubAnnotations({ name, headline, problems, cases }: TestRun): string {
  const failed = new Set(cases.filter(({ standing }) => standing === 'fail').map(({ id }) => id));
  const isFolded = ({ consequenceOf }: TestCase) => consequenceOf !== undefined && failed.has(consequenceOf);
  const standingAs = (standing: TestCase['standing']) =>
    cases.filter((one) => one.standing === standing && !isFolded(one));
  const idList = (list: readonly TestCase[]) => list.map(({ id }) => id).join(', ');
  return [
    ...problems.map((problem) => workflowCommand('error', `${name}: ${headline}`, problem)),
    ...standingAs('fail').map((one) => {
      const follow = cases.filter(({ consequenceOf }) => consequenceOf === one.id);
      const told = [
        one.reason,
        ...factLines({ ...one.about, ...one.facts }),
        ...(follow.length === 0 ? [] : [`Follows from it: ${idList(follow)}`]),
      ];
      return workflowCommand('error', one.name, told.join('\n'));
    }),
    ...[...groupBy(standingAs('inconclusive'), ({ reason }) => reason)].map(([reason, group]) =>
      workflowCommand(
        'warning',
        `Not verified: ${count(group.length, 'case')}`,
        `${reason}\n${idList(group)}`,
      ),
    ),
    ...[...standingAs('known'), ...standingAs('noted')].map((one) =>
      workflowCommand('notice', one.name, one.reason),
    ),
  ].join('');
}

/** @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
function workflowCommand(name: 'error' | 'warning' | 'notice', title: string, message: string): string {
  const property = escapeData(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${name} title=${property}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
