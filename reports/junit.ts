import { create } from 'xmlbuilder2';
import { groupBy } from './outcome.ts';
import { factLines, type Standing, type TestCase, type TestRun } from './test-run.ts';

/**
 * What stands in a case. What could not be told is an `<error>`, JUnit's word for a test that could not be carried out:
 * every pipeline shows `<skipped>` as green. That is left for what does not gate.
 */
const TAG = {
  passed: undefined,
  failed: 'failure',
  unknown: 'error',
  known: 'skipped',
  skipped: 'skipped',
  noted: 'skipped',
} as const satisfies Record<Standing, string | undefined>;

/** JUnit XML: a suite per group of cases, before them one for the run itself. */
export function renderJunit({ headline, problems, facts, cases, run }: TestRun): string {
  const itself = problems.length > 0 ? problems : [undefined];
  const suites = groupBy(
    [
      ...itself.map(
        (problem, index): TestCase => ({
          id: 'run',
          suite: 'The run',
          classname: 'petstore-harness.run',
          name: index === 0 ? headline : (problem ?? ''),
          title: headline,
          standing: problem === undefined ? 'passed' : 'unknown',
          kind: 'run',
          reason: problem ?? '',
          facts: {},
        }),
      ),
      ...cases,
    ],
    ({ suite }) => suite,
  );
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\ufffd' }).ele(
    'testsuites',
    {
      name: 'petstore-harness',
      ...totals([...suites.values()].flat()),
      time: run.durationSeconds.toFixed(3),
    },
  );
  const timestamp = run.startedAt.replace(/(\.\d+)?Z$/, '');
  for (const [name, group] of suites) {
    const suite = root.ele('testsuite', { name, ...totals(group), timestamp });
    if (name === 'The run') {
      const properties = suite.ele('properties');
      for (const [label, value] of facts) properties.ele('property', { name: label, value });
    }
    for (const one of group) {
      const { id, name: caseName, title, classname, standing, kind, reason } = one;
      const test = suite.ele('testcase', { name: id === 'run' ? caseName : `${id}: ${title}`, classname });
      const tag = TAG[standing];
      if (tag === undefined) continue;
      const element = test.ele(tag, { message: reason, ...(tag === 'skipped' ? {} : { type: kind }) });
      if (tag !== 'skipped') element.txt(`\n${factLines(one).join('\n')}\n`);
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

function totals(cases: readonly TestCase[]): Record<'tests' | 'failures' | 'errors' | 'skipped', number> {
  const number = (tag: string) => cases.filter(({ standing }) => TAG[standing] === tag).length;
  return {
    tests: cases.length,
    failures: number('failure'),
    errors: number('error'),
    skipped: number('skipped'),
  };
}
