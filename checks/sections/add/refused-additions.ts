/** Additions that a target refused: none of them may show in a list afterwards. */

import type { Judge } from '../../run/check.ts';
import { NOTHING_SHOWN } from '../../run/findings.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { listedPets, sentPet } from '../../wire/pets.ts';
import { namePrefix } from './scenes.ts';

/** The name in the body of an addition; undefined if it has none, or one that an older animal may share. */
export function nameSent(exchange: Exchange): string | undefined {
  const name = exchange.request.operation === 'createPet' ? sentPet(exchange)?.name : undefined;
  return name?.includes(namePrefix('')) === true ? name : undefined;
}

/**
 * Judges every list that came after an addition was refused with this status: it must not hold that animal. If the
 * store is larger than a list, only the part that is shown can be judged.
 */
export function storedThoughRefused(status: number, noneRefused: string) {
  return ({ exchanges }: Pick<Trace, 'exchanges'>, judge: Judge): void => {
    const refused = new Map<string, AnsweredExchange>();
    let isListed = false;
    // If the same addition was also accepted, or got no answer, its animal may rightly be there.
    const mayBeStored = new Set(
      exchanges
        .filter((exchange) => !isAnswered(exchange) || exchange.outcome.status < 400)
        .flatMap((exchange) => nameSent(exchange) ?? []),
    );
    for (const exchange of exchanges.filter(isAnswered)) {
      const name = nameSent(exchange);
      if (name !== undefined && exchange.outcome.status === status && !mayBeStored.has(name))
        refused.set(name, exchange);
      const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
      if (listed === undefined || refused.size === 0) continue;
      isListed = true;
      const origin = listed.map(({ name = '' }) => refused.get(name)).find((one) => one !== undefined);
      if (origin === undefined) judge.holds(exchange);
      else {
        judge.breaks(
          {
            expected: `no animal from an addition that was answered ${status}`,
            actual: `${JSON.stringify(nameSent(origin))} is listed`,
          },
          exchange,
          origin,
        );
      }
    }
    if (refused.size === 0) judge.notApplicable(noneRefused);
    else if (!isListed) judge.unsettled(`${NOTHING_SHOWN} (see list-answers-200) (see json-well-formed)`);
  };
}
