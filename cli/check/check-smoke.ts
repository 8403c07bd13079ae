import { join } from 'node:path';
import { EXIT } from '../shared/exit-codes.ts';
import { untilInterrupted } from '../shared/interruption.ts';

/**
 * A little load on the reference server through k6, so that a new user sees both halves of the harness. If there is
 * neither k6 nor Go, one line says so.
 *
 * @param say receives the result
 * @returns the exit code of the smoke run
 */
export async function smokeRun(directory: string, say: (text: string) => void): Promise<number> {
  const { K6Unavailable, provideK6 } = await import('../../scenarios/runner/k6/k6-binary.ts');
  const { runLoad } = await import('../../scenarios/runner/load-run.ts');
  const { startEmbeddedTarget } = await import('../../scenarios/runner/quota/load-target.ts');
  const { scenarioNamed } = await import('../../scenarios/lib/catalogue.ts');
  const { renderLoadResult } = await import('../../scenarios/runner/result/render-result.ts');
  const { writeLoadReports } = await import('../load/load-folder.ts');
  const facts = scenarioNamed('smoke');
  if (facts === undefined) throw new Error('the catalogue has no scenario smoke');
  const out = join(directory, 'load');
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  const { signal, release } = untilInterrupted(
    () => note('stopping; repeat the signal to end at once'),
    () => {},
  );
  try {
    const k6 = await provideK6(note, signal);
    const target = await startEmbeddedTarget();
    try {
      const result = await runLoad({
        facts,
        target,
        k6,
        out,
        note,
        stop: signal,
        kill: signal,
      });
      say(`\n${renderLoadResult(result)}report: ${await writeLoadReports(out, result)}\n`);
      if (result.verdict === 'broken') return EXIT.thresholdBroken;
      // A machine that is too busy to make load says nothing about the target.
      return result.verdict === 'failed-to-run' ? EXIT.inconclusive : EXIT.conformant;
    } finally {
      await target.close();
    }
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    if (!(error instanceof K6Unavailable)) throw error;
    const [first = ''] = error.message.split('\n');
    say(
      `\nThe load smoke run was skipped: ${first} Install k6 2.x or Go, or set K6_BIN; see "petstore-harness load smoke".\n`,
    );
    return EXIT.conformant;
  } finally {
    release();
  }
}
