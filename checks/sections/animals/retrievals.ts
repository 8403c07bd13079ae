/** Animals retrieved by their ids, ids that no animal has, and texts that are not ids: for all checks of section 4.3. */

import { OPERATIONS } from '../../../spec/operations.ts';
import { DAY } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check, doneOf, type Judge } from '../../run/check.ts';
import { Inconclusive, notTold } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { type InTurn, inTurn, scene } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listedPets } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import { type Additions, createdBy, enoughAnimals, TWIN } from './additions.ts';
import { idRetrieved } from './life.ts';
import { lists, patiently } from './lists.ts';

/** Beyond this a double cannot represent every integer. */
const BEYOND_DOUBLE = 2n ** 53n;
/** How many own animals are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;

const isServed = ({ outcome }: AnsweredExchange) => outcome.status === 200;

/** The ids of the animals that the target returned. */
export const servedAnimals = (retrieved: InTurn<AnsweredExchange> = []): bigint[] =>
  doneOf(retrieved)
    .filter(isServed)
    .flatMap((exchange) => idRetrieved(exchange) ?? []);

/** Whether an operation answers as if it did not exist: gone, moved, not allowed, not implemented. */
export function isGone({ outcome }: AnsweredExchange): boolean {
  return [405, 410, 501].includes(outcome.status) || (outcome.status >= 300 && outcome.status < 400);
}

const REMOVED_AT = Date.parse(`${OPERATIONS.getPet.removal}T00:00:00Z`);
/**
 * The document names a day but no time zone: on Earth a day begins up to 14 hours before and ends up to 12 after UTC's.
 */
const EARLIEST_ZONE = 14 * 3_600_000;
const LATEST_ZONE = 12 * 3_600_000;

/** When the removal date begins in the first time zone and ends in the last, by the target's clock. */
export const removalDay = { begins: REMOVED_AT - EARLIEST_ZONE, ends: REMOVED_AT + DAY + LATEST_ZONE };

type Removal = 'before' | 'on the day' | 'after' | 'disputed';

/**
 * Whether GET /pets/{petId} still exists at a moment by our clock (sections 4.3 and 9): before its removal date, after
 * it, or on it, when both are right. If the target's clock and ours disagree, it is unknown which one is wrong.
 */
export function removalAt(ours: number, { targetClock }: Pick<Trace, 'targetClock'>): Removal {
  const { earliest, latest } = targetClock.at(ours) ?? { earliest: ours, latest: ours };
  const between = (from: number, to: number): Removal =>
    to < removalDay.begins ? 'before' : from > removalDay.ends ? 'after' : 'on the day';
  return between(earliest, latest) === between(ours, ours) ? between(ours, ours) : 'disputed';
}

/** Whether the removal date had come when the last animal was retrieved. */
const removalPhase = (retrieved: readonly AnsweredExchange[], trace: Pick<Trace, 'targetClock'>): Removal =>
  removalAt(Math.max(...retrieved.map(({ receivedAt }) => receivedAt)), trace);

const CLOCKS_DISPUTE =
  'the target’s Date and our clock disagree on whether the operation is past its removal date';

/** Defines a check of the retrievals that is judged in this phase only. */
export const during = (
  id: string,
  wanted: Removal,
  otherwise: string,
  judgeOne: (exchange: AnsweredExchange, judge: Judge) => void,
): Check =>
  check(id, { scenes: [retrievals] }, (judge, seen) => {
    const retrieved = doneOf(seen.of(retrievals), judge);
    const phase = removalPhase(retrieved, seen.trace);
    if (phase === 'disputed') judge.inconclusive(CLOCKS_DISPUTE);
    else if (phase !== wanted) judge.notApplicable(otherwise);
    else for (const exchange of retrieved) judgeOne(exchange, judge);
  });

/** Own animals that are retrieved. */
const ownIds = ({ [TWIN]: _twin, spaced: _spaced, ...others }: Additions): readonly bigint[] =>
  Object.values(others)
    .flatMap((addition) => createdBy(addition)?.id ?? [])
    .slice(0, OWN_RETRIEVED);

/**
 * Up to three foreign ones: the first and the last of a list, of which one is older, and one whose id a double cannot
 * represent.
 */
function foreignIds(all: AnsweredExchange, additions: Additions): readonly bigint[] {
  const own = new Set(Object.values(additions).map((addition) => createdBy(addition)?.id));
  const foreign = (listedPets(all) ?? []).flatMap(({ id }) => (id === undefined || own.has(id) ? [] : [id]));
  const ends = [...foreign.slice(0, 1), ...foreign.slice(1).slice(-1)];
  return [...ends, ...foreign.filter((id) => id > BEYOND_DOUBLE && !ends.includes(id)).slice(0, 1)];
}

/** The rows that are broken where no animal with an id can be read. */
const ANIMALS_SHOWN_BY = ['list-answers-200', 'list-pet-schema', 'add-answers-201', 'add-pet-schema'];

/** Retrieves animals that the run knows; its own are requested until they are served, within a client's patience. */
export const retrievals = scene('retrievals', {}, async (run): Promise<InTurn<AnsweredExchange>> => {
  const [all] = await run.play(lists);
  const additions = (await run.tryPlay(enoughAnimals)) ?? {};
  const own = ownIds(additions);
  const ids = [...own, ...foreignIds(all, additions)];
  if (ids.length === 0)
    throw new Inconclusive(
      notTold('no list and no addition of this run shows an animal with an id', ...ANIMALS_SHOWN_BY),
    );
  const isLate = (exchange: AnsweredExchange) =>
    exchange.outcome.status === 404 && own.some((id) => id === idRetrieved(exchange));
  const retrieved = await patiently(
    run,
    'an animal that was just added to be served',
    () => inTurn(ids, (id) => run.send(getPet(id))),
    (tried) => !doneOf(tried).some(isLate),
  );
  const [first] = retrieved;
  if (doneOf(retrieved).length === 0 && first instanceof Inconclusive) throw first;
  return retrieved;
});

/** A random id that no animal has, far above what a store counts to. */
export const unknownId = (run: RunFacts, label: string): bigint =>
  2n ** 61n + drawNumber(run, label, 2n ** 61n);

/**
 * The retrievals of the run, as long as the operation exists.
 *
 * @throws Inconclusive where it is past its removal date, may be, or is gone
 */
export const existing = scene('existing', {}, async (run): Promise<readonly AnsweredExchange[]> => {
  const retrieved = doneOf(await run.play(retrievals));
  const phase = removalPhase(retrieved, run.trace);
  if (phase === 'disputed') throw new Inconclusive(CLOCKS_DISPUTE);
  if (phase !== 'before')
    throw new Inconclusive({ kind: 'unbound', what: 'the operation is past its removal date' });
  if (retrieved.every(isGone)) throw new Inconclusive(notTold('the operation is gone', 'get-until-removal'));
  return retrieved;
});

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

const magnitude = (id: bigint) => (id < 0n ? -id : id);

/** Ids that hardly any animal has: the largest int64, ids that sloppy parsing confuses with a known one, the least. */
function unknownIds(known: readonly bigint[]): Iterable<bigint> {
  // A double cannot tell an id beyond 2^53 from its neighbour.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < LARGEST - 1n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  // Truncated to 32 bits these are equal to a known id.
  const alike = known.map((id) => (id < 0n ? id - 2n ** 32n : id + 2n ** 32n));
  const negated = known.map((id) => -id);
  const one = (ids: readonly bigint[]) =>
    ids.filter((id) => id <= LARGEST && id >= SMALLEST && !known.includes(id)).slice(0, 1);
  return new Set([LARGEST, ...one(neighbours), ...one(alike), 0n, -1n, SMALLEST, ...one(negated)]);
}

/** An id at random, then ids that may be taken for another one, and the first one again. */
export const unknownIdsRetrieved = scene('unknown-ids', {}, async (run) => {
  const [all] = await run.play(lists);
  const retrieved = await run.play(existing);
  const random = unknownId(run.facts, 'unknown id');
  const first = await run.send(getPet(random));
  // Dropping bits or signs goes unnoticed with small ids, so the smallest known ids are tried.
  const known = [...retrieved.map(idRetrieved), ...(listedPets(all) ?? []).map(({ id }) => id)]
    .flatMap((id) => id ?? [])
    .sort((a, b) => Number(magnitude(a) - magnitude(b)));
  // Each is requested with a different key while there are any: errors may differ from plan to plan.
  const others = otherKeys(run.keys, { name: first.key });
  // Requesting an id must not create an animal.
  const ids = [...unknownIds(known), random];
  const more = await inTurn(ids, async (id) => {
    const preferred = others.shift();
    const exchange = await run.send(getPet(id), { preferred });
    // What a key may do is open (section 5, scopes).
    return preferred !== undefined && exchange.outcome.status === 403 ? run.send(getPet(id)) : exchange;
  });
  return [first, ...more];
});

/** One that was served before, also with every other key, when ids were asked for that no animal has. */
export const retrievedAgain = scene('served-again', {}, async (run) => {
  const [served] = (await run.play(existing)).filter(isServed);
  await run.tryPlay(unknownIdsRetrieved);
  const id = served && idRetrieved(served);
  if (id === undefined) return [];
  const isSame = ({ name }: Key) => name === served?.key;
  const keys = run.keys.toSorted((a, b) => Number(isSame(b)) - Number(isSame(a)));
  return inTurn(keys, (preferred) => run.send(getPet(id), { preferred }));
});

export const malformedIds = scene('malformed-ids', {}, async (run) => {
  const [id] = (await run.play(existing)).flatMap((exchange) => idRetrieved(exchange) ?? []);
  if (id === undefined) return [];
  const hexadecimal = `${id < 0n ? '-' : ''}0x${magnitude(id).toString(16)}`;
  // One is beyond int64, and truncated to 64 bits it is the animal's id.
  const ids = ['abc', `${id}x`, `${id}.5`, id + 2n ** 64n, hexadecimal];
  return inTurn(ids, (one) => run.send(getPet(one)));
});
