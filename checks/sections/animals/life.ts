/** The life of the run's animals: no operation changes or removes one, but the target's operator may. */
import { contract } from '../../../spec/contract.ts';
import { doneOf, type Judge, type Seen } from '../../run/check.ts';
import { notTold } from '../../run/reason.ts';
import { type InTurn, inTurn, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { quoted, type Violation } from '../../wire/answer.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, readOnce, type SeenPet } from '../../wire/pets.ts';
import { addText, getPet } from '../../wire/requests.ts';
import { add, inLetters, type KnownPet, namePrefix } from './additions.ts';
import { LISTED_WITHIN, LONGEST, limitOf, patiently, queryOf, shown, take } from './lists.ts';

/** An animal of the run, and the addition that brought it. */
interface Showing {
  readonly pet: KnownPet;
  readonly exchange: AnsweredExchange;
}

/** What an answer shows of an animal. */
interface Told {
  readonly by: 'list' | 'get';
  readonly exchange: AnsweredExchange;
  /** Undefined if the longest list does not hold it, or the retrieval does not find it. */
  readonly pet: SeenPet | undefined;
}

/** An animal of the run, and what later answers show of it, in order. */
interface Life extends Showing {
  readonly told: readonly Told[];
}

/** The animals in an answer. */
interface Look extends Pick<Told, 'by' | 'exchange'> {
  /** By id. */
  readonly pets: ReadonlyMap<bigint, SeenPet>;
  /** Whether an animal that it does not show is missing. */
  isMissing(id: bigint, status: string | undefined): boolean;
}

const byId = (pets: readonly SeenPet[]) =>
  new Map(pets.flatMap((pet) => (pet.id === undefined ? [] : [[pet.id, pet] as const])));

/** Reads a list or a retrieval; undefined for any other answer. */
const lookAt = readOnce((exchange): Look | undefined => {
  const { operation, path } = exchange.request;
  const { status } = exchange.outcome;
  if (operation === 'getPet') {
    const pet = status === 200 ? answeredPet(exchange) : undefined;
    // An animal with another id than the requested one is for get-returns-requested-id to judge.
    const pets = byId(pet !== undefined && path === `/pets/${pet.id}` ? [pet] : []);
    return { by: 'get', exchange, pets, isMissing: (id) => status === 404 && path === `/pets/${id}` };
  }
  const listed = operation === 'listPets' ? listedPets(exchange) : undefined;
  if (listed === undefined) return undefined;
  const query = queryOf(path);
  const isLongest = query !== undefined && limitOf(query) === LONGEST.limit;
  const isWhole = listed.length < contract.limit.maximum;
  const isMissing: Look['isMissing'] = (_, status) =>
    isLongest && (query.status === undefined || (isWhole && query.status === status));
  return { by: 'list', exchange, pets: byId(listed), isMissing };
});

const looksIn = (exchanges: readonly Exchange[]) =>
  exchanges.filter(isAnswered).flatMap((exchange) => lookAt(exchange) ?? []);

/** The animal that an addition brought, if it can be asked for. */
function createdBy(exchange: AnsweredExchange): KnownPet | undefined {
  const isAddition = exchange.request.operation === 'createPet' && exchange.outcome.status === 201;
  const pet = isAddition ? answeredPet(exchange) : undefined;
  return pet?.id === undefined ? undefined : { ...pet, id: pet.id };
}

/** What each addition brought, and where another animal with the same id, if any, was shown before. */
export function broughtIn(
  exchanges: readonly Exchange[],
): readonly (Showing & { readonly other: Showing | undefined })[] {
  const first = new Map<bigint, Showing>();
  const added = new Set<bigint>();
  return exchanges.filter(isAnswered).flatMap((exchange) => {
    const pet = createdBy(exchange);
    if (pet === undefined) {
      for (const [id, seen] of lookAt(exchange)?.pets ?? [])
        if (!first.has(id)) first.set(id, { pet: { ...seen, id }, exchange });
      return [];
    }
    const shown = first.get(pet.id);
    // A list that is received first may show what is being added.
    const isOther =
      shown !== undefined && (added.has(pet.id) || shown.exchange.receivedAt <= exchange.sentAt);
    first.set(pet.id, { pet, exchange });
    added.add(pet.id);
    return [{ pet, exchange, other: isOther ? shown : undefined }];
  });
}

/** The animals that the run created, by id, and the ids that two of them got or that an older animal already had. */
interface Created {
  readonly created: ReadonlyMap<bigint, Showing>;
  /** Which of the animals with such an id is shown is unknown. */
  readonly shared: ReadonlySet<bigint>;
}

function createdIn(exchanges: readonly Exchange[]): Created {
  const brought = broughtIn(exchanges);
  const shared = new Set(brought.flatMap(({ pet, other }) => (other === undefined ? [] : [pet.id])));
  const own = brought.filter(({ pet }) => !shared.has(pet.id));
  return { created: new Map(own.map((one) => [one.pet.id, one])), shared };
}

/** Whether no animal that an answer showed before a moment is shown after it, although others are: the store was lost. */
export function isLost(exchanges: readonly Exchange[], at: number): boolean {
  const before = new Set<string>();
  const anew = new Set<string>();
  let isShown = false;
  for (const exchange of exchanges.filter(isAnswered)) {
    const own = exchange.request.operation === 'createPet' ? answeredPet(exchange) : undefined;
    for (const { id, name } of own === undefined ? (lookAt(exchange)?.pets.values() ?? []) : [own]) {
      const animal = `${id} ${name}`;
      if (exchange.receivedAt <= at) before.add(animal);
      else if (own !== undefined) anew.add(animal);
      else if (before.has(animal) && !anew.has(animal)) return false;
      else isShown = true;
    }
  }
  return isShown;
}

/** The lives of the run's animals that appear in any later answer. */
function livesOf({ created }: Created, exchanges: readonly Exchange[]): readonly Life[] {
  // Large lists are read anew each time: not where no animal is looked for in them.
  const looks = created.size === 0 ? [] : looksIn(exchanges);
  return [...created]
    .map(([id, own]) => {
      // What another key may see is open (5, scopes), until it has seen the animal.
      const seenBy = new Set([own.exchange.key]);
      const told = looks.flatMap(({ by, exchange, pets, isMissing }): Told[] => {
        const pet = pets.get(id);
        if (pet !== undefined) seenBy.add(exchange.key);
        const tells = pet !== undefined || (seenBy.has(exchange.key) && isMissing(id, own.pet.status));
        return tells ? [{ by, exchange, pet }] : [];
      });
      return { ...own, told };
    })
    .filter(({ told }) => told.length > 0);
}

const FIELDS = ['name', 'categoryId', 'status'] as const;

/** The fields that differ between two showings of an animal. */
const changedFields = (from: SeenPet, to: SeenPet) => FIELDS.filter((field) => from[field] !== to[field]);

/** The kind of a change: the fields, and of the status also how; undefined where nothing changed. */
function changeOf(from: SeenPet, to: SeenPet): string | undefined {
  const fields = changedFields(from, to);
  return fields.length === 0
    ? undefined
    : fields.map((field) => (field === 'status' ? `${from.status} ${to.status}` : field)).join(', ');
}

/** What is suspicious about an animal: that it is missing, or how it changed. */
function suspicion({ pet, told }: Life): string | undefined {
  if (told.at(-1)?.pet === undefined) return 'missing';
  const changes = told.flatMap((one) => (one.pet && changeOf(pet, one.pet)) ?? []);
  return changes.at(-1);
}

/** This many retrievals between lists tell a contradiction from a stale copy. */
const TURNS = 2;

/** Whether answers of both kinds since the last one that showed it agree that an animal is missing. */
const isGone = ({ told }: Life): boolean =>
  new Set(told.slice(told.findLastIndex(({ pet }) => pet !== undefined) + 1).map(({ by }) => by)).size === 2;

const wasShown = ({ told }: Life) => told.some(({ pet }) => pet !== undefined);
const wasRetrieved = ({ told }: Life) => told.some(({ by, pet }) => by === 'get' && pet !== undefined);

/** Whether an animal was listed and is gone, without a retrieval that could have taken it away: somebody removed it. */
const wasRemoved = (life: Life): boolean => isGone(life) && !wasRetrieved(life) && wasShown(life);

/** What came of a suspicion: whether an animal like the suspicious one stays as it is. */
interface Confirmation {
  readonly suspicion: string;
  /** Undefined where no animal could be added. */
  readonly isKept: boolean | undefined;
}

/** Adds an animal like another one, and looks whether it is served as it was created, and still a moment later. */
async function isKept(run: SceneRun, label: string, like: Life): Promise<boolean | undefined> {
  const prefix = namePrefix(run.facts.id);
  // Names may have to be unique, and what a target does to a name may depend on its length.
  const { pet, exchange } = await add(run, label, (again) =>
    addText(like.exchange.request.body?.replace(prefix, `${prefix}${again}x`)),
  );
  if (pet === undefined) return undefined;
  const key = run.keys.find(({ name }) => name === exchange.key);
  const look = async () => {
    const retrieved = lookAt(await run.send(getPet(pet.id), { key }))?.pets.get(pet.id);
    return retrieved ?? shown(await take(run, LONGEST, { key }), pet.id);
  };
  const seen = await patiently(run, 'an animal that was just added to be served', look, (one) => !!one);
  return seen !== undefined && changeOf(pet, seen) === undefined && (await look()) !== undefined;
}

/** Each of them adds an animal. */
const MOST_SUSPICIONS = 4;

/** Requests one animal of each kind of suspicion again, after everything else, and tries another one like it. */
export const askedAgain = scene(
  'asked-again',
  { afterwards: true },
  async (run): Promise<InTurn<Confirmation>> => {
    const { exchanges } = run.trace;
    const all = livesOf(createdIn(exchanges), exchanges);
    // The last one counts: that a retrieval takes animals away is told by those that were not retrieved.
    const inOrder = all.toSorted((a, b) => Number(wasRetrieved(b)) - Number(wasRetrieved(a)));
    const suspicious = new Map(inOrder.map((life) => [suspicion(life), life]));
    suspicious.delete(undefined);
    if (suspicious.size > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'what was added to be listed');
    return inTurn([...suspicious].slice(0, MOST_SUSPICIONS).entries(), async ([index, [what = '', life]]) => {
      const key = run.keys.find(({ name }) => name === life.exchange.key);
      for (let turn = 0; turn < TURNS; turn += 1) {
        await take(run, LONGEST, { key });
        await run.send(getPet(life.pet.id), { key });
      }
      await take(run, LONGEST, { key });
      return { suspicion: what, isKept: await isKept(run, `like ${inLetters(index)}`, life) };
    });
  },
);

/** A change of an animal since the answer to the addition. */
interface Change {
  readonly from: SeenPet;
  readonly to: SeenPet;
  /** Whether list and retrieval agree on it; if not, one of them was not requested since. */
  readonly isAgreed: boolean;
  readonly evidence: readonly AnsweredExchange[];
}

/** What became of the run's animals, by id. */
export interface Fates extends Created {
  /** Changes that do not count against the target. */
  readonly changes: ReadonlyMap<bigint, Change>;
  /** Those whose disappearance does not count against the target. */
  readonly gone: ReadonlySet<bigint>;
}

/**
 * Changes by themselves. Transitions are "not shown" (section 3): somebody may sell or approve an animal, or edit it. A
 * change counts against the target if list and retrieval contradict each other, or if an animal like it is not even for
 * a moment as it was created: then what was answered was never stored.
 */
function changesIn(lives: readonly Life[], wasKept: (what: string) => boolean | undefined) {
  const changes = new Map<bigint, Change>();
  for (const { pet: from, exchange: addition, told } of lives) {
    const showings = told.flatMap(({ by, pet, exchange }) =>
      pet === undefined ? [] : [{ by, pet, exchange }],
    );
    const to = showings.at(-1)?.pet ?? from;
    const isSame = (one: SeenPet | undefined, other: SeenPet) =>
      one !== undefined && changeOf(one, other) === undefined;
    // What returns once may come from a stale copy; repeated back and forth is a contradiction.
    const turns = [from, ...showings.map(({ pet }) => pet)].filter(
      (pet, index, all) => !isSame(all[index - 1], pet),
    );
    const isContradiction = turns.some((turn) => turns.filter((other) => isSame(turn, other)).length > 2);
    const change = changeOf(from, to);
    if (change === undefined || isContradiction || wasKept(change) === false) continue;
    const lastBy = (kind: Told['by']) => showings.findLast(({ by }) => by === kind)?.pet;
    const evidence = showings.flatMap(({ pet, exchange }) => (isSame(pet, to) ? [exchange] : []));
    const isAgreed = isSame(lastBy('list'), to) && isSame(lastBy('get'), to);
    changes.set(from.id, { from, to, isAgreed, evidence: [...evidence.slice(0, 2), addition] });
  }
  const agreed = new Set(
    [...changes.values()].flatMap(({ from, to, isAgreed }) => (isAgreed ? changeOf(from, to) : [])),
  );
  return new Map(
    [...changes].map(([id, change]) => [
      id,
      { ...change, isAgreed: agreed.has(changeOf(change.from, change.to)) },
    ]),
  );
}

/**
 * Animals that are missing in the end: somebody may clean up, or a restart may lose the store. It counts against the
 * target if list and retrieval contradict each other, or if an animal that is added like them goes as well, unless one
 * was seen to be removed.
 */
function goneAnimals(lives: readonly Life[], confirmations: readonly Confirmation[]): ReadonlySet<bigint> {
  const missing = lives.filter((life) => suspicion(life) === 'missing');
  const asked = confirmations.find((one) => one.suspicion === 'missing');
  // Once the retrieval is removed, lists alone tell: they have shown the animal, and no longer do.
  const isRetrievable = lives.some(wasRetrieved);
  const isTold = (life: Life) => isGone(life) || (!isRetrievable && wasShown(life));
  const isExcused =
    asked === undefined || missing.some(wasRemoved) || (asked.isKept !== false && missing.some(isTold));
  return new Set(isExcused ? missing.map(({ pet }) => pet.id) : []);
}

const known = new WeakMap<readonly Exchange[], Fates>();

/** The fates of a run's animals, found out once for all who ask. */
export function fatesOf(seen: Seen): Fates {
  const { exchanges } = seen.trace;
  const before = known.get(exchanges);
  if (before !== undefined) return before;
  const created = createdIn(exchanges);
  const lives = livesOf(created, exchanges);
  const confirmations = doneOf(seen.maybe(askedAgain) ?? []);
  const wasKept = (what: string) => confirmations.find((one) => one.suspicion === what)?.isKept;
  const changes = changesIn(lives, wasKept);
  const fates = { ...created, changes, gone: goneAnimals(lives, confirmations) };
  known.set(exchanges, fates);
  return fates;
}

/** Says that an animal of the run is missing, unless something removes animals. */
export function judgeMissing(
  judge: Judge,
  { gone, shared }: Fates,
  id: bigint,
  violation: Violation,
  ...evidence: readonly Exchange[]
): void {
  if (shared.has(id)) judge.inconclusive(SHARED, ...evidence);
  else if (gone.has(id)) judge.inconclusive(GONE, ...evidence);
  else judge.breaks(violation, ...evidence);
}

/** One reason for all of them. */
const GONE = 'animals that existed have disappeared from lists and retrievals: something is removing animals';

export const SHARED = notTold('other animals have the same ids as the run’s', 'pet-id-unique');

const inWords = (value: string | bigint | undefined) =>
  typeof value === 'string' ? quoted(value) : (value ?? '(none)');

/** Where an answer shows an animal, as in `Violation.at`. */
export function placeOf({ id }: Pick<SeenPet, 'id'>, exchange: AnsweredExchange): string {
  const index = listedPets(exchange)?.findIndex((pet) => pet.id === id) ?? -1;
  return index === -1 ? 'body' : `body/${index}`;
}

/** The fields of an animal that differ between two showings of it, in words. */
export const differences = (created: SeenPet, seen: SeenPet): string[] =>
  changedFields(created, seen).map(
    (field) => `${field} ${inWords(created[field])} became ${inWords(seen[field])}`,
  );

/** What is said of an answer that shows an animal otherwise than it was: the fields, or the animal that lacks one. */
export function otherwise(as: string, known: KnownPet, seen: SeenPet, exchange: AnsweredExchange): Violation {
  const place = placeOf(seen, exchange);
  return {
    expected: `animal ${known.id} as it was ${as}`,
    actual: differences(known, seen).join(', '),
    at: changedFields(known, seen).map((field) => (seen[field] === undefined ? place : `${place}/${field}`)),
  };
}

/** Judges one showing of an animal of the run: only this run knows it, and no operation changes it. */
export function judgeUnchanged(
  judge: Judge,
  { created, changes }: Fates,
  id: bigint,
  seen: SeenPet,
  exchange: AnsweredExchange,
): void {
  const own = created.get(id);
  if (own === undefined) return;
  const change = changes.get(id);
  const isStatus = changedFields(own.pet, seen).every((field) => field === 'status');
  if (changeOf(own.pet, seen) === undefined || (isStatus && change?.isAgreed === true))
    judge.holds(exchange, own.exchange);
  else if (change === undefined)
    judge.breaks(otherwise('created', own.pet, seen, exchange), exchange, own.exchange);
  else
    judge.inconclusive(
      change.isAgreed
        ? 'animals are changed by somebody else: lists and retrievals agree on it'
        : `of animal ${id} ${differences(change.from, change.to).join(', ')}, according only to lists or only to retrievals`,
      ...change.evidence,
    );
}
