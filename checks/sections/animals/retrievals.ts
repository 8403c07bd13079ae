/** Animals retrieved by their ids, once for all checks of section 4.3. */
import type { TargetClock } from '../../limits/target-clock.ts';
import type { Key } from '../../profile/key.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import { notTold } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { type InTurn, inTurn, joined, NOTHING_TRIED, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { answeredPet, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { type Addition, enoughAnimals, type KnownPet } from './additions.ts';
import { differences } from './life.ts';
import { LONGEST, lists, shows, type TakenList, take, VISIBLE_WITHIN } from './lists.ts';
import { type Removal, removal } from './removal.ts';

/** An animal that the run knows. */
interface KnownAnimal {
  readonly known: KnownPet;
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
const whileExisting = (retrieved: readonly Retrieval[], clock: TargetClock): readonly Retrieval[] =>
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

/** The rows that are broken where no animal with an id can be read. */
const ANIMALS_SHOWN_BY = ['list-answers-200', 'list-pet-schema', 'add-answers-201', 'add-pet-schema'];

/** Retrieves animals that the run knows; its own are requested until they are served, within a client's patience. */
export const retrievals = scene('retrievals', {}, async (run): Promise<InTurn<Retrieval>> => {
  const { all } = await run.play(lists);
  const animals = animalsToRetrieve(all, (await run.tryPlay(enoughAnimals)) ?? []);
  if (animals.length === 0)
    throw new Inconclusive(
      notTold('no list and no addition of this run shows an animal with an id', ...ANIMALS_SHOWN_BY),
    );
  const retrieve = async (animal: KnownAnimal): Promise<Retrieval> => ({
    ...animal,
    exchange: await run.send(getPet(animal.known.id)),
  });
  const isLate = ({ own, exchange }: Retrieval) => own && exchange.outcome.status === 404;
  let retrieved = await inTurn(animals, retrieve);
  for (const pause of VISIBLE_WITHIN) {
    const late = retrieved.done.filter(isLate);
    if (late.length === 0) break;
    await run.waitUntil(run.now() + pause, 'an animal that was just added to be served');
    const others = { ...retrieved, done: retrieved.done.filter((one) => !isLate(one)) };
    retrieved = joined([others, await inTurn(late, retrieve)]);
  }
  const [lost] = retrieved.inconclusive;
  if (retrieved.done.length === 0 && lost !== undefined) throw new Inconclusive(lost.reason, lost.evidence);
  return retrieved;
});

/** A random id that no animal has, far above what a store counts to. */
export const unknownId = (run: RunFacts, label: string): bigint =>
  2n ** 61n + drawNumber(run, label, 2n ** 61n);

/** The retrievals of the run, if the operation still exists; otherwise none. */
export const playExisting = async (run: SceneRun): Promise<readonly Retrieval[]> =>
  whileExisting((await run.play(retrievals)).done, run.trace.targetClock);

/** After all animals were retrieved, an unknown one, and one that was served before. */
export const retrievedAgain = scene('retrieved-again', {}, async (run) => {
  const existing = await playExisting(run);
  const ids = existing.length === 0 ? [] : [unknownId(run.facts, 'unknown id')];
  return {
    unknown: await inTurn(ids, (id) => run.send(getPet(id))),
    again: await inTurn(
      existing.filter(isServed).slice(0, 1),
      async (served): Promise<Retrieval> => ({
        ...served,
        shownBy: served.exchange,
        exchange: await run.send(getPet(served.known.id)),
      }),
    ),
  };
});

/** The longest list again, if a foreign animal was not served: it may have been removed. */
export const listedAgain = scene('listed-again', {}, async (run) => {
  const existing = await playExisting(run);
  const { again } = await run.play(retrievedAgain);
  const isMissing = (retrieval: Retrieval) => !retrieval.own && !isServed(retrieval);
  return [...existing, ...again.done].some(isMissing) ? take(run, LONGEST) : undefined;
});

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
export const comparisons = scene('comparisons', {}, async (run) => {
  const changed = (await playExisting(run)).filter((retrieval) => {
    const pet = retrievedPet(retrieval);
    return !retrieval.own && pet !== undefined && differences(retrieval.known, pet).length > 0;
  });
  return inTurn(changed, async ({ known: { id } }): Promise<readonly [id: bigint, Comparison]> => {
    const before = await take(run, LONGEST);
    const exchange = await run.send(getPet(id));
    return [id, { before, exchange, after: await take(run, LONGEST) }];
  });
});

/** The id that a retrieval asked for, as written in its path. */
export const idAsked = ({ request }: AnsweredExchange): string => request.path.slice('/pets/'.length);

/** Whether a key finds an animal later, within a client's patience. */
async function isServedLate(run: SceneRun, id: bigint, key: Key): Promise<boolean> {
  for (const pause of VISIBLE_WITHIN) {
    await run.waitUntil(run.now() + pause, `animal ${id} to be served with key ${key.name}`);
    const { outcome } = await run.send(getPet(id), { key });
    if (outcome.status !== 404) return true;
  }
  return false;
}

/** One animal that was served, retrieved with every other key. */
export const retrievedWithOthers = scene('retrieved-with-others', {}, async (run) => {
  const served = (await playExisting(run)).find(isServed);
  if (served === undefined) return NOTHING_TRIED;
  const { id } = served.known;
  const others = run.keys.filter(({ name }) => name !== served.exchange.key);
  return inTurn(others, async (key) => {
    const exchange = await run.send(getPet(id), { key });
    const isMissed =
      exchange.outcome.status === 404 &&
      shows(await take(run, LONGEST, { key }), id) &&
      !(await isServedLate(run, id, key));
    // If the key had listed it but does not find it within a client's patience, a list shows whether it is still there.
    return { exchange, listed: isMissed ? await take(run, LONGEST, { key }) : undefined };
  });
});
