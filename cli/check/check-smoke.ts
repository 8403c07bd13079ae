import { join } from 'node:path';
import { scenarioNamed } from '../../scenarios/lib/catalogue.ts';
import { K6Unavailable, provideK6 } from '../../scenarios/runner/k6/k6-binary.ts';
import { runLoad } from '../../scenarios/runner/load-run.ts';
import { startEmbeddedTarget } from '../../scenarios/runner/quota/load-target.ts';
import { renderLoadResult } from '../../scenarios/runner/result/render-result.ts';
import { writeLoadReports } from '../load/load-folder.ts';
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
      const result = await runLoad({ facts, target, k6, out, note, stop: signal, kill: signal });
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
