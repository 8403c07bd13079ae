import { type Exchange, isAnswered } from '../wire/exchange.ts';
import { described, looksLikeTheService } from '../wire/pets.ts';
import { listPets } from '../wire/requests.ts';
import { Unsettled } from './check.ts';
import type { Run } from './run.ts';

/** From when on the answers are no evidence any more. */
export interface ChangedTarget {
  /** When the last answer came that bore a trace of the interface, by the run's clock. */
  readonly after: number;
  readonly message: string;
}

/** A target that is merely wrong shows a trace more often: a rate header, a list, an Error. */
const ANSWERS_WITHOUT_TRACE = 5;

/**
 * Whether something else took the target's place during the run: its last answers bear no trace of the interface, and
 * nor does one more, to the request with which the run began.
 */
export async function changedTarget(run: Run): Promise<ChangedTarget | undefined> {
  const { lastTrace, withoutTrace } = run;
  if (lastTrace === undefined || withoutTrace < ANSWERS_WITHOUT_TRACE) return undefined;
  const key = run.lanes.find(({ unusable }) => unusable === undefined)?.key;
  if (key === undefined) return undefined;
  let last: Exchange;
  try {
    last = await run.probe('postflight').attempt(listPets({ limit: 1 }), key);
  } catch (error) {
    if (!(error instanceof Unsettled)) throw error;
    return undefined;
  }
  if (!isAnswered(last) || looksLikeTheService(last)) return undefined;
  const time = new Date(lastTrace).toISOString().slice(11, 19);
  return {
    after: lastTrace,
    message: `another service answers since ${time} UTC: GET /pets gives ${described(last)}`,
  };
}

/** Whether an exchange was over before the target changed. */
export const isBefore = ({ receivedAt }: Exchange, change: ChangedTarget) => receivedAt <= change.after;
