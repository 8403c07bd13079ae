/** A process of `npm run accuracy`: runs the cases that it is sent. */
import { type AccuracyCase, type CaseResult, runCase } from './case.ts';
import { isSettled } from './matrix.ts';

/** A busy machine leaves too little time for a fast clock's window: what could not be told is tried again, slower. */
const SLOWER = [1, 2, 4, 8];

async function run(accuracyCase: AccuracyCase): Promise<CaseResult> {
  let result: CaseResult = { verdicts: [], requests: 0, problem: 'not run' };
  for (const slower of SLOWER) {
    try {
      result = await runCase(accuracyCase, slower);
    } catch (error) {
      result = {
        verdicts: [],
        requests: 0,
        problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
      };
    }
    if (isSettled(accuracyCase, result)) break;
  }
  return result;
}

process.on('message', (message: { readonly number: number; readonly accuracyCase: AccuracyCase }) => {
  void run(message.accuracyCase).then((result) => process.send?.({ number: message.number, result }));
});
