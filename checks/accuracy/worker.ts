/** A process of `npm run accuracy`: runs the cases that it is sent. */
import { type AccuracyCase, type CaseResult, runCase } from './case.ts';

interface Work {
  readonly number: number;
  readonly accuracyCase: AccuracyCase;
  readonly only?: readonly string[];
}

process.on('message', async ({ number, accuracyCase, only }: Work) => {
  const result = await runCase(accuracyCase, only).catch(
    (error: unknown): CaseResult => ({
      verdicts: [],
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  process.send?.({ number, result });
});
