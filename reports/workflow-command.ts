/**
 * A workflow command of GitHub Actions, which shows it as an annotation.
 *
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function workflowCommand(
  name: 'error' | 'warning' | 'notice',
  title: string,
  message: string,
): string {
  return `::${name} title=${escapeProperty(title)}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
