/** The lives of animals: no operation changes or removes one, but the target's operator may. */
import { doneOf, type Judge, type Seen } from '../../run/check.ts';
import { notTold } from '../../run/reason.ts';
import { type InTurn, inTurn, type SceneRun, scene } from '../../run/scene.ts';
import { isInt64, quoted, type Violation } from '../../wire/answer.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, readOnce, type SeenPet } from '../../wire/pets.ts';
import { readLast } from '../../wire/read-last.ts';
import { addText, getPet, listPets, type RequestSpec } from '../../wire/requests.ts';
import { add, createdBy, inLetters, type KnownPet, namePrefix } from './additions.ts';
import { allowedQuery, hasRoom, LISTED_WITHIN, LONGEST, limitOf, patiently } from './lists.ts';

/** An animal, and the answer that showed it first: to its addition, where it is the run's. */
interface Showing {
  readonly pet: KnownPet;
  readonly exchange: AnsweredExchange;
}

/** What an answer shows of an animal. */
interface Told {
  /** A list without a filter, one with a status, or a retrieval. */
  readonly by: 'list' | 'filter' | 'get';
  readonly exchange: AnsweredExchange;
  /** Undefined if the list does not hold it, or the retrieval does not find it. */
  readonly pet: SeenPet | undefined;
  /** Whether it should be there: it is the run's, and was added long ago, or found before. */
  readonly isDue: boolean;
}

/** An animal that the run added, or retrieved, and what later answers show of it, in order. */
interface Life extends Showing {
  readonly own: boolean;
  readonly told: readonly Told[];
}

const byId = (pets: readonly SeenPet[]) =>
  new Map(pets.flatMap((pet) => (pet.id === undefined ? [] : [[pet.id, pet] as const])));

/** The id that a retrieval asked for, as written in its path. */
export const idAsked = ({ request }: Exchange): string => request.path.slice('/pets/'.length);

/** The id that a retrieval asked for; undefined for any other request. */
export const idRetrieved = (exchange: Exchange): bigint | undefined =>
  exchange.request.operation === 'getPet' && isInt64(idAsked(exchange))
    ? BigInt(idAsked(exchange))
    : undefined;

/**
 * The animals in a list or a retrieval by their ids, and whether it tells that one is missing which it does not show;
 * undefined for any other answer.
 */
const lookAt = readOnce((exchange) => {
  const { operation, path } = exchange.request;
  const { status } = exchange.outcome;
  if (operation === 'getPet') {
    const pet = status === 200 ? answeredPet(exchange) : undefined;
    // An animal with another id than the requested one is for get-returns-requested-id to judge.
    const pets = byId(pet !== undefined && path === `/pets/${pet.id}` ? [pet] : []);
    const isAbout = (id: bigint) => [404, 410].includes(status) && path === `/pets/${id}`;
    return { by: 'get' as const, pets, isAbout };
  }
  const listed = operation === 'listPets' ? listedPets(exchange) : undefined;
  if (listed === undefined) return undefined;
  const query = allowedQuery(exchange);
  // That the longest list is full of others tells as well that an animal is gone.
  const isLongest = query !== undefined && query.status === undefined && limitOf(query) === LONGEST.limit;
  const isAbout = (_: bigint, status: string | undefined) =>
    isLongest || (hasRoom(exchange) && [undefined, status].includes(query?.status));
  const by: Told['by'] = query?.status === undefined ? 'list' : 'filter';
  return { by, pets: byId(listed), isAbout };
});

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

/** Whether no animal that an answer showed before a moment is shown after it, although others are: the store was lost. */
export function isLost(exchanges: readonly Exchange[], at: number): boolean {
  const answered = exchanges.filter(isAnswered);
  const added = (exchange: AnsweredExchange) =>
    exchange.request.operation === 'createPet' ? (answeredPet(exchange) ?? []) : [];
  const shown = (exchange: AnsweredExchange) => [...(lookAt(exchange)?.pets.values() ?? [])];
  const named = ({ id, name }: SeenPet) => `${id} ${name}`;
  const before = answered.filter(({ receivedAt }) => receivedAt <= at);
  const after = answered.filter(({ receivedAt }) => receivedAt > at);
  const known = new Set(before.flatMap((exchange) => [added(exchange), shown(exchange)].flat().map(named)));
  for (const animal of after.flatMap(added)) known.delete(named(animal));
  const isAnyShown = after.some((exchange) => shown(exchange).length > 0);
  return isAnyShown && !after.some((exchange) => shown(exchange).some((pet) => known.has(named(pet))));
}

/** Whether an answer shows the animal. */
const isShown = ({ pet }: Told): boolean => pet !== undefined;

/** Whether an answer is a retrieval that finds the animal. */
const isFound = ({ by, pet }: Told): boolean => by === 'get' && pet !== undefined;

/** An animal as it was shown last. */
const lastShown = ({ pet, told }: Life): SeenPet => told.findLast(isShown)?.pet ?? pet;

/** The lives of the animals that the run created, and of those that it retrieved. */
function livesIn(exchanges: readonly Exchange[]) {
  const begun = (showing: Showing, own: boolean) => ({ ...showing, own, told: [] as Told[] });
  const brought = broughtIn(exchanges);
  // Which of the animals with such an id is shown is unknown.
  const shared = new Set(brought.flatMap(({ pet, other }) => (other === undefined ? [] : [pet.id])));
  const own = brought.filter(({ pet }) => !shared.has(pet.id));
  const lives = new Map(own.map(({ pet, exchange }) => [pet.id, begun({ pet, exchange }, true)]));
  const ids = new Set([...lives.keys(), ...exchanges.flatMap((exchange) => idRetrieved(exchange) ?? [])]);
  // Large lists are read anew each time: not where no animal is looked for in them.
  for (const exchange of ids.size === 0 ? [] : exchanges.filter(isAnswered)) {
    const look = lookAt(exchange);
    if (look === undefined) continue;
    const { by } = look;
    for (const id of ids) {
      const pet = look.pets.get(id);
      const life = lives.get(id);
      if (life === undefined) {
        if (pet !== undefined && !shared.has(id))
          lives.set(id, begun({ pet: { ...pet, id }, exchange }, false));
        continue;
      }
      // What is not the run's need not be in a list.
      const mayTell = pet !== undefined || by === 'get' || life.own;
      if (!mayTell || (pet === undefined && !look.isAbout(id, lastShown(life).status))) continue;
      const before = life.told.filter((one) => one.exchange.key === exchange.key);
      // What another key may see is open (5, scopes), until it has seen the animal.
      if (pet === undefined && exchange.key !== life.exchange.key && !before.some(isShown)) continue;
      const isLate = exchange.sentAt >= life.exchange.receivedAt + LISTED_WITHIN;
      const wasFound = before.some(isFound);
      const isDue = by === 'get' ? isLate || wasFound : isLate && hasRoom(exchange);
      life.told.push({ by, exchange, pet, isDue: life.own && isDue });
    }
  }
  return { lives, shared };
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

/** What looks wrong, one animal of each kind: first what the run knows best. Of its own another one may be tried. */
function suspicionsIn(lives: ReadonlyMap<bigint, Life>, exchanges: readonly Exchange[]) {
  const suspicions = new Map<string, { life: Life; key: string | null; own: boolean }>();
  // The last one of a kind counts: that a retrieval takes animals away is told by those that were not retrieved.
  const rank = (life: Life) => (life.own ? 2 : 0) + (wasRetrieved(life) ? 1 : 0);
  for (const life of [...lives.values()].sort((a, b) => rank(b) - rank(a))) {
    const { pet, own, told } = life;
    const kindOf = (one: Told) => (one.pet === undefined ? 'missing' : changeOf(pet, one.pet));
    const changed = told.findLast((one) => isShown(one) && kindOf(one) !== undefined);
    // Lists may go on to show an animal of others that is not found by its id.
    for (const one of [changed, own ? undefined : told.findLast(({ by }) => by === 'get'), told.at(-1)]) {
      const what = one && kindOf(one);
      if (what === undefined) continue;
      const key = one?.exchange.key ?? null;
      suspicions.set(own ? what : `${what} with key ${key}`, { life, key, own });
    }
  }
  for (const exchange of exchanges.filter(isAnswered)) {
    const life = lives.get(idRetrieved(exchange) ?? 0n);
    const { key, outcome } = exchange;
    if (life !== undefined && [404, 410].includes(outcome.status) && key !== life.exchange.key)
      suspicions.set(`missing with key ${key}`, { life, key, own: false });
  }
  return suspicions;
}

/** This many retrievals between lists tell a contradiction from a stale copy. */
const TURNS = 2;

/** Whether lists and retrievals since the last answer that showed it agree that an animal is missing. */
function isMissedByBoth({ told }: Life): boolean {
  const since = told.slice(told.findLastIndex(isShown) + 1);
  return since.some(({ by }) => by === 'get') && since.some(({ by }) => by !== 'get');
}

const wasRetrieved = ({ told }: Life) => told.some(isFound);

/** What came of a suspicion: whether an animal like the suspicious one stays as it is. */
interface Confirmation {
  readonly suspicion: string;
  /** Undefined where no animal was added. */
  readonly isKept: boolean | undefined;
}

/** Adds an animal like another one, and looks whether it is served as it was created, and still a moment later. */
async function isKept(run: SceneRun, label: string, { exchange: like }: Life): Promise<boolean | undefined> {
  const prefix = namePrefix(run.facts.id);
  const key = run.keys.find(({ name }) => name === like.key);
  // Names may have to be unique, and what a target does to a name may depend on its length, or on whose it is.
  const request = (again: string) => addText(like.request.body?.replace(prefix, `${prefix}${again}x`));
  const pet = createdBy(await add(run, label, request, { key }));
  if (pet === undefined) return undefined;
  const look = async (): Promise<SeenPet | undefined> => {
    const shownBy = async (spec: RequestSpec) => lookAt(await run.send(spec, { key }))?.pets.get(pet.id);
    return (await shownBy(getPet(pet.id))) ?? shownBy(listPets(LONGEST));
  };
  const seen = await patiently(run, 'an animal that was just added to be served', look, (one) => !!one);
  return seen !== undefined && changeOf(pet, seen) === undefined && (await look()) !== undefined;
}

/** Each is asked about again, and the first of the run's own add an animal each. */
const [MOST_SUSPICIONS, MOST_ADDED] = [8, 4];

/**
 * Requests one animal of each kind of suspicion again, after everything else: lists and retrievals in turn. Where it is
 * the run's, another one like it is tried.
 */
export const askedAgain = scene(
  'asked-again',
  { afterwards: true },
  async (run): Promise<InTurn<Confirmation>> => {
    const { exchanges } = run.trace;
    const suspicions = [...suspicionsIn(livesIn(exchanges).lives, exchanges)];
    if (suspicions.length > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'every animal to be served');
    return inTurn(suspicions.slice(0, MOST_SUSPICIONS).entries(), async ([index, [suspicion, suspect]]) => {
      const { life, own } = suspect;
      const key = run.keys.find(({ name }) => name === suspect.key);
      for (let turn = 0; turn < TURNS; turn += 1) {
        await run.send(listPets(LONGEST), { key });
        await run.send(getPet(life.pet.id), { key });
      }
      await run.send(listPets(LONGEST), { key });
      const isTried = own && index < MOST_ADDED;
      return { suspicion, isKept: isTried ? await isKept(run, `like ${inLetters(index)}`, life) : undefined };
    });
  },
);

/** What became of an animal. */
export interface Fate extends Life {
  /** How it changed, where that does not count against the target. */
  readonly change: ReturnType<typeof changeIn>;
  /** Whether it disappeared in a way that does not count against the target. */
  readonly isGone: boolean;
}

/** Whether one of these states comes back twice: what returns once may come from a stale copy. */
function isBackAndForth(states: readonly string[]): boolean {
  const turns = states.filter((state, index) => state !== states[index - 1]);
  return turns.some((turn) => turns.filter((other) => turn === other).length > 2);
}

/** Whether keys are again and again shown an animal, and do not find it in between. */
const isMissedWhileShown = ({ told }: Life): boolean =>
  isBackAndForth(
    told.flatMap(({ by, pet }) => (pet !== undefined ? ['shown'] : by === 'get' ? ['missed'] : [])),
  );

/**
 * A change by itself; undefined where it counts against the target. Transitions are "not shown" (section 3): somebody
 * may sell or approve an animal, or edit it. It counts where list and retrieval contradict each other, or where an animal
 * like it is not even for a moment as it was created: then what was answered was never stored.
 */
function changeIn(life: Life, asked: (what: string) => Confirmation | undefined) {
  const { pet: from, exchange, told, own } = life;
  const to = lastShown(life);
  const change = changeOf(from, to);
  const isKept = change === undefined ? undefined : asked(change)?.isKept;
  const states = [from, ...told.flatMap(({ pet }) => pet ?? [])].map((pet) =>
    FIELDS.map((field) => pet[field]).join(),
  );
  if (isBackAndForth(states) || (own && (change === undefined || isKept === false))) return undefined;
  const last = told.filter(({ pet }) => pet !== undefined && changeOf(pet, to) === undefined).slice(0, 2);
  return {
    to,
    /** Whether somebody changed it for certain: an animal like it stays as it is. */
    isTheirs: isKept === true,
    evidence: [...last.map((one) => one.exchange), exchange],
  };
}

/**
 * Animals that are missing in the end: somebody may clean up, or a restart may lose the store. It counts against the
 * target if list and retrieval contradict each other, or if an animal that is added like them goes as well, unless one
 * was seen to be removed.
 */
function goneAnimals(lives: readonly Life[], asked: Confirmation | undefined): readonly Life[] {
  const missing = lives.filter(({ own, told }) => own && told.length > 0 && told.at(-1)?.pet === undefined);
  // Once the retrieval is removed, lists alone tell: they have shown the animal, and no longer do.
  const isRetrievable = lives.some((life) => life.own && wasRetrieved(life));
  const wasShown = ({ told }: Life) => told.some(isShown);
  const isTold = (life: Life) => isMissedByBoth(life) || (!isRetrievable && wasShown(life));
  // Without a retrieval that could have taken it away: somebody removed it.
  const wasRemoved = (life: Life) => isMissedByBoth(life) && !wasRetrieved(life) && wasShown(life);
  const isExcused =
    asked === undefined || missing.some(wasRemoved) || (asked.isKept !== false && missing.some(isTold));
  return isExcused ? missing : [];
}

/**
 * What became of the animals of a run, by id; and the ids that two of its animals got, or that an older one had. Whoever
 * asks does so when everything is played.
 */
export const fatesOf = readLast((seen: Seen) => {
  const { lives, shared } = livesIn(seen.trace.exchanges);
  const confirmations = doneOf(seen.maybe(askedAgain) ?? []);
  const asked = (what: string) => confirmations.find((one) => one.suspicion === what);
  const gone = goneAnimals([...lives.values()], asked('missing'));
  const fates = new Map<bigint, Fate>();
  for (const [id, life] of lives)
    fates.set(id, { ...life, change: changeIn(life, asked), isGone: gone.includes(life) });
  return { fates, shared };
});

/** One reason for all of them. */
const GONE = 'animals that existed have disappeared from lists and retrievals: something is removing animals';

export const SHARED = notTold('other animals have the same ids as the run’s', 'pet-id-unique');

/** Says that an animal is missing, unless something removes animals. */
export function judgeMissing(
  judge: Judge,
  { isGone }: Fate,
  violation: Violation,
  ...evidence: readonly Exchange[]
): void {
  if (isGone) judge.inconclusive(GONE, ...evidence);
  else judge.breaks(violation, ...evidence);
}

/**
 * Judges the lists, or the retrievals, that do not show an animal which should be there.
 *
 * @param violation what is wrong with such an answer; undefined where another row judges it
 */
export function judgeMisses(
  judge: Judge,
  seen: Seen,
  kind: Told['by'],
  violation: (fate: Fate, exchange: AnsweredExchange) => Violation | undefined,
): void {
  for (const fate of fatesOf(seen).fates.values())
    for (const { by, exchange, pet, isDue } of fate.told) {
      if (by !== kind || pet !== undefined || !(isDue || (!fate.own && isMissedWhileShown(fate)))) continue;
      const wrong = violation(fate, exchange);
      if (wrong !== undefined) judgeMissing(judge, fate, wrong, exchange, fate.exchange);
    }
}

const inWords = (value: string | bigint | undefined) =>
  typeof value === 'string' ? quoted(value) : (value ?? '(none)');

/** Where an answer shows an animal, as in `Violation.at`. */
export function placeOf({ id }: Pick<SeenPet, 'id'>, exchange: AnsweredExchange): string {
  const index = listedPets(exchange)?.findIndex((pet) => pet.id === id) ?? -1;
  return index === -1 ? 'body' : `body/${index}`;
}

/** How two showings of an animal differ, in words. */
const differences = (before: SeenPet, after: SeenPet): string =>
  changedFields(before, after)
    .map((field) => `${field} ${inWords(before[field])} became ${inWords(after[field])}`)
    .join(', ');

/** Judges the lists, or the retrievals, that show an animal: no operation changes one. */
export function judgeUnchanged(judge: Judge, seen: Seen, ...kinds: readonly Told['by'][]): void {
  for (const { pet: known, own, told, change, exchange: shownBy } of fatesOf(seen).fates.values())
    for (const { by, exchange, pet } of told) {
      if (!kinds.includes(by) || pet === undefined) continue;
      const fields = changedFields(known, pet);
      const isStatus = fields.every((field) => field === 'status');
      if (fields.length === 0 || (isStatus && change?.isTheirs === true)) judge.holds(exchange, shownBy);
      else if (change === undefined) {
        const place = placeOf(pet, exchange);
        const at = fields.map((field) => (pet[field] === undefined ? place : `${place}/${field}`));
        const expected = `animal ${known.id} as it was ${own ? 'created' : 'listed'}`;
        judge.breaks({ expected, actual: differences(known, pet), at }, exchange, shownBy);
      }
      // Who changes the animals of others is nobody's business.
      else if (own)
        judge.inconclusive(
          change.isTheirs
            ? 'animals are changed by somebody else: one that was added like them stays as it is'
            : `of animal ${pet.id} ${differences(known, change.to)}, perhaps by somebody else`,
          ...change.evidence,
        );
    }
}
