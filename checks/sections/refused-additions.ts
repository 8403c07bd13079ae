/** Additions that a target refused: none of them may show in a list afterwards. */
import type { History, Judge } from '../harness/check.ts';
import { type AnsweredExchange, isAnswered } from '../harness/exchange.ts';
import { isJsonObject, parseJson } from '../harness/lossless-json.ts';
import { listedPets } from '../harness/pets.ts';

/** The name in the body of an addition; undefined where it has none. */
function nameSent(exchange: AnsweredExchange): string | undefined {
  const parsed = parseJson(exchange.request.body ?? '');
  const name = parsed.ok && isJsonObject(parsed.value) ? parsed.value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Judges every list that came after an addition was refused with this status: it must not hold that animal. A store
 * that is larger than a list shows a part of itself only, and that part is judged.
 */
export function storedThoughRefused(status: number, noneRefused: string) {
  return (history: History, judge: Judge): void => {
    const refused = new Map<string, AnsweredExchange>();
    judge.notApplicable(noneRefused);
    for (const exchange of history.exchanges.filter(isAnswered)) {
      const name = exchange.request.operation === 'createPet' ? nameSent(exchange) : undefined;
      if (name !== undefined && exchange.outcome.status === status) refused.set(name, exchange);
      const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
      if (listed === undefined || refused.size === 0) continue;
      const stored = listed.find((pet) => pet.name !== undefined && refused.has(pet.name));
      const origin = refused.get(stored?.name ?? '');
      if (stored === undefined || origin === undefined) judge.holds(exchange);
      else {
        judge.breaks(
          {
            expected: `no animal of an addition that was answered ${status}`,
            actual: `${JSON.stringify(stored.name)} is listed`,
          },
          exchange,
          origin,
        );
      }
    }
  };
}
