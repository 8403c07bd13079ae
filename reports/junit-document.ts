import { create } from 'xmlbuilder2';

/** What a test case says beyond its name; a case without one has passed. */
export interface Trouble {
  readonly tag: 'failure' | 'error' | 'skipped';
  readonly type?: string;
  readonly message: string;
  readonly text?: string;
}

/** A test case. */
export interface Case {
  readonly name: string;
  readonly classname: string;
  readonly trouble?: Trouble;
}

/** A group of test cases. */
export interface Suite {
  readonly name: string;
  readonly cases: readonly Case[];
  /** Facts for whoever looks a run up. */
  readonly properties?: readonly (readonly [name: string, value: string])[];
}

/** When the suites ran, and for how long. */
export interface JunitRun {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationSeconds: number;
}

/** Suites as JUnit XML; those without a case are left out. */
export function junitDocument({ startedAt, durationSeconds }: JunitRun, all: readonly Suite[]): string {
  const suites = all.filter(({ cases }) => cases.length > 0);
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\ufffd' }).ele(
    'testsuites',
    {
      name: 'petstore-harness',
      ...totals(suites.flatMap(({ cases }) => cases)),
      time: durationSeconds.toFixed(3),
    },
  );
  for (const { name, cases, properties = [] } of suites) {
    const suite = root.ele('testsuite', {
      name,
      ...totals(cases),
      timestamp: startedAt.replace(/(\.\d+)?Z$/, ''),
    });
    if (properties.length > 0) {
      const list = suite.ele('properties');
      for (const [property, value] of properties) list.ele('property', { name: property, value });
    }
    for (const { name: caseName, classname, trouble } of cases) {
      const element = suite.ele('testcase', { name: caseName, classname });
      if (trouble === undefined) continue;
      const { tag, type, message, text } = trouble;
      const child = element.ele(tag, { message, ...(type === undefined ? {} : { type }) });
      if (text !== undefined) child.txt(text);
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

function totals(cases: readonly Case[]): Record<'tests' | 'failures' | 'errors' | 'skipped', number> {
  const number = (tag: Trouble['tag']) => cases.filter(({ trouble }) => trouble?.tag === tag).length;
  return {
    tests: cases.length,
    failures: number('failure'),
    errors: number('error'),
    skipped: number('skipped'),
  };
}
