import { stringify } from 'yaml';
import type { TestCase, TestRun } from './test-run.ts';

/** TAP 14: a point for the run itself, and one per case. What could not be told is `not ok`; a skip reads as green. */
export function renderTap({ name, headline, problems, cases }: TestRun): string {
  const run = tapPoint(
    1,
    problems.length === 0,
    `${name}: ${headline}`,
    '',
    problems.length > 0 ? { problems } : undefined,
  );
  const points = cases.map((one, index) => casePoint(one, index + 2));
  return `TAP version 14\n1..${points.length + 1}\n${run}${points.join('')}`;
}

function casePoint({ name, standing, reason, facts }: TestCase, number: number): string {
  if (standing === 'passed') return tapPoint(number, true, name, '');
  if (standing === 'skipped' || standing === 'noted') return tapPoint(number, true, name, `SKIP ${reason}`);
  const directive = standing === 'known' ? 'TODO known failure, listed in the baseline' : '';
  return tapPoint(number, false, name, directive, { reason, ...facts });
}

function tapPoint(
  number: number,
  ok: boolean,
  description: string,
  directive: string,
  diagnostic?: object,
): string {
  const suffix = directive === '' ? '' : ` # ${escapeHash(directive)}`;
  const head = `${ok ? 'ok' : 'not ok'} ${number} - ${escapeHash(description)}${suffix}\n`;
  if (diagnostic === undefined) return head;
  const yaml = stringify(diagnostic, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?!$)/gm, '  ');
  return `${head}  ---\n${yaml}\n  ...\n`;
}

/** In a description and a directive `#` would begin a directive, and `\` escapes it. */
function escapeHash(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}
