/** A process of `npm run accuracy`: runs the cases that it is sent. */
import { type AccuracyCase, type CaseResult, runCase } from './case.ts';

async function run(accuracyCase: AccuracyCase): Promise<CaseResult> {
  try {
    return await runCase(accuracyCase);
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { verdicts: [], requests: 0, problem };
  }
}

process.on('message', (message: { readonly number: number; readonly accuracyCase: AccuracyCase }) => {
  void run(message.accuracyCase).then((result) => process.send?.({ number: message.number, result }));
});
