/** Animals retrieved by their ids, once for all checks of section 4.3. */
import { contract } from '../../../spec/contract.ts';
import type { TargetClock } from '../../limits/target-clock.ts';
import type { Key } from '../../profile/key.ts';
import type { Probe } from '../../run/probe.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import {
  firstInTurn,
  type InTurn,
  inTurn,
  joined,
  NOTHING_TRIED,
  optional,
  type Scene,
  scene,
  sideBySide,
} from '../../run/scene.ts';
import { Unsettled } from '../../run/unsettled.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { answeredPet, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { type Addition, enoughAnimals } from '../add/scenes.ts';
import { lists, shows, type TakenList, take, VISIBLE_WITHIN } from '../list/scenes.ts';
import { differences } from '../list/unchanged.ts';
import { type Removal, removal } from './removal.ts';

/** An animal that the run knows. */
interface KnownAnimal {
  readonly known: SeenPet & { readonly id: bigint };
  /** The exchange that showed the animal: its creation, or a list. */
  readonly shownBy: AnsweredExchange;
  readonly own: boolean;
}

/** A known animal, and what the target returned for its id. */
export interface Retrieval extends KnownAnimal {
  readonly exchange: AnsweredExchange;
}

/** Beyond this a double cannot represent every integer. */
export const BEYOND_DOUBLE = 2n ** 53n;
const LONGEST = { limit: contract.limit.maximum };
/** How many own animals are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;

const isServed = ({ exchange }: Retrieval) => exchange.outcome.status === 200;

/** The ids of the animals that the target returned. */
export const servedAnimals = (retrieved?: InTurn<Retrieval>): bigint[] =>
  (retrieved?.done ?? []).filter(isServed).map(({ known }) => known.id);

/** Whether an operation answers as if it did not exist: gone, moved, not allowed, not implemented. */
export function isGone({ outcome }: AnsweredExchange): boolean {
  return [405, 410, 501].includes(outcome.status) || (outcome.status >= 300 && outcome.status < 400);
}

/** Whether no retrieval succeeded because the operation no longer exists. */
export const isGoneAltogether = (retrieved: readonly Retrieval[]): boolean =>
  retrieved.every(({ exchange }) => isGone(exchange));

/** Whether the removal date had come when the last animal was retrieved. */
export function removalPhase(retrieved: readonly Retrieval[], clock: TargetClock): Removal {
  const last = Math.max(...retrieved.map(({ exchange }) => exchange.receivedAt));
  return removal(clock.at(last), last);
}

/** The retrievals, if the operation still exists to be judged; otherwise none. */
export const whileExisting = (retrieved: readonly Retrieval[], clock: TargetClock): readonly Retrieval[] =>
  removalPhase(retrieved, clock) === 'before' && !isGoneAltogether(retrieved) ? retrieved : [];

/**
 * Own animals, and up to three foreign ones: the first and the last of a list, of which one is older, and one whose id
 * a double cannot represent.
 */
function animalsToRetrieve(all: TakenList, additions: readonly Addition[]): readonly KnownAnimal[] {
  const own = additions
    .filter(
      ({ label, sent }) =>
        label === 'any-script' || label.startsWith('category-') || label === (sent?.status ?? 'no-status'),
    )
    .flatMap(({ pet, exchange }) => (pet === undefined ? [] : [{ known: pet, shownBy: exchange, own: true }]))
    .slice(0, OWN_RETRIEVED);
  const foreign = (all.pets ?? []).flatMap((pet) => {
    const { id } = pet;
    return id === undefined || additions.some((addition) => addition.pet?.id === id)
      ? []
      : [{ known: { ...pet, id }, shownBy: all.exchange, own: false }];
  });
  const ends = [...foreign.slice(0, 1), ...foreign.slice(1).slice(-1)];
  const large = foreign.find((animal) => animal.known.id > BEYOND_DOUBLE && !ends.includes(animal));
  return [...own, ...ends, ...(large === undefined ? [] : [large])];
}

/** Retrieves animals that the run knows; its own are requested until they are served, within a client's patience. */
export const retrievals: Scene<InTurn<Retrieval>> = scene(
  'retrievals',
  { needs: { lists, additions: optional(enoughAnimals) }, requests: OWN_RETRIEVED + 3 },
  async (probe, { lists: { all }, additions = [] }) => {
    const animals = animalsToRetrieve(all, additions);
    if (animals.length === 0)
      throw new Unsettled('no list and no addition of this run shows an animal with an id');
    const retrieve = async (animal: KnownAnimal): Promise<Retrieval> => ({
      ...animal,
      exchange: await probe.send(getPet(animal.known.id)),
    });
    const isLate = ({ own, exchange }: Retrieval) => own && exchange.outcome.status === 404;
    let retrieved = await firstInTurn(animals, retrieve);
    for (const pause of VISIBLE_WITHIN) {
      const late = retrieved.done.filter(isLate);
      if (late.length === 0) break;
      await probe.waitUntil(probe.now() + pause, 'an animal that was just added to be served');
      const others = { ...retrieved, done: retrieved.done.filter((one) => !isLate(one)) };
      retrieved = joined([others, await sideBySide(late, retrieve)]);
    }
    const [lost] = retrieved.unsettled;
    if (retrieved.done.length === 0 && lost !== undefined) throw new Unsettled(lost.reason, lost.evidence);
    return retrieved;
  },
);

/** A random id that no animal has, far above what a store counts to. */
export const unknownId = (run: RunFacts, label: string): bigint =>
  2n ** 61n + drawNumber(run, label, 2n ** 61n);

/** After all animals were retrieved, an unknown one, and one that was served before. */
export const retrievedAgain = scene(
  'retrieved-again',
  { needs: { retrievals }, requests: 2 },
  async (probe, { retrievals }) => {
    const existing = whileExisting(retrievals.done, probe.trace.targetClock);
    const ids = existing.length === 0 ? [] : [unknownId(probe.run, 'unknown id')];
    return {
      unknown: await inTurn(ids, (id) => probe.send(getPet(id))),
      again: await inTurn(
        existing.filter(isServed).slice(0, 1),
        async (served): Promise<Retrieval> => ({
          ...served,
          shownBy: served.exchange,
          exchange: await probe.send(getPet(served.known.id)),
        }),
      ),
    };
  },
);

/** The longest list again, if a foreign animal was not served: it may have been removed. */
export const listedAgain = scene(
  'listed-again',
  { needs: { retrievals, retrievedAgain } },
  async (probe, { retrievals, retrievedAgain: { again } }) => {
    const existing = whileExisting(retrievals.done, probe.trace.targetClock);
    const isMissing = (retrieval: Retrieval) => !retrieval.own && !isServed(retrieval);
    return [...existing, ...again.done].some(isMissing) ? take(probe, LONGEST) : undefined;
  },
);

/** The retrieved animal, if it is the one that was requested. */
export function retrievedPet({ exchange, known }: Retrieval): SeenPet | undefined {
  const pet = answeredPet(exchange);
  return exchange.outcome.status === 200 && pet?.id === known.id ? pet : undefined;
}

/** An animal in a list, in a retrieval and in a list again. */
export interface Comparison {
  readonly before: TakenList;
  readonly exchange: AnsweredExchange;
  readonly after: TakenList;
}

/** Foreign animals that differ between a list and their retrieval, by id: they may be changing. */
export const comparisons = scene(
  'comparisons',
  { needs: { retrievals }, beside: true },
  (probe, { retrievals }) => {
    const changed = whileExisting(retrievals.done, probe.trace.targetClock).filter((retrieval) => {
      const pet = retrievedPet(retrieval);
      return !retrieval.own && pet !== undefined && differences(retrieval.known, pet).length > 0;
    });
    return inTurn(changed, async ({ known: { id } }): Promise<readonly [id: bigint, Comparison]> => {
      const before = await take(probe, LONGEST);
      const exchange = await probe.send(getPet(id));
      return [id, { before, exchange, after: await take(probe, LONGEST) }];
    });
  },
);

/** The id that a retrieval asked for, as written in its path. */
export const idAsked = ({ request }: AnsweredExchange): string => request.path.slice('/pets/'.length);

/** Whether a key finds an animal later, within a client's patience. */
async function isServedLate(probe: Probe, id: bigint, key: Key): Promise<boolean> {
  for (const pause of VISIBLE_WITHIN) {
    await probe.waitUntil(probe.now() + pause, `animal ${id} to be served with key ${key.name}`);
    const { outcome } = await probe.send(getPet(id), { key });
    if (outcome.status !== 404) return true;
  }
  return false;
}

/** One animal that was served, retrieved with every other key. */
export const retrievedWithOthers = scene(
  'retrieved-with-others',
  { needs: { retrievals }, onEveryKey: 1, beside: true },
  async (probe, { retrievals }) => {
    const served = whileExisting(retrievals.done, probe.trace.targetClock).find(isServed);
    if (served === undefined) return NOTHING_TRIED;
    const { id } = served.known;
    const others = probe.keys.filter(({ name }) => name !== served.exchange.key);
    return sideBySide(others, async (key) => {
      const exchange = await probe.send(getPet(id), { key });
      const isMissed =
        exchange.outcome.status === 404 &&
        shows(await take(probe, LONGEST, { key }), id) &&
        !(await isServedLate(probe, id, key));
      // If the key had listed it but does not find it within a client's patience, a list shows whether it is still there.
      return { exchange, listed: isMissed ? await take(probe, LONGEST, { key }) : undefined };
    });
  },
);
