/** Requests without a valid key that were served all the same: the target may count them for a key of the run. */
import type { Trace } from '../../run/trace.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { countedInvalid } from './quota-scenes.ts';

/** What explains that more was taken from a key than its own requests; undefined where no such request was served. */
export function servedWithoutKey({ exchanges }: Pick<Trace, 'exchanges'>): string | undefined {
  const served = exchanges.filter(
    (exchange) => exchange.key === null && isAnswered(exchange) && exchange.outcome.status < 400,
  );
  const [first] = served;
  if (first === undefined) return undefined;
  const row = first.sentBy === countedInvalid.id ? 'auth-unknown-key' : first.sentBy;
  return `${served.length} of the requests without a valid key were served, and may have been counted (see ${row})`;
}
