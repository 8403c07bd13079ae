/** The keys that pay for ordinary requests: which is next, and which may add animals. */

import type { Key } from '../../profile/key.ts';
import type { AnsweredExchange, Operation } from '../../wire/exchange.ts';
import { Inconclusive } from '../inconclusive.ts';
import type { Reason } from '../reason.ts';
import type { KeyLane } from './key-lane.ts';
import type { Sender } from './sender.ts';

/** Why nothing can be told of additions where each is answered 403, on every key that there is. */
export const NO_KEY_MAY_ADD =
  'no key of the profile seems to be allowed to add animals: additions are answered 403';

export class FunctionalKeys {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  #lanes(): KeyLane[] {
    return this.#sender
      .usable()
      .filter(({ key, spent }) => key.roles.includes('functional') && spent === undefined);
  }

  #whyNone(): Reason | string {
    const lanes = this.#sender.lanes.filter(({ key }) => key.roles.includes('functional'));
    const [reason] = lanes.flatMap(({ spent, unusable }) => spent ?? unusable ?? []);
    return reason ?? 'no usable key has the role functional';
  }

  /** The key that pays for a request for which a check asks for none. @throws Inconclusive where there is none */
  next(operation: Operation, now: number): Key {
    const functional = this.#lanes();
    if (functional.length === 0) throw new Inconclusive(this.#whyNone());
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
    const at = (lane: KeyLane) => lane.readyAt(now, this.#sender.trace.targetClock);
    return (usual.isHeldBack(now) ? [usual, ...others] : [usual]).reduce((a, b) => (at(b) < at(a) ? b : a))
      .key;
  }

  /**
   * Sends an addition that was forbidden to a key with the others, until one is answered otherwise: then it was for the
   * key, and that key adds no more. Where a key that has added before is refused as well, it was for the animal.
   */
  async addedWithAnother(
    refused: AnsweredExchange,
    add: (key: Key) => Promise<AnsweredExchange>,
  ): Promise<AnsweredExchange> {
    const refusals = [refused];
    const doubt = this.#sender.laneOf(refused);
    if (doubt !== undefined) doubt.adding = 'doubtful';
    const lanes = this.#lanes();
    const allowed = lanes.filter(({ adding }) => adding === 'allowed').slice(0, 1);
    for (const { key } of allowed.length > 0 ? allowed : lanes.filter(({ adding }) => adding === 'untried')) {
      const exchange = await add(key);
      const lane = this.#sender.laneOf(exchange);
      if (exchange.outcome.status !== 403) {
        for (const refusal of refusals) {
          const forbidden = this.#sender.laneOf(refusal);
          if (forbidden !== undefined) forbidden.adding = 'forbidden';
        }
        return exchange;
      }
      if (lane?.adding === 'allowed') return exchange;
      if (lane !== undefined) lane.adding = 'doubtful';
      refusals.push(exchange);
    }
    return refused;
  }
}
