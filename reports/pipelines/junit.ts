// Its escapes are also those of XML.
import { type SafeHtml, html as xml } from '@remix-run/html-template';
import { groupBy } from '../../spec/group-by.ts';
import { toldFacts } from '../facts.ts';
import { factLines, RUN_SUITE, runItself, type Standing, type TestCase, type TestRun } from '../test-run.ts';

/**
 * The element in a case. What could not be judged is an `<error>`, JUnit's word for a test that could not be carried
 * out. Pipelines show `<skipped>` as green, so it is only for what does not gate.
 */
const TAG: Partial<Record<Standing, 'failure' | 'error'>> = { fail: 'failure', inconclusive: 'error' };
const tagOf = ({ standing }: TestCase) => TAG[standing] ?? (standing === 'pass' ? undefined : 'skipped');

/** JUnit XML: a suite for the run itself, and one for each group of cases. */
export function renderJunit(testRun: TestRun): string {
  const { facts, run } = testRun;
  const suites = groupBy([runItself(testRun), ...testRun.cases], ({ suite }) => suite);
  const whole = { name: 'petstore-harness', ...totals([...suites.values()].flat()) };
  const timestamp = run.startedAt.replace(/(\.\d+)?Z$/, '');
  const text = xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites${attributes({ ...whole, time: run.durationSeconds.toFixed(3) })}>
${[...suites].map(
  ([
    name,
    group,
  ]) => xml`  <testsuite${attributes({ name, ...totals(group), time: inSeconds(group), timestamp })}>
${name === RUN_SUITE ? xml`    <properties>\n${toldFacts(facts).map(([label, value]) => xml`      <property${attributes({ name: label, value })}/>\n`)}    </properties>\n` : ''}${group.map(testCase)}  </testsuite>
`,
)}</testsuites>
`;
  // What XML 1.0 cannot contain is written out already.
  return String(text);
}

const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values).map(([name, value]) => xml` ${name}="${value}"`);

/** How long the exchanges of cases took. */
const inSeconds = (cases: readonly TestCase[]) =>
  cases.reduce((sum, { seconds = 0 }) => sum + seconds, 0).toFixed(3);

function testCase(one: TestCase): SafeHtml {
  const { suite, name, standing, reason: message } = one;
  const facts = attributes({
    name,
    // Consumers read a dot as a package boundary, so a section's number must not bring its own.
    classname: `petstore-harness.${suite.replaceAll('.', '-')}`,
    time: inSeconds([one]),
  });
  const tag = tagOf(one);
  if (tag === undefined) return xml`    <testcase${facts}/>\n`;
  const outcome =
    tag === 'skipped'
      ? xml`<skipped${attributes({ message })}/>`
      : xml`<${tag}${attributes({ message, type: standing })}>\n${factLines({ ...one.about, ...one.facts }).join('\n')}\n</${tag}>`;
  return xml`    <testcase${facts}>\n      ${outcome}\n    </testcase>\n`;
}

function totals(cases: readonly TestCase[]): Record<'tests' | 'failures' | 'errors' | 'skipped', number> {
  const number = (tag: string) => cases.filter((one) => tagOf(one) === tag).length;
  return {
    tests: cases.length,
    failures: number('failure'),
    errors: number('error'),
    skipped: number('skipped'),
  };
}
