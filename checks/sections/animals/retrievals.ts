/** Animals retrieved by their ids, ids that no animal has, and texts that are not ids: for all checks of section 4.3. */
import type { TargetClock } from '../../limits/target-clock.ts';
import { type Check, doneOf } from '../../run/check.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import { notTold } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { type InTurn, inTurn, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { answeredPet, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import { type Addition, enoughAnimals, type KnownPet, TWIN } from './additions.ts';
import { differences } from './life.ts';
import { LISTED_WITHIN, LONGEST, lists, patiently, type TakenList, take } from './lists.ts';
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
const BEYOND_DOUBLE = 2n ** 53n;
/** How many own animals are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;

const isServed = ({ exchange }: Retrieval) => exchange.outcome.status === 200;

/** The ids of the animals that the target returned. */
export const servedAnimals = (retrieved: InTurn<Retrieval> = []): bigint[] =>
  doneOf(retrieved)
    .filter(isServed)
    .map(({ known }) => known.id);

/** Whether an operation answers as if it did not exist: gone, moved, not allowed, not implemented. */
export function isGone({ outcome }: AnsweredExchange): boolean {
  return [405, 410, 501].includes(outcome.status) || (outcome.status >= 300 && outcome.status < 400);
}

/** Whether no retrieval succeeded because the operation no longer exists. */
export const isGoneAltogether = (retrieved: readonly Retrieval[]): boolean =>
  retrieved.every(({ exchange }) => isGone(exchange));

/** Whether the removal date had come when the last animal was retrieved. */
function removalPhase(retrieved: readonly Retrieval[], clock: TargetClock): Removal {
  const last = Math.max(...retrieved.map(({ exchange }) => exchange.receivedAt));
  return removal(clock.at(last), last);
}

const CLOCKS_DISPUTE =
  'the target’s Date and our clock disagree on whether the operation is past its removal date';

/** Judges retrievals only in this phase. */
export const during =
  (wanted: Removal, otherwise: string, decide: Check['decide']): Check['decide'] =>
  (judge, seen) => {
    const phase = removalPhase(doneOf(seen.of(retrievals)), seen.trace.targetClock);
    if (phase === 'disputed') judge.inconclusive(CLOCKS_DISPUTE);
    else if (phase !== wanted) judge.notApplicable(otherwise);
    else decide(judge, seen);
  };

/**
 * Own animals, and up to three foreign ones: the first and the last of a list, of which one is older, and one whose id
 * a double cannot represent.
 */
function animalsToRetrieve(all: TakenList, additions: readonly Addition[]): readonly KnownAnimal[] {
  const own = additions
    .filter(({ label }) => label !== TWIN && label !== 'spaced')
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
  const retrieved = await patiently<InTurn<Retrieval>>(
    run,
    'an animal that was just added to be served',
    async (before) => {
      if (before === undefined) return inTurn(animals, retrieve);
      const others = before.filter((one) => one instanceof Inconclusive || !isLate(one));
      return [...others, ...(await inTurn(doneOf(before).filter(isLate), retrieve))];
    },
    (tried) => !doneOf(tried).some(isLate),
  );
  const [first] = retrieved;
  if (doneOf(retrieved).length === 0 && first instanceof Inconclusive) throw first;
  return retrieved;
});

/** A random id that no animal has, far above what a store counts to. */
export const unknownId = (run: RunFacts, label: string): bigint =>
  2n ** 61n + drawNumber(run, label, 2n ** 61n);

/** The retrievals of the run, if the operation still exists to be judged; otherwise none. */
const playExisting = async (run: SceneRun): Promise<readonly Retrieval[]> => {
  const done = doneOf(await run.play(retrievals));
  return removalPhase(done, run.trace.targetClock) === 'before' && !isGoneAltogether(done) ? done : [];
};

/** After all animals were retrieved, an unknown one, and one that was served before, also with every other key. */
export const retrievedAgain = scene('served-again', {}, async (run) => {
  const existing = await playExisting(run);
  const ids = existing.length === 0 ? [] : [unknownId(run.facts, 'unknown id')];
  const unknown = await inTurn(ids, (id) => run.send(getPet(id)));
  const [served] = existing.filter(isServed);
  if (served === undefined) return { unknown, again: [] };
  const { known, own, exchange: shownBy } = served;
  const others = run.keys.filter(({ name }) => name !== shownBy.key);
  const again = await inTurn([undefined, ...others], async (key): Promise<Retrieval> => {
    const exchange = await run.send(getPet(known.id), { key });
    // What another key may see is open (section 5, scopes).
    return { known, own: own && key === undefined, shownBy, exchange };
  });
  return { unknown, again };
});

/** The retrieved animal, if it is the one that was requested. */
export function retrievedPet({ exchange, known }: Retrieval): SeenPet | undefined {
  const pet = answeredPet(exchange);
  return exchange.outcome.status === 200 && pet?.id === known.id ? pet : undefined;
}

/** An animal that is not the run's, in a list, in a retrieval and in a list again, all with one key. */
export interface Comparison {
  /** What made it suspicious: the animal was not served, or not as it was listed. */
  readonly retrieval: Retrieval;
  readonly before: TakenList;
  readonly exchange: AnsweredExchange;
  readonly after: TakenList;
}

const isSuspicious = (retrieval: Retrieval): boolean => {
  const { known, own, shownBy, exchange } = retrieval;
  const pet = retrievedPet(retrieval);
  const isOther = pet !== undefined && differences(known, pet).length > 0;
  // What another key may do is open (section 5, scopes).
  const isMissed = exchange.key === shownBy.key ? !isServed(retrieval) : exchange.outcome.status === 404;
  return !own && (isMissed || isOther);
};

/** Animals that somebody else may be removing or changing, once whoever looks for them should find them. */
export const comparisons = scene('compared', {}, async (run) => {
  const { again } = await run.play(retrievedAgain);
  const suspicious = [...(await playExisting(run)), ...doneOf(again)].filter(isSuspicious);
  if (suspicious.length > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'every animal to be served');
  return inTurn(suspicious, async (retrieval): Promise<Comparison> => {
    const key = run.keys.find(({ name }) => name === retrieval.exchange.key);
    const before = await take(run, LONGEST, { key });
    const exchange = await run.send(getPet(retrieval.known.id), { key });
    return { retrieval, before, exchange, after: await take(run, LONGEST, { key }) };
  });
});

/** The id that a retrieval asked for, as written in its path. */
export const idAsked = ({ request }: AnsweredExchange): string => request.path.slice('/pets/'.length);

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

const magnitude = (id: bigint) => (id < 0n ? -id : id);

/** Ids that hardly any animal has: the largest int64, and ids that sloppy parsing confuses with a known one. */
function unknownIds(known: readonly bigint[]): bigint[] {
  // A double cannot tell an id beyond 2^53 from its neighbour.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < LARGEST - 1n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  // Truncated to 32 bits these are equal to a known id.
  const alike = known.map((id) => (id < 0n ? id - 2n ** 32n : id + 2n ** 32n));
  return [[LARGEST], neighbours, alike].flatMap((ids) =>
    ids.filter((id) => id <= LARGEST && id >= SMALLEST && !known.includes(id)).slice(0, 1),
  );
}

/** Ids that a target may call malformed rather than unknown: the document sets no minimum. */
function doubtfulIds(known: readonly bigint[]): bigint[] {
  const negated = known.map((id) => -id).filter((id) => id <= LARGEST && !known.includes(id));
  return [...new Set([0n, -1n, SMALLEST, ...negated.slice(0, 1)])];
}

export const unknownIdsRetrieved = scene('unknown-ids', {}, async (run) => {
  const { all } = await run.play(lists);
  const retrieved = await run.play(retrievals);
  const [first] = doneOf((await run.play(retrievedAgain)).unknown);
  if (first === undefined) return [];
  // Dropping bits or signs goes unnoticed with small ids, so the smallest known ids are tried.
  const known = [...doneOf(retrieved).map((retrieval) => retrieval.known), ...(all.pets ?? [])]
    .flatMap(({ id }) => id ?? [])
    .sort((a, b) => Number(magnitude(a) - magnitude(b)));
  // Each is requested with a different key while there are any: errors may differ from plan to plan.
  const others = otherKeys(run.keys, { name: first.key });
  const ids = [
    ...unknownIds(known).map((id) => ({ id, mayBeMalformed: false })),
    ...doubtfulIds(known).map((id) => ({ id, mayBeMalformed: true })),
    // Requesting an id must not create an animal.
    { id: idAsked(first), mayBeMalformed: false },
  ];
  return inTurn(ids.entries(), async ([index, { id, mayBeMalformed }]) => {
    const key = others[index];
    const exchange = await run.send(getPet(id), { key });
    // What a key may do is open (section 5, scopes).
    const isForbidden = key !== undefined && exchange.outcome.status === 403;
    return { exchange: isForbidden ? await run.send(getPet(id)) : exchange, mayBeMalformed };
  });
});

export const malformedIds = scene('malformed-ids', {}, async (run) => {
  const [first] = await playExisting(run);
  if (first === undefined) return [];
  const { id } = first.known;
  const hexadecimal = `${id < 0n ? '-' : ''}0x${magnitude(id).toString(16)}`;
  // One is beyond int64, and truncated to 64 bits it is the animal's id.
  const ids = ['abc', `${id}x`, `${id}.5`, id + 2n ** 64n, hexadecimal];
  return inTurn(ids, (one) => run.send(getPet(one)));
});
