import type { Status } from 'allure-js-commons';
import { factLines, type Standing, type TestRun, withRunItself } from './test-run.ts';
import { UnwritableReport } from './write-reports.ts';

/** The format's name, the folder where its readers look, and the library, which is not a dependency. */
export const ALLURE = { format: 'allure', folder: 'allure-results', library: 'allure-js-commons' } as const;

/** As in JUnit, what does not gate is skipped. Allure says `broken` of a test that could not be carried out. */
const STATUS = {
  passed: 'PASSED',
  failed: 'FAILED',
  unknown: 'BROKEN',
  known: 'SKIPPED',
  skipped: 'SKIPPED',
  noted: 'SKIPPED',
} as const satisfies Record<Standing, keyof typeof Status>;

/**
 * Allure results, made by Allure's own library: a test for each case, and one for the run itself.
 *
 * @param load imports Allure's library
 * @returns the text of each file by its name; a run always gives the same names
 * @throws UnwritableReport if the library is not installed
 */
export async function allureResults(
  testRun: TestRun,
  load: () => Promise<typeof import('allure-js-commons/sdk/reporter')> = () =>
    import('allure-js-commons/sdk/reporter'),
): Promise<ReadonlyMap<string, string>> {
  const { name, facts, run } = testRun;
  const { InMemoryWriter, md5, ReporterRuntime, stringifyEnvInfo, getSuiteLabels } =
    await load().catch(explained);
  const { Stage, Status } = await import('allure-js-commons');
  const writer = new InMemoryWriter();
  const runtime = new ReporterRuntime({ writer });
  const start = Date.parse(run.startedAt);
  for (const [index, one] of withRunItself(testRun).entries()) {
    const fullName = `${one.classname}.${one.id}`;
    const status = Status[STATUS[one.standing]];
    const trace =
      status === Status.PASSED || one.standing === 'skipped' ? {} : { trace: factLines(one).join('\n') };
    const test = runtime.startTest({
      uuid: md5(`${run.startedAt} ${run.target} ${index} ${fullName}`),
      name: one.name,
      fullName,
      start,
      labels: getSuiteLabels([name, one.suite]),
      stage: Stage.FINISHED,
      status,
      ...(one.rule === undefined ? {} : { description: one.rule.statement }),
      statusDetails: { message: one.reason, ...trace },
    });
    runtime.stopTest(test, { stop: start });
    runtime.writeTest(test);
  }
  return new Map([
    ...writer.tests.map((test) => [`${test.uuid}-result.json`, JSON.stringify(test)] as const),
    ['environment.properties', stringifyEnvInfo(Object.fromEntries(facts))],
  ]);
}

function explained(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
  const message = `the format allure needs a package of its own: npm install --save-dev ${ALLURE.library}`;
  throw new UnwritableReport(message, { cause: error });
}
