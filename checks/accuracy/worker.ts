/** A process of `npm run accuracy`: runs the cases that it is sent. */
import { type AccuracyCase, type CaseResult, runCase } from './case.ts';

interface Work {
  readonly lane: number;
  readonly accuracyCase: AccuracyCase;
}

export interface Answer {
  readonly lane: number;
  readonly result: CaseResult;
}

process.on('message', async ({ lane, accuracyCase }: Work) => {
  const result = await runCase(accuracyCase).catch(
    (error: unknown): CaseResult => ({
      verdicts: [],
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  process.send?.({ lane, result } satisfies Answer);
});
