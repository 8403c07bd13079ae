import { type Exchange, isAnswered } from '../wire/exchange.ts';
import { described, looksLikeTheService } from '../wire/pets.ts';
import { listPets } from '../wire/requests.ts';
import { type OutcomeSource, scene } from './scene.ts';
import type { Trace } from './trace.ts';
import { settledOr } from './unsettled.ts';

/** From when on the answers are no evidence any more. */
export interface ChangedTarget {
  /** When the last answer came that bore a sign of the interface, by the run's clock. */
  readonly after: number;
  readonly message: string;
}

/** A target that is merely wrong shows a trace more often: a rate header, a list, an Error. */
const ANSWERS_WITHOUT_SIGN = 5;

/** Asks once more what the run began with, where the last answers bear no sign of the interface. */
export const postflight = ({ signs }: Pick<Trace, 'signs'>) =>
  scene('postflight', { afterwards: true, eachSession: true }, async (probe) => {
    const [key] = probe.keys;
    const { last, without } = signs;
    if (key === undefined || last === undefined || without < ANSWERS_WITHOUT_SIGN) return undefined;
    return { lastSign: last, exchange: await probe.attempt(listPets({ limit: 1 }), key) };
  });

/**
 * Whether something else took the target's place during the run: its last answers bear no sign of the interface, and
 * nor does one more.
 */
export function changedTarget(source: OutcomeSource, trace: Trace): ChangedTarget | undefined {
  const seen = settledOr(
    () => source.outcomeOf(postflight(trace)),
    () => undefined,
  );
  if (seen === undefined || !isAnswered(seen.exchange) || looksLikeTheService(seen.exchange))
    return undefined;
  const time = new Date(seen.lastSign).toISOString().slice(11, 19);
  return {
    after: seen.lastSign,
    message: `a different service has been answering since ${time} UTC: GET /pets gives ${described(seen.exchange)}`,
  };
}

/** Whether an exchange was over before the target changed. */
export const isBefore = ({ receivedAt }: Exchange, change: ChangedTarget) => receivedAt <= change.after;
