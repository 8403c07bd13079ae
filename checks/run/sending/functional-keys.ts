/** The keys that pay for ordinary requests: which is next, and which may add animals. */

import type { Key } from '../../profile/key.ts';
import type { AnsweredExchange, Operation } from '../../wire/exchange.ts';
import { Inconclusive } from '../inconclusive.ts';
import type { KeyLane } from './key-lane.ts';
import type { Sender } from './sender.ts';

/** Why nothing can be told of additions where each is answered 403, on every key that there is. */
export const NO_KEY_MAY_ADD =
  'no key of the profile seems to be allowed to add animals: additions are answered 403';

const isFunctional = ({ key }: KeyLane) => key.roles.includes('functional');

const payers = (sender: Sender): KeyLane[] =>
  sender.usable().filter((lane) => isFunctional(lane) && lane.spent === undefined);

/** The key that pays for a request for which a check asks for none. @throws Inconclusive where there is none */
export function payingKey(sender: Sender, operation: Operation): Key {
  const functional = payers(sender);
  if (functional.length === 0) {
    const [reason] = sender.lanes
      .filter(isFunctional)
      .flatMap(({ spent, unusable }) => spent ?? unusable ?? []);
    throw new Inconclusive(reason ?? 'no usable key has the role functional');
  }
  const lanes =
    operation === 'createPet' ? functional.filter(({ adding }) => adding !== 'forbidden') : functional;
  const free = lanes.filter(({ isReserved }) => !isReserved);
  // What a key may see is open (5, scopes): an animal that was added and the list that is to show it have one key, which
  // is waited for rather than left. Another one pays where it may not add, or where somebody else spends it.
  const [usual, ...others] = (free.length > 0 ? free : lanes).toSorted(
    (a, b) =>
      Number(a.adding === 'forbidden') - Number(b.adding === 'forbidden') ||
      b.key.limits.perMinute - a.key.limits.perMinute,
  );
  if (usual === undefined) throw new Inconclusive(NO_KEY_MAY_ADD);
  const now = sender.clock.now();
  const at = (lane: KeyLane) => lane.readyAt(now, sender.trace.targetClock);
  const candidates = usual.isHeldBack(now) ? [usual, ...others] : [usual];
  return candidates.reduce((a, b) => (at(b) < at(a) ? b : a)).key;
}

/**
 * Sends an addition that was forbidden to a key with the others, until one is answered otherwise: then it was for the
 * key, and that key adds no more. Where a key that has added before is refused as well, it was for the animal.
 */
export async function addedWithAnother(
  sender: Sender,
  refused: AnsweredExchange,
  add: (key: Key) => Promise<AnsweredExchange>,
): Promise<AnsweredExchange> {
  const doubtful: KeyLane[] = [];
  const doubt = (refusal: AnsweredExchange) => {
    const lane = sender.laneOf(refusal);
    if (lane === undefined) return;
    lane.adding = 'doubtful';
    doubtful.push(lane);
  };
  doubt(refused);
  const lanes = payers(sender);
  const allowed = lanes.filter(({ adding }) => adding === 'allowed').slice(0, 1);
  for (const lane of allowed.length > 0 ? allowed : lanes.filter(({ adding }) => adding === 'untried')) {
    const exchange = await add(lane.key);
    if (exchange.outcome.status !== 403) {
      for (const forbidden of doubtful) forbidden.adding = 'forbidden';
      return exchange;
    }
    if (lane.adding === 'allowed') return exchange;
    doubt(exchange);
  }
  return refused;
}
